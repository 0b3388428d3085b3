#include "tools/armature/sql/database_names.h"

#include <algorithm>
#include <set>

#include "absl/time/clock.h"

namespace armature::cli {
namespace {

constexpr absl::Duration kRemembered = absl::Seconds(10);
constexpr size_t kTablesMax = 1000;
constexpr int kItemsRead = 20;

}  // namespace

client::CallOptions DatabaseNames::Quick() const {
  return {.timeout = std::max(give_up_ - absl::Now(), absl::Milliseconds(1))};
}

std::vector<std::string> DatabaseNames::Remember(char kind, const std::string& table,
                                                 Names (DatabaseNames::*ask)(const std::string& table) const) {
  Known& known = known_[{kind, table}];
  if (absl::Now() < known.until) return known.names;
  give_up_ = absl::Now() + patience_;
  known.names = (this->*ask)(table);
  known.until = absl::Now() + kRemembered;
  return known.names;
}

std::vector<std::string> DatabaseNames::Tables() { return Remember('t', "", &DatabaseNames::AskTables); }
std::vector<std::string> DatabaseNames::Indexes(const std::string& table) {
  return Remember('i', table, &DatabaseNames::AskIndexes);
}
std::vector<std::string> DatabaseNames::Attributes(const std::string& table) {
  return Remember('a', table, &DatabaseNames::AskAttributes);
}

std::vector<std::string> DatabaseNames::AskTables(const std::string& /*table*/) const {
  Names names;
  api::v1::ListTablesRequest request;
  while (names.size() < kTablesMax) {
    const auto page = client_.ListTables(request, Quick());
    if (!page.ok()) break;
    names.insert(names.end(), page->table_names().begin(), page->table_names().end());
    if (!page->has_last_evaluated_table_name()) break;
    request.set_exclusive_start_table_name(page->last_evaluated_table_name());
  }
  return names;
}

std::vector<std::string> DatabaseNames::AskIndexes(const std::string& table) const {
  Names names;
  api::v1::DescribeTableRequest request;
  request.set_table_name(table);
  const auto described = client_.DescribeTable(request, Quick());
  if (!described.ok()) return names;
  for (const auto& index : described->table().local_secondary_indexes()) names.push_back(index.index_name());
  for (const auto& index : described->table().global_secondary_indexes()) names.push_back(index.index_name());
  return names;
}

std::vector<std::string> DatabaseNames::AskAttributes(const std::string& table) const {
  std::set<std::string> names;
  api::v1::DescribeTableRequest describe;
  describe.set_table_name(table);
  if (const auto described = client_.DescribeTable(describe, Quick()); described.ok()) {
    for (const auto& attribute : described->table().attribute_definitions()) names.insert(attribute.attribute_name());
  }
  api::v1::ScanRequest scan;
  scan.set_table_name(table);
  scan.set_limit(kItemsRead);
  if (const auto page = client_.Scan(scan, Quick()); page.ok()) {
    for (const api::v1::Item& item : page->items()) {
      for (const auto& [name, value] : item.attributes()) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace armature::cli
