#include "tests/crash/table_checker.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/time/clock.h"
#include "armature/client/wait.h"
#include "tests/support/daemon_test.h"

namespace armature::test {
namespace {

using client::Item;

constexpr absl::Duration kCatchUpMax = absl::Seconds(30);
constexpr int64_t kRowOverheadBytes = 100;  // documented overhead in table and index sizes

using Names = std::vector<std::string>;
using Schema = google::protobuf::RepeatedPtrField<api::v1::KeySchemaElement>;

struct Keyspace {
  std::string index_name;  // empty: the table
  Names keys;
  std::optional<std::set<std::string>> projected;  // nullopt: all attributes
  int64_t item_count = 0;
  int64_t size_bytes = 0;
};

Names NamesOf(const Schema& schema) {
  Names names;
  for (const auto& element : schema) names.push_back(element.attribute_name());
  return names;
}

template <class IndexDescription>
Keyspace OfIndex(const IndexDescription& index, const Names& table_keys) {
  Keyspace keyspace{index.index_name(), NamesOf(index.key_schema()), std::nullopt, index.item_count(),
                    index.index_size_bytes()};
  if (index.projection().projection_type() == api::v1::PROJECTION_TYPE_KEYS_ONLY) {
    keyspace.projected.emplace(table_keys.begin(), table_keys.end());
    keyspace.projected->insert(keyspace.keys.begin(), keyspace.keys.end());
  }
  return keyspace;
}

std::vector<Keyspace> KeyspacesOf(const api::v1::TableDescription& table) {
  const Names table_keys = NamesOf(table.key_schema());
  std::vector<Keyspace> keyspaces = {{"", table_keys, std::nullopt, table.item_count(), table.table_size_bytes()}};
  for (const auto& index : table.local_secondary_indexes()) keyspaces.push_back(OfIndex(index, table_keys));
  for (const auto& index : table.global_secondary_indexes()) keyspaces.push_back(OfIndex(index, table_keys));
  return keyspaces;
}

int64_t NumberSize(std::string digits) {
  while (digits.ends_with('0')) digits.pop_back();
  return 1 + static_cast<int64_t>(digits.size() + 1) / 2;
}

int64_t SizeOf(const Item& item) {
  int64_t size = kRowOverheadBytes;
  for (const auto& [name, value] : item.attributes()) {
    size += static_cast<int64_t>(name.size());
    size += value.has_n() ? NumberSize(value.n()) : static_cast<int64_t>(value.s().size());
  }
  return size;
}

std::optional<Item> EntryOf(const Keyspace& keyspace, const Item& item) {
  for (const std::string& name : keyspace.keys) {
    if (!item.attributes().contains(name)) return std::nullopt;
  }
  if (!keyspace.projected.has_value()) return item;
  Item entry;
  for (const auto& [name, value] : item.attributes()) {
    if (keyspace.projected->contains(name)) (*entry.mutable_attributes())[name] = value;
  }
  return entry;
}

std::vector<std::string> SortedJson(const std::vector<Item>& items) {
  std::vector<std::string> texts;
  for (const Item& item : items) texts.push_back(ToJson(item));
  std::sort(texts.begin(), texts.end());
  return texts;
}

void Report(const std::string& what, const std::vector<std::string>& from, const std::vector<std::string>& missing_in,
            std::vector<std::string>* found) {
  std::vector<std::string> differences;
  std::set_difference(from.begin(), from.end(), missing_in.begin(), missing_in.end(), std::back_inserter(differences));
  for (const std::string& difference : differences) found->push_back(what + difference);
}

void CompareKeyspace(const Keyspace& keyspace, const std::vector<Item>& base, const std::vector<Item>& entries,
                     std::vector<std::string>* found) {
  std::vector<Item> wanted;
  int64_t bytes = 0;
  for (const Item& item : base) {
    std::optional<Item> entry = EntryOf(keyspace, item);
    if (!entry.has_value()) continue;
    bytes += SizeOf(*entry);
    wanted.push_back(*std::move(entry));
  }
  const std::string name = keyspace.index_name.empty() ? "the table" : keyspace.index_name;
  Report("not in " + name + ": ", SortedJson(wanted), SortedJson(entries), found);
  Report("without base item, in " + name + ": ", SortedJson(entries), SortedJson(wanted), found);
  const auto compare = [&](const std::string& what, int64_t described, int64_t counted) {
    if (described == counted) return;
    found->push_back(what + " of " + name + ": described as " + std::to_string(described) + ", but it is " +
                     std::to_string(counted));
  };
  compare("item count", keyspace.item_count, static_cast<int64_t>(wanted.size()));
  compare("size", keyspace.size_bytes, bytes);
}

// Waits until the global indexes have applied the whole change log.
absl::Status CatchUp(const client::Client& client, const std::string& table) {
  admin::v1::ListIndexStatusRequest request;
  request.set_table_name(table);
  const absl::StatusOr<admin::v1::ListIndexStatusResponse> status = client.ListIndexStatus(request);
  if (!status.ok()) return status.status();
  uint64_t newest = 0;
  for (const auto& index : status->indexes()) newest = std::max(newest, index.log_sequence());
  // A read with AtLeastSequence makes the indexes poll, even if the log holds no more changes for them.
  for (const auto& index : status->indexes()) {
    if (index.kind() != admin::v1::INDEX_KIND_GLOBAL) continue;
    api::v1::ScanRequest scan;
    scan.set_table_name(table);
    scan.set_index_name(index.index_name());
    scan.set_limit(1);
    scan.set_at_least_sequence(newest);
    client::CallOptions options;
    options.timeout = kCatchUpMax;
    const absl::Status scanned = client.Scan(scan, options).status();
    if (!scanned.ok()) return scanned;
  }
  return client::WaitForIndexes(client, table, newest, absl::Now() + kCatchUpMax);
}

}  // namespace

absl::StatusOr<std::vector<Item>> ScanAll(const client::Client& client, const std::string& table,
                                          const std::string& index_name) {
  api::v1::ScanRequest request;
  request.set_table_name(table);
  if (!index_name.empty()) request.set_index_name(index_name);
  std::vector<Item> items;
  client::ScanItemRange range = client.ScanItems(request);
  for (absl::StatusOr<Item>& item : range) {
    if (!item.ok()) return item.status();
    items.push_back(*std::move(item));
  }
  return items;
}

std::vector<std::string> FindDisagreements(const client::Client& client, const std::string& table) {
  std::vector<std::string> found;
  if (const absl::Status caught_up = CatchUp(client, table); !caught_up.ok()) {
    return {"indexes do not catch up: " + caught_up.ToString()};
  }
  api::v1::DescribeTableRequest request;
  request.set_table_name(table);
  const absl::StatusOr<api::v1::DescribeTableResponse> described = client.DescribeTable(request);
  const absl::StatusOr<std::vector<Item>> base = ScanAll(client, table);
  if (!described.ok() || !base.ok()) {
    return {"cannot read: " + described.status().ToString() + ", " + base.status().ToString()};
  }
  for (const Keyspace& keyspace : KeyspacesOf(described->table())) {
    const absl::StatusOr<std::vector<Item>> entries = ScanAll(client, table, keyspace.index_name);
    if (!entries.ok()) return {"cannot scan " + keyspace.index_name + ": " + entries.status().ToString()};
    CompareKeyspace(keyspace, *base, *entries, &found);
  }
  return found;
}

}  // namespace armature::test
