#include "tools/armature/tables/table_screen.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "storage/base/strings.h"
#include "tools/armature/display.h"

namespace armature::cli {
namespace {

using KeySchema = google::protobuf::RepeatedPtrField<api::v1::KeySchemaElement>;

// "ACTIVE" of TABLE_STATUS_ACTIVE, and so on.
std::string WithoutPrefix(const std::string& name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::string TypeOf(const api::v1::TableDescription& table, const std::string& attribute) {
  for (const api::v1::AttributeDefinition& each : table.attribute_definitions()) {
    if (each.attribute_name() != attribute) continue;
    return WithoutPrefix(api::v1::ScalarAttributeType_Name(each.attribute_type()), "SCALAR_ATTRIBUTE_TYPE_");
  }
  return "?";
}

std::string Joined(const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += Cat(text.empty() ? "" : ", ", name);
  return text;
}

std::string ProjectionText(const api::v1::Projection& projection) {
  if (projection.projection_type() == api::v1::PROJECTION_TYPE_ALL) return "all";
  const bool has_names = projection.non_key_attributes_size() > 0;
  return has_names ? Cat("keys, ", Joined(projection.non_key_attributes())) : "keys";
}

std::string UnitsText(const api::v1::ProvisionedThroughputDescription& units) {
  return Cat(WithCommas(units.read_capacity_units()), " read and ", WithCommas(units.write_capacity_units()),
             " write units per second");
}

bool IsOnDemand(const api::v1::TableDescription& table) {
  return table.billing_mode_summary().billing_mode() == api::v1::BILLING_MODE_PAY_PER_REQUEST;
}

std::string BillingText(const api::v1::TableDescription& table) {
  return IsOnDemand(table) ? "on demand" : Cat("provisioned, ", UnitsText(table.provisioned_throughput()));
}

std::string StreamText(const api::v1::TableDescription& table) {
  if (!table.stream_specification().stream_enabled()) return "";
  return WithoutPrefix(api::v1::StreamViewType_Name(table.stream_specification().stream_view_type()),
                       "STREAM_VIEW_TYPE_");
}

std::string StatusText(const api::v1::TableDescription& table) {
  return WithoutPrefix(api::v1::TableStatus_Name(table.table_status()), "TABLE_STATUS_");
}

std::string SizeText(int64_t bytes) { return ShowBytes(static_cast<uint64_t>(std::max<int64_t>(bytes, 0))); }

std::string ItemsText(int64_t items) { return Cat(WithCommas(items), items == 1 ? " item" : " items"); }

std::string IndexesTable(const api::v1::TableDescription& table) {
  if (table.global_secondary_indexes().empty() && table.local_secondary_indexes().empty()) return "";
  TextTable rows({"INDEX", "KIND", "PARTITION", "SORT", "PROJECTION", "STATUS", "ITEMS", "SIZE"});
  const auto add = [&](const auto& index, const char* kind, std::string status) {
    rows.AddRow({index.index_name(), kind, KeySideText(table, index.key_schema(), api::v1::KEY_TYPE_HASH),
                 KeySideText(table, index.key_schema(), api::v1::KEY_TYPE_RANGE), ProjectionText(index.projection()),
                 std::move(status), WithCommas(index.item_count()), SizeText(index.index_size_bytes())});
  };
  for (const auto& index : table.local_secondary_indexes()) add(index, "local", StatusText(table));
  for (const auto& index : table.global_secondary_indexes()) {
    add(index, "global", WithoutPrefix(api::v1::IndexStatus_Name(index.index_status()), "INDEX_STATUS_"));
  }
  return Cat("\n", rows.ToString());
}

}  // namespace

std::string KeySideText(const api::v1::TableDescription& table, const KeySchema& key, api::v1::KeyType type) {
  std::string text;
  for (const api::v1::KeySchemaElement& element : key) {
    if (element.key_type() != type) continue;
    text += Cat(text.empty() ? "" : ", ", element.attribute_name(), " ", TypeOf(table, element.attribute_name()));
  }
  return text;
}

std::string KeyText(const api::v1::TableDescription& table, const KeySchema& key) {
  const std::string sort = KeySideText(table, key, api::v1::KEY_TYPE_RANGE);
  return Cat(KeySideText(table, key, api::v1::KEY_TYPE_HASH), sort.empty() ? "" : " | ", sort);
}

std::string TableScreen(const ShownTable& table) {
  const api::v1::TableDescription& shown = table.description;
  const std::string stream = StreamText(shown);
  std::string text = Cat(shown.table_name(), "  ", StatusText(shown), "  ", ItemsText(shown.item_count()), "  ",
                         SizeText(shown.table_size_bytes()), "\n");
  text += Cat("  key      ", KeyText(shown, shown.key_schema()), "\n");
  text += Cat("  billing  ", BillingText(shown), "\n");
  text += Cat("  stream   ", stream.empty() ? "off" : stream, "\n");
  text += Cat("  expiry   ", table.expiry_attribute.empty() ? "off" : Cat("by ", table.expiry_attribute), "\n");
  if (shown.deletion_protection_enabled()) text += "  protect  cannot be deleted\n";
  if (shown.creation_date_time_ms() > 0) text += Cat("  created  ", ShowTime(shown.creation_date_time_ms()), "\n");
  if (!shown.table_arn().empty()) text += Cat("  arn      ", shown.table_arn(), "\n");
  return text + IndexesTable(shown);
}

std::string TableList(const std::vector<ShownTable>& tables, bool is_long) {
  std::vector<std::string> header = {"TABLE", "KEY", "ITEMS", "SIZE", "INDEXES", "STATUS"};
  if (is_long) header.insert(header.end(), {"BILLING", "STREAM", "EXPIRY", "CREATED"});
  TextTable rows(std::move(header));
  for (const ShownTable& table : tables) {
    const api::v1::TableDescription& shown = table.description;
    std::vector<std::string> names;
    for (const auto& index : shown.local_secondary_indexes()) names.push_back(index.index_name());
    for (const auto& index : shown.global_secondary_indexes()) names.push_back(index.index_name());
    std::string indexes = names.empty() ? "" : std::to_string(names.size());
    if (is_long) {
      indexes.clear();
      for (const std::string& name : names) indexes += Cat(indexes.empty() ? "" : ", ", name);
    }
    std::vector<std::string> cells = {shown.table_name(),
                                      KeyText(shown, shown.key_schema()),
                                      WithCommas(shown.item_count()),
                                      SizeText(shown.table_size_bytes()),
                                      indexes,
                                      StatusText(shown)};
    if (is_long) {
      cells.insert(cells.end(), {BillingText(shown), StreamText(shown), table.expiry_attribute,
                                 ShowTime(shown.creation_date_time_ms())});
    }
    rows.AddRow(std::move(cells));
  }
  return rows.ToString();
}

}  // namespace armature::cli
