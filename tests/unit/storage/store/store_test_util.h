#ifndef ARMATURE_TESTS_UNIT_STORAGE_STORE_STORE_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_STORAGE_STORE_STORE_TEST_UTIL_H_

// Databases in temporary directories, and helpers that wait for results.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "storage/store/database.h"
#include "tests/support/temp_dir.h"

namespace armature::store {

// Small budgets, and no fsync, which these tests do not need.
inline DatabaseOptions TestOptions(const std::string& path) {
  DatabaseOptions options;
  options.path = path;
  options.durability = Durability::kOs;
  options.cache_bytes = size_t{8} << 20;
  options.memtable_bytes = size_t{1} << 20;
  // Change sequences begin at 1.
  options.epoch_clock = [] { return uint64_t{0}; };
  return options;
}

inline std::unique_ptr<Database> OpenDatabase(const DatabaseOptions& options) {
  absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(options);
  EXPECT_TRUE(database.ok()) << database.status();
  return database.ok() ? *std::move(database) : nullptr;
}

inline model::KeySchema StringKey(std::vector<std::string> partition, std::vector<std::string> sort) {
  model::KeySchema key;
  for (std::string& name : partition) key.partition.push_back({std::move(name), model::ScalarType::kString});
  for (std::string& name : sort) key.sort.push_back({std::move(name), model::ScalarType::kString});
  return key;
}

// A table with partition key `pk` and sort key `sk`, without indexes.
inline model::TableDescriptor PlainTable(std::string_view name) {
  model::TableDescriptor table;
  table.name = std::string(name);
  table.key = StringKey({"pk"}, {"sk"});
  return table;
}

inline model::IndexDescriptor MakeIndex(std::string_view name, model::IndexKind kind, model::KeySchema key,
                                        model::Projection projection = {}) {
  model::IndexDescriptor index;
  index.name = std::string(name);
  index.kind = kind;
  index.key = std::move(key);
  index.projection = std::move(projection);
  return index;
}

// PlainTable with the local index `by_l` and the global indexes `by_g` and `by_h`.
inline model::TableDescriptor IndexedTable(std::string_view name) {
  model::TableDescriptor table = PlainTable(name);
  table.local_indexes.push_back(MakeIndex("by_l", model::IndexKind::kLocal, StringKey({"pk"}, {"l"})));
  table.global_indexes.push_back(MakeIndex("by_g", model::IndexKind::kGlobal, StringKey({"g"}, {})));
  table.global_indexes.push_back(
      MakeIndex("by_h", model::IndexKind::kGlobal, StringKey({"h"}, {"sk"}), {model::ProjectionType::kKeysOnly, {}}));
  return table;
}

// Polls `condition`, for states that only the DDL thread changes. False after 30 seconds.
template <class Condition>
bool Eventually(Condition condition) {
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  while (!condition()) {
    if (absl::Now() > deadline) return false;
    absl::Notification never;
    never.WaitForNotificationWithTimeout(absl::Milliseconds(1));
  }
  return true;
}

// Creates a table and waits until it is active.
inline std::shared_ptr<const CatalogSnapshot> CreateActive(Database* database,
                                                           const model::TableDescriptor& descriptor) {
  const auto created = database->tables().Create(descriptor);
  EXPECT_TRUE(created.ok()) << created.status();
  EXPECT_TRUE(Eventually([&] {
    const auto snapshot = database->catalog();
    const Table* const table = snapshot->Find(descriptor.name);
    return table != nullptr && table->descriptor.state == model::TableState::kActive;
  }));
  return database->catalog();
}

// Commits the units and waits for the answer.
inline absl::StatusOr<ChangeSequence> CommitAndWait(Database* database, std::vector<WriteUnit> units) {
  absl::Notification done;
  absl::StatusOr<ChangeSequence> answer;
  database->commits().CommitAll(std::move(units), [&](absl::StatusOr<ChangeSequence> sequence) {
    answer = std::move(sequence);
    done.Notify();
  });
  done.WaitForNotification();
  return answer;
}

inline absl::StatusOr<ChangeSequence> CommitAndWait(Database* database, WriteUnit unit) {
  std::vector<WriteUnit> units;
  units.push_back(std::move(unit));
  return CommitAndWait(database, std::move(units));
}

// The value under `key`, or "(none)".
inline std::string ValueOf(const Database& database, const Keyspace& keyspace, std::string_view key) {
  std::string value;
  const absl::StatusOr<GetResult> result = database.rows().Get(keyspace, key, ReadMode::kMayBlock, &value);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() && *result == GetResult::kFound ? value : "(none)";
}

// All keys of a keyspace, in order.
inline std::vector<std::string> KeysOf(const Database& database, const Keyspace& keyspace) {
  std::vector<std::string> keys;
  const absl::StatusOr<RangeEnd> ended =
      database.rows().ReadRange(keyspace, {}, Direction::kForward, [&](std::string_view key, std::string_view) {
        keys.emplace_back(key);
        return RowVerdict::kContinue;
      });
  EXPECT_TRUE(ended.ok()) << ended.status();
  return keys;
}

}  // namespace armature::store

#endif  // ARMATURE_TESTS_UNIT_STORAGE_STORE_STORE_TEST_UTIL_H_
