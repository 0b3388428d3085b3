#include "tools/armature/schema/table_difference.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/strings.h"
#include "tools/armature/export/manifest.h"
#include "tools/armature/json_text.h"
#include "tools/armature/message_json.h"

namespace armature::cli {
namespace {

using api::v1::CreateTableRequest;

template <class Messages, class NameOf>
void SortBy(Messages* messages, const NameOf& name_of) {
  std::sort(messages->begin(), messages->end(), [&](const auto& a, const auto& b) { return name_of(a) < name_of(b); });
}

template <class Index>
void NormalizeIndex(Index* index) {
  auto* const names = index->mutable_projection()->mutable_non_key_attributes();
  std::sort(names->begin(), names->end());
}

// A maximum that is not set may be -1 in a request.
template <class Message>
void NormalizeMaxima(Message* message) {
  if (!message->has_on_demand_throughput()) return;
  auto* const maxima = message->mutable_on_demand_throughput();
  if (maxima->max_read_request_units() < 0) maxima->clear_max_read_request_units();
  if (maxima->max_write_request_units() < 0) maxima->clear_max_write_request_units();
  if (maxima->ByteSizeLong() == 0) message->clear_on_demand_throughput();
}

// Equal tables have equal normal forms.
CreateTableRequest Normal(CreateTableRequest table) {
  table.clear_tags();
  table.clear_resource_policy();
  table.clear_warm_throughput();
  if (table.billing_mode() == api::v1::BILLING_MODE_UNSPECIFIED) {
    table.set_billing_mode(api::v1::BILLING_MODE_PROVISIONED);
  }
  SortBy(table.mutable_attribute_definitions(), [](const auto& one) { return one.attribute_name(); });
  SortBy(table.mutable_local_secondary_indexes(), [](const auto& one) { return one.index_name(); });
  SortBy(table.mutable_global_secondary_indexes(), [](const auto& one) { return one.index_name(); });
  for (auto& index : *table.mutable_local_secondary_indexes()) NormalizeIndex(&index);
  for (auto& index : *table.mutable_global_secondary_indexes()) {
    NormalizeIndex(&index);
    NormalizeMaxima(&index);
    index.clear_warm_throughput();
  }
  NormalizeMaxima(&table);
  if (!table.stream_specification().stream_enabled()) table.clear_stream_specification();
  if (!table.deletion_protection_enabled()) table.clear_deletion_protection_enabled();
  if (table.table_class() == api::v1::TABLE_CLASS_STANDARD) table.clear_table_class();
  const bool is_encrypted = table.sse_specification().enabled();
  table.clear_sse_specification();
  if (is_encrypted) table.mutable_sse_specification()->set_enabled(true);
  return table;
}

std::string Difference(const std::string& path, const Json* wanted, const Json* present,
                       const DefinitionPlaces& places) {
  const auto show = [](const Json* json) { return json == nullptr ? std::string("absent") : CompactJson(*json); };
  return Cat(path, " is ", show(wanted), " in ", places.wanted, " and ", show(present), " in ", places.present);
}

// The member of an object; null for an absent one.
const Json* Find(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string FirstDifference(const std::string& path, const Json& wanted, const Json& present,
                            const DefinitionPlaces& places);

std::string ListDifference(const std::string& path, const Json& wanted, const Json& present,
                           const DefinitionPlaces& places) {
  for (size_t i = 0; i < std::max(wanted.size(), present.size()); ++i) {
    const Json* const one = i < wanted.size() ? &wanted[i] : nullptr;
    const Json* const other = i < present.size() ? &present[i] : nullptr;
    const std::string here = Cat(path, "[", i, "]");
    if (one == nullptr || other == nullptr) return Difference(here, one, other, places);
    if (std::string found = FirstDifference(here, *one, *other, places); !found.empty()) return found;
  }
  return "";
}

// Recursion: as deep as a request, which has four levels.
std::string FirstDifference(const std::string& path, const Json& wanted, const Json& present,
                            const DefinitionPlaces& places) {
  if (wanted.is_array() && present.is_array()) return ListDifference(path, wanted, present, places);
  if (!wanted.is_object() || !present.is_object()) {
    return wanted == present ? "" : Difference(path, &wanted, &present, places);
  }
  std::vector<std::string> names;
  for (const Json* const json : {&wanted, &present}) {
    for (const auto& [name, value] : json->items()) names.push_back(name);
  }
  for (const std::string& name : names) {
    const Json* const one = Find(wanted, name);
    const Json* const other = Find(present, name);
    const std::string here = path.empty() ? name : Cat(path, ".", name);
    if (one == nullptr || other == nullptr) return Difference(here, one, other, places);
    if (std::string found = FirstDifference(here, *one, *other, places); !found.empty()) return found;
  }
  return "";
}

}  // namespace

std::vector<std::string> DefinitionDifferences(CreateTableRequest wanted, CreateTableRequest present,
                                               const DefinitionPlaces& places) {
  present.set_table_name(wanted.table_name());
  const Json one = MessageToJson(Normal(std::move(wanted)));
  const Json other = MessageToJson(Normal(std::move(present)));
  Json members = one;
  members.update(other);
  std::vector<std::string> differences;
  for (const auto& [name, value] : members.items()) {
    const Json* const in_one = Find(one, name);
    const Json* const in_other = Find(other, name);
    std::string found = in_one == nullptr || in_other == nullptr ? Difference(name, in_one, in_other, places)
                                                                 : FirstDifference(name, *in_one, *in_other, places);
    if (!found.empty()) differences.push_back(std::move(found));
  }
  return differences;
}

std::string DifferenceOf(const CreateTableRequest& wanted, const api::v1::TableDescription& present) {
  CreateTableRequest made = DefinitionOf(present);
  if (present.has_sse_description()) made.mutable_sse_specification()->set_enabled(true);
  if (!wanted.stream_specification().has_shard_count()) made.mutable_stream_specification()->clear_shard_count();
  // A table may be named by its ARN.
  made.set_table_name(wanted.table_name());
  return FirstDifference("", MessageToJson(Normal(wanted)), MessageToJson(Normal(std::move(made))), {});
}

}  // namespace armature::cli
