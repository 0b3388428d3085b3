// Requests and texts of statements about tables.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/sql/table_statement.h"

namespace armature::cli {
namespace {

constexpr size_t kKeyLineMax = 100;

// Types of attributes by name.
class AttributeTypes {
 public:
  // Takes the type of the part, if it has one. Errors: SqlError if it has had another one.
  absl::Status Declare(const KeyPart& part) {
    if (part.type == 0) return absl::OkStatus();
    const auto [found, is_new] = types_.try_emplace(part.attribute, part.type);
    if (is_new || found->second == part.type) return absl::OkStatus();
    return SqlError(Cat("the type of ", part.attribute, " is ", std::string(1, found->second), " before"), part.place);
  }

  // Notes that the part is in a key. Errors: SqlError if its type is not known.
  absl::Status Use(const KeyPart& part) {
    ARM_RETURN_IF_ERROR(Declare(part));
    if (!types_.contains(part.attribute)) {
      return SqlError(
          Cat("the type of ", part.attribute, " is not known: write ", QuotedName(part.attribute), " S, or N, or B"),
          part.place);
    }
    used_.insert(part.attribute);
    return absl::OkStatus();
  }

  bool IsUsed(const std::string& attribute) const { return used_.contains(attribute); }

  void Fill(google::protobuf::RepeatedPtrField<api::v1::AttributeDefinition>* to) const {
    for (const std::string& name : used_) {
      api::v1::AttributeDefinition& definition = *to->Add();
      definition.set_attribute_name(name);
      const char type = types_.at(name);
      definition.set_attribute_type(type == 'S'   ? api::v1::SCALAR_ATTRIBUTE_TYPE_S
                                    : type == 'N' ? api::v1::SCALAR_ATTRIBUTE_TYPE_N
                                                  : api::v1::SCALAR_ATTRIBUTE_TYPE_B);
    }
  }

 private:
  std::map<std::string, char> types_;
  std::set<std::string> used_;
};

using SchemaElements = google::protobuf::RepeatedPtrField<api::v1::KeySchemaElement>;

void AddKeyElement(const std::string& attribute, api::v1::KeyType type, SchemaElements* to) {
  api::v1::KeySchemaElement& element = *to->Add();
  element.set_attribute_name(attribute);
  element.set_key_type(type);
}

// Key and projection of any message about an index.
template <class Index>
absl::Status FillIndexMessage(const IndexDefinition& from, AttributeTypes* types, Index* to) {
  to->set_index_name(from.name);
  for (const KeyPart& part : from.partition) {
    ARM_RETURN_IF_ERROR(types->Use(part));
    AddKeyElement(part.attribute, api::v1::KEY_TYPE_HASH, to->mutable_key_schema());
  }
  for (const KeyPart& part : from.sort) {
    ARM_RETURN_IF_ERROR(types->Use(part));
    AddKeyElement(part.attribute, api::v1::KEY_TYPE_RANGE, to->mutable_key_schema());
  }
  to->mutable_projection()->set_projection_type(from.projection);
  for (const std::string& name : from.projected) to->mutable_projection()->add_non_key_attributes(name);
  return absl::OkStatus();
}

void FillCapacity(const TableCapacity& from, api::v1::ProvisionedThroughput* to) {
  to->set_read_capacity_units(from.reads);
  to->set_write_capacity_units(from.writes);
}

// A local index has the partition attribute of its table, which may be left out.
absl::StatusOr<IndexDefinition> WithTablePartition(const IndexDefinition& index, const KeyPart& partition) {
  IndexDefinition made = index;
  if (made.sort.empty()) std::swap(made.sort, made.partition);
  if (made.partition.empty()) made.partition = {partition};
  if (made.partition.size() != 1 || made.partition[0].attribute != partition.attribute || made.sort.size() != 1) {
    return SqlError(
        Cat("the key of a local index is the partition attribute ", partition.attribute, " and one sort attribute"),
        index.place);
  }
  return made;
}

template <class Schema>
std::string KeyTextOf(const Schema& schema) {
  std::string partition;
  std::string sort;
  for (const api::v1::KeySchemaElement& element : schema) {
    std::string& to = element.key_type() == api::v1::KEY_TYPE_HASH ? partition : sort;
    to += Cat(to.empty() ? "" : ", ", QuotedName(element.attribute_name()));
  }
  return Cat("(", partition, sort.empty() ? "" : " | ", sort, ")");
}

template <class Index>
std::string IndexTextOf(std::string_view kind, const Index& index) {
  std::string text =
      Cat(kind, " INDEX ", QuotedName(index.index_name()), " ", KeyTextOf(index.key_schema()), " PROJECT ");
  if (index.projection().projection_type() == api::v1::PROJECTION_TYPE_ALL) return text + "ALL";
  if (index.projection().projection_type() == api::v1::PROJECTION_TYPE_KEYS_ONLY) return text + "KEYS";
  std::string names;
  for (const std::string& name : index.projection().non_key_attributes()) {
    names += Cat(names.empty() ? "" : ", ", QuotedName(name));
  }
  return Cat(text, "(", names, ")");
}

bool IsProvisioned(const api::v1::TableDescription& table) {
  return table.billing_mode_summary().billing_mode() != api::v1::BILLING_MODE_PAY_PER_REQUEST &&
         table.provisioned_throughput().read_capacity_units() > 0;
}

std::string CapacityText(const api::v1::ProvisionedThroughputDescription& throughput) {
  return Cat("(", throughput.read_capacity_units(), ", ", throughput.write_capacity_units(), ")");
}

std::string SettingsText(const api::v1::TableDescription& table, const std::string& ttl) {
  std::string text;
  const auto add = [&text](std::string_view setting) { text += Cat(text.empty() ? "" : ", ", setting); };
  if (table.has_stream_specification()) {
    add(Cat("stream = ", StreamWord(table.stream_specification().stream_view_type())));
  }
  if (!ttl.empty()) add(Cat("ttl = ", QuotedName(ttl)));
  if (IsProvisioned(table)) add(Cat("capacity = ", CapacityText(table.provisioned_throughput())));
  if (table.deletion_protection_enabled()) add("protected = TRUE");
  if (table.table_class_summary().table_class() == api::v1::TABLE_CLASS_STANDARD_INFREQUENT_ACCESS) {
    add("class = INFREQUENT_ACCESS");
  }
  return text;
}

}  // namespace

std::string_view ScalarWord(api::v1::ScalarAttributeType type) {
  return type == api::v1::SCALAR_ATTRIBUTE_TYPE_N ? "N" : type == api::v1::SCALAR_ATTRIBUTE_TYPE_B ? "B" : "S";
}

absl::StatusOr<api::v1::CreateTableRequest> CreateRequestOf(const TableStatement& statement) {
  api::v1::CreateTableRequest request;
  request.set_table_name(statement.table);
  AttributeTypes types;
  for (const KeyPart& part : statement.attributes) ARM_RETURN_IF_ERROR(types.Declare(part));
  for (size_t i = 0; i < statement.key.size(); ++i) {
    ARM_RETURN_IF_ERROR(types.Use(statement.key[i]));
    AddKeyElement(statement.key[i].attribute, i == 0 ? api::v1::KEY_TYPE_HASH : api::v1::KEY_TYPE_RANGE,
                  request.mutable_key_schema());
  }
  const TableSettingsGiven& settings = statement.settings;
  const bool is_provisioned = settings.billing == api::v1::BILLING_MODE_PROVISIONED;
  for (const IndexDefinition& index : statement.indexes) {
    if (index.is_local) {
      ARM_ASSIGN_OR_RETURN(const IndexDefinition whole, WithTablePartition(index, statement.key[0]));
      ARM_RETURN_IF_ERROR(FillIndexMessage(whole, &types, request.add_local_secondary_indexes()));
      continue;
    }
    api::v1::GlobalSecondaryIndex& global = *request.add_global_secondary_indexes();
    ARM_RETURN_IF_ERROR(FillIndexMessage(index, &types, &global));
    if (index.capacity.has_value() && !is_provisioned) {
      return SqlError(Cat("the index ", index.name, " has a capacity, and its table has none"), index.place);
    }
    if (is_provisioned) {
      FillCapacity(index.capacity.value_or(settings.capacity), global.mutable_provisioned_throughput());
    }
  }
  for (const KeyPart& part : statement.attributes) {
    if (types.IsUsed(part.attribute)) continue;
    return SqlError(Cat(part.attribute, " is in no key. Only attributes of keys are declared; items have any others"),
                    part.place);
  }
  types.Fill(request.mutable_attribute_definitions());
  request.set_billing_mode(settings.billing.value_or(api::v1::BILLING_MODE_PAY_PER_REQUEST));
  if (is_provisioned) FillCapacity(settings.capacity, request.mutable_provisioned_throughput());
  if (settings.stream.has_value() && *settings.stream != api::v1::STREAM_VIEW_TYPE_UNSPECIFIED) {
    request.mutable_stream_specification()->set_stream_enabled(true);
    request.mutable_stream_specification()->set_stream_view_type(*settings.stream);
  }
  if (settings.is_protected.has_value()) request.set_deletion_protection_enabled(*settings.is_protected);
  if (settings.table_class.has_value()) request.set_table_class(*settings.table_class);
  return request;
}

absl::StatusOr<api::v1::UpdateTableRequest> AddIndexRequestOf(const TableStatement& statement,
                                                              const api::v1::TableDescription& table) {
  api::v1::UpdateTableRequest request;
  request.set_table_name(statement.table);
  AttributeTypes types;
  for (const auto& definition : table.attribute_definitions()) {
    KeyPart part;
    part.attribute = definition.attribute_name();
    part.type = ScalarWord(definition.attribute_type())[0];
    ARM_RETURN_IF_ERROR(types.Use(part));
  }
  const IndexDefinition& index = statement.indexes.at(0);
  auto& create = *request.add_global_secondary_index_updates()->mutable_create();
  ARM_RETURN_IF_ERROR(FillIndexMessage(index, &types, &create));
  if (IsProvisioned(table)) {
    const TableCapacity own{table.provisioned_throughput().read_capacity_units(),
                            table.provisioned_throughput().write_capacity_units()};
    FillCapacity(index.capacity.value_or(own), create.mutable_provisioned_throughput());
  } else if (index.capacity.has_value()) {
    return SqlError(Cat("the table ", statement.table, " has no capacity, so its index has none"), index.place);
  }
  types.Fill(request.mutable_attribute_definitions());
  return request;
}

std::string CreateTextOf(const api::v1::TableDescription& table, const std::string& ttl) {
  std::string definitions;
  for (const auto& definition : table.attribute_definitions()) {
    definitions += Cat(QuotedName(definition.attribute_name()), " ", ScalarWord(definition.attribute_type()), ", ");
  }
  std::string key;
  for (const auto& element : table.key_schema()) {
    key += Cat(key.empty() ? "" : ", ", QuotedName(element.attribute_name()));
  }
  const std::string_view separator = definitions.size() + key.size() > kKeyLineMax ? "\n  " : "";
  std::string text =
      Cat("CREATE TABLE ", QuotedName(table.table_name()), " (", definitions, separator, "PRIMARY KEY (", key, "))");
  for (const auto& index : table.local_secondary_indexes()) text += Cat(",\n  ", IndexTextOf("LOCAL", index));
  for (const auto& index : table.global_secondary_indexes()) {
    text += Cat(",\n  ", IndexTextOf("GLOBAL", index));
    if (IsProvisioned(table)) text += Cat(" CAPACITY ", CapacityText(index.provisioned_throughput()));
  }
  const std::string settings = SettingsText(table, ttl);
  if (!settings.empty()) text += Cat("\n  WITH (", settings, ")");
  return text + ";";
}

}  // namespace armature::cli
