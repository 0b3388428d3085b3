#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "index/gsi_applier.h"
#include "index/index_delta.h"
#include "index/index_entry.h"
#include "storage/codec/change_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/limits.h"
#include "tests/support/repeating_change_record.h"
#include "tests/unit/index/index_test_util.h"
#include "tests/unit/index/maintained_table_test.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::index::index_maintenance_test {

using store::WriteUnit;
using Item = MaintainedTableTest::Item;
using Encoding = MaintainedTableTest::Encoding;

// All changes of global indexes are logged.
class IndexMaintenanceTest : public MaintainedTableTest {
 protected:
  IndexMaintenanceTest() : MaintainedTableTest(store::IndexUpdates::kLogged) {}
};

constexpr auto kOverhead = static_cast<uint64_t>(model::kStorageOverheadBytes);

TEST_F(IndexMaintenanceTest, LocalEntriesAreWrittenWithTheItemAndTheCollectionGrows) {
  const Item plain = {{"pk", "p"}, {"sk", "s"}};                // 6 bytes
  const Item indexed = {{"l", "1"}, {"pk", "p"}, {"sk", "s"}};  // 8 bytes, and 8 in the index
  const Item moved = {{"l", "22"}, {"pk", "p"}, {"sk", "s"}};   // 9 bytes, and 9 in the index
  Write({}, plain);
  EXPECT_TRUE(Keys(by_l()).empty());
  EXPECT_EQ(Collection("p"), 6 + kOverhead);
  Write(plain, indexed);
  EXPECT_EQ(Keys(by_l()), std::vector<std::string>{HashedKey({"p"}, {"1", "s"})});
  ExpectTotals(by_l(), 1, 8);
  EXPECT_EQ(Collection("p"), 16 + 2 * kOverhead);
  Write(indexed, moved);
  EXPECT_EQ(Keys(by_l()), std::vector<std::string>{HashedKey({"p"}, {"22", "s"})});
  ExpectTotals(by_l(), 1, 9);
  EXPECT_EQ(Collection("p"), 18 + 2 * kOverhead);
  Write(moved, {});
  EXPECT_TRUE(Keys(by_l()).empty());
  ExpectTotals(by_l(), 0, 0);
  EXPECT_TRUE(store::KeysOf(*database_, table().collections).empty());
}

TEST_F(IndexMaintenanceTest, RecorderWritesNothingWithoutChanges) {
  WriteUnit unit(snapshot_);
  RecordGlobalIndexChanges(table(), "key", 1, {}, &unit);
  EXPECT_FALSE(unit.has_record());
  Write({}, {{"pk", "p"}, {"sk", "s"}});
  EXPECT_EQ(LogRecords(), 0u);
}

TEST_F(IndexMaintenanceTest, RecorderPutsTheTotalsOnTheFirstRowOfAChange) {
  const std::string before = StringItem({{"g", "1"}, {"pk", "p"}, {"sk", "s"}});
  const std::string after = StringItem({{"g", "222"}, {"pk", "p"}, {"sk", "s"}});
  WriteUnit unit(snapshot_);
  RecordGlobalIndexChanges(
      table(), "base", 99,
      IndexDelta(table().global_indexes, table().descriptor.key, model::ItemView(before), model::ItemView(after)),
      &unit);
  ASSERT_TRUE(unit.has_record());
  EXPECT_EQ(unit.record_table(), id());
  const absl::StatusOr<codec::ChangeRecord> record = codec::ParseChangeRecord(unit.record());
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record->time_ms, 99);
  EXPECT_EQ(record->base_key, "base");
  ASSERT_EQ(record->index_changes.size(), 2u);
  EXPECT_TRUE(record->index_changes[0].is_delete);
  EXPECT_EQ(record->index_changes[0].key, HashedKey({"1"}, {"p", "s"}));
  EXPECT_EQ(record->index_changes[0].byte_delta, 2);
  EXPECT_FALSE(record->index_changes[1].is_delete);
  EXPECT_EQ(record->index_changes[1].key, HashedKey({"222"}, {"p", "s"}));
  EXPECT_EQ(record->index_changes[1].byte_delta, 0);
}

TEST_F(IndexMaintenanceTest, ApplierCarriesChangesOverOnce) {
  const Item item = {{"g", "1"}, {"h", "2"}, {"pk", "p"}, {"sk", "s"}};  // 10 bytes; by_h holds 8
  const ChangeSequence sequence = Write({}, item);
  EXPECT_TRUE(Keys(by_g()).empty());
  for (int round = 0; round < 3; ++round) {
    Apply();
    EXPECT_EQ(Keys(by_g()), std::vector<std::string>{HashedKey({"1"}, {"p", "s"})});
    EXPECT_EQ(Keys(by_h()), std::vector<std::string>{HashedKey({"2"}, {"s", "p", "s"})});
    ExpectTotals(by_g(), 1, 10);
    ExpectTotals(by_h(), 1, 8);
    EXPECT_EQ(by_g().progress->applied(), sequence);
  }
  Write(item, {});
  Apply();
  EXPECT_TRUE(Keys(by_g()).empty());
  ExpectTotals(by_g(), 0, 0);
  ExpectTotals(by_h(), 0, 0);
}

TEST_F(IndexMaintenanceTest, TheLastChangeOfARowWins) {
  Item before;
  for (int i = 0; i < 50; ++i) {
    Item after = {
        {"a", std::string(static_cast<size_t>(i), 'x')}, {"g", std::to_string(i % 3)}, {"pk", "p"}, {"sk", "s"}};
    Write(before, after);
    before = after;
  }
  EXPECT_EQ(LogRecords(), 50u);
  Apply();
  EXPECT_EQ(Keys(by_g()), std::vector<std::string>{HashedKey({"1"}, {"p", "s"})});  // 49 % 3
  ExpectTotals(by_g(), 1, 50 + 2 + 6);
}

TEST_F(IndexMaintenanceTest, CursorsSurviveReopenAndNothingIsAppliedTwice) {
  Write({}, {{"g", "1"}, {"pk", "p"}, {"sk", "1"}});
  Apply();
  Write({}, {{"g", "1"}, {"pk", "p"}, {"sk", "2"}});
  Reopen();
  EXPECT_EQ(by_g().progress->applied(), ChangeSequence(1));
  ExpectTotals(by_g(), 1, 8);
  EXPECT_EQ(LogRecords(), 2u);
  Apply();
  ExpectTotals(by_g(), 2, 16);
  Reopen();
  // A start begins behind the sequences that were reserved.
  EXPECT_GE(by_g().progress->applied(), ChangeSequence(2));
  Apply();
  ExpectTotals(by_g(), 2, 16);
  EXPECT_EQ(Keys(by_g()).size(), 2u);
}

// An upgraded directory has records of both versions in its log. They are applied once and in order, wherever the
// process ends between two runs.
TEST_F(IndexMaintenanceTest, RecordsOfBothVersionsAreAppliedInTheirOrder) {
  std::mt19937_64 rng(PrintedTestSeed());
  const auto below = [&rng](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng); };
  std::map<std::string, Item> items;
  int repeating = 0;
  constexpr int kWrites = 400;
  for (int i = 0; i < kWrites; ++i) {
    const std::string sk = std::to_string(below(5));
    Item after;
    if (below(5) > 0) {
      after = {{"a", std::string(below(3), 'x')}, {"pk", "p"}, {"sk", sk}};
      if (below(3) > 0) after.emplace_back("g", std::to_string(below(3)));
      if (below(3) > 0) after.emplace_back("h", std::to_string(below(3)));
    }
    if (items[sk].empty() && after.empty()) continue;
    const Encoding encoding = below(2) == 0 ? Encoding::kPresent : Encoding::kRepeating;
    repeating += encoding == Encoding::kRepeating ? 1 : 0;
    Write(items[sk], after, encoding);
    items[sk] = after;
    if (below(40) == 0) Apply();
    if (below(40) == 0) Reopen();
  }
  EXPECT_GT(repeating, 0);
  Apply();
  std::map<const store::Index*, std::vector<std::string>> keys;
  std::map<const store::Index*, int64_t> bytes;
  for (const auto& [sk, item] : items) {
    if (item.empty()) continue;
    const std::string item_bytes = StringItem(item);
    for (const store::Index* const index : {&by_g(), &by_h()}) {
      const std::optional<Entry> entry = MakeEntry(*index, table().descriptor.key, model::ItemView(item_bytes));
      if (!entry.has_value()) continue;
      keys[index].push_back(entry->key);
      bytes[index] += static_cast<int64_t>(entry->item.api_size);
      EXPECT_EQ(store::ValueOf(*database_, index->keyspace, entry->key), codec::EncodeStoredItem(entry->item));
    }
  }
  for (const store::Index* const index : {&by_g(), &by_h()}) {
    std::sort(keys[index].begin(), keys[index].end());
    EXPECT_EQ(Keys(*index), keys[index]);
    ExpectTotals(*index, static_cast<int64_t>(keys[index].size()), bytes[index]);
    EXPECT_EQ(index->progress->backlog().load().records, 0u);
    EXPECT_EQ(index->progress->backlog().load().bytes, 0u);
  }
}

// A record names its indexes by ids. An index that was removed, or is not known, is passed over.
TEST_F(IndexMaintenanceTest, ChangesOfOtherIndexesArePassedOver) {
  const std::string item = StringItem({{"g", "1"}, {"pk", "p"}, {"sk", "s"}});
  std::vector<store::Index> indexes = {by_g(), by_g()};
  indexes[1].descriptor.id = IndexId(4'000'000'000);
  indexes[1].progress = nullptr;
  const std::vector<EntryChange> changes =
      IndexDelta(indexes, table().descriptor.key, std::nullopt, model::ItemView(item));
  ASSERT_EQ(changes.size(), 2u);
  for (const bool is_known_first : {true, false}) {
    WriteUnit unit(snapshot_);
    const std::vector<EntryChange> ordered = {changes[is_known_first ? 0 : 1], changes[is_known_first ? 1 : 0]};
    RecordGlobalIndexChanges(table(), HashedKey({"p"}, {"s"}), 1234, ordered, &unit);
    ASSERT_TRUE(store::CommitAndWait(database_.get(), std::move(unit)).ok());
    Apply();
    EXPECT_EQ(Keys(by_g()), std::vector<std::string>{HashedKey({"1"}, {"p", "s"})});
  }
}

// A record holds a large item once. The rows that are made of it for 20 indexes count in the bound of a run.
TEST_F(IndexMaintenanceTest, RunsAreBoundedByTheirRows) {
  model::TableDescriptor wide = store::PlainTable("wide");
  for (size_t i = 0; i < model::kGlobalIndexesMax; ++i) {
    wide.global_indexes.push_back(
        store::MakeIndex(Cat("index", i), model::IndexKind::kGlobal, store::StringKey({"g"}, {})));
  }
  store::CreateActive(database_.get(), wide);
  snapshot_ = database_->catalog();
  name_ = "wide";
  constexpr int kItems = 3;
  for (int i = 0; i < kItems; ++i) {
    Write({}, {{"a", std::string(400'000, 'x')}, {"g", "1"}, {"pk", "p"}, {"sk", std::to_string(i)}});
  }
  for (size_t run = 1; run < kItems; ++run) {
    const absl::StatusOr<bool> drained = applier_->RunOnce(id());
    ASSERT_TRUE(drained.ok()) << drained.status();
    EXPECT_FALSE(*drained);
    EXPECT_EQ(Keys(table().global_indexes.back()).size(), run) << "the rows of one item are more than a run takes";
  }
  Apply();
  for (const store::Index& index : table().global_indexes) {
    EXPECT_EQ(index.keyspace.stats->items(), kItems);
    EXPECT_EQ(index.progress->backlog().load().bytes, 0u);
  }
}

TEST_F(IndexMaintenanceTest, AnIndexAheadOfAnotherSkipsWhatItHas) {
  const ChangeSequence first = Write({}, {{"g", "1"}, {"h", "1"}, {"pk", "p"}, {"sk", "1"}});
  by_g().progress->Advance(first);  // as if by_g had been built from the table
  const ChangeSequence second = Write({}, {{"g", "1"}, {"h", "1"}, {"pk", "p"}, {"sk", "2"}});
  Apply();
  EXPECT_EQ(Keys(by_g()).size(), 1u);
  EXPECT_EQ(by_g().keyspace.stats->items(), 1);
  EXPECT_EQ(Keys(by_h()).size(), 2u);
  EXPECT_EQ(by_h().keyspace.stats->items(), 2);
  EXPECT_EQ(by_g().progress->applied(), second);
  EXPECT_EQ(by_h().progress->applied(), second);
}

TEST_F(IndexMaintenanceTest, DrainedLogIsTrimmed) {
  const std::string filler(16'000, 'x');
  for (int i = 0; i < 300; ++i) Write({}, {{"g", "1"}, {"pk", "p"}, {"sk", std::to_string(i)}, {"filler", filler}});
  EXPECT_EQ(LogRecords(), 300u);
  Apply();
  EXPECT_LT(LogRecords(), 100u);
  EXPECT_EQ(by_g().keyspace.stats->items(), 300);
  Reopen();
  Write({}, {{"g", "1"}, {"pk", "p"}, {"sk", "new"}});
  Apply();
  EXPECT_EQ(by_g().keyspace.stats->items(), 301);
}

TEST_F(IndexMaintenanceTest, ADamagedRecordStopsTheRunWithNothingApplied) {
  Write({}, {{"g", "1"}, {"pk", "p"}, {"sk", "1"}});
  WriteUnit unit(snapshot_);
  unit.SetChangeRecord(id(), "damaged");
  ASSERT_TRUE(store::CommitAndWait(database_.get(), std::move(unit)).ok());
  EXPECT_EQ(applier_->RunOnce(id()).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(Keys(by_g()).empty());
  EXPECT_EQ(by_g().progress->applied(), ChangeSequence(0));
}

TEST_F(IndexMaintenanceTest, ATableWithADamagedRecordDelaysNoOther) {
  store::CreateActive(database_.get(), store::IndexedTable("other"));
  WriteUnit damaged(snapshot_);
  damaged.SetChangeRecord(id(), "damaged");
  ASSERT_TRUE(store::CommitAndWait(database_.get(), std::move(damaged)).ok());
  applier_->Start();
  snapshot_ = database_->catalog();
  const store::Index& healthy = snapshot_->Find("other")->global_indexes[0];
  // Each append wakes the applier for both tables. A pause after each failure would take a second of each round.
  const Deadline deadline = Deadline::After(absl::Seconds(40));
  for (int i = 0; i < 100; ++i) {
    Write({}, {{"g", "1"}, {"pk", "p"}, {"sk", std::to_string(i)}});
    WriteUnit unit(snapshot_);
    unit.SetChangeRecord(snapshot_->Find("other")->descriptor.id, test::RepeatingChangeRecord({}));
    const absl::StatusOr<ChangeSequence> sequence = store::CommitAndWait(database_.get(), std::move(unit));
    ASSERT_TRUE(sequence.ok()) << sequence.status();
    absl::Notification applied;
    healthy.progress->WhenApplied(*sequence, deadline, [&](const absl::Status& status) {
      EXPECT_TRUE(status.ok()) << status;
      applied.Notify();
    });
    applied.WaitForNotification();
    if (HasFailure()) break;
  }
  EXPECT_TRUE(by_g().progress->is_stalled());
  EXPECT_FALSE(healthy.progress->is_stalled());
  applier_->Stop();
}

// An index that was added or rebuilt behind the damage, or whose own state is good, does not wait for the others.
TEST_F(IndexMaintenanceTest, AnIndexBehindADamagedRecordGoesOn) {
  WriteUnit damaged(snapshot_);
  damaged.SetChangeRecord(id(), "damaged");
  const absl::StatusOr<ChangeSequence> damage = store::CommitAndWait(database_.get(), std::move(damaged));
  ASSERT_TRUE(damage.ok()) << damage.status();
  by_h().progress->Advance(*damage);
  const ChangeSequence last = Write({}, {{"g", "1"}, {"h", "1"}, {"pk", "p"}, {"sk", "s"}});
  EXPECT_EQ(applier_->RunOnce(id()).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(by_h().progress->applied(), last);
  EXPECT_EQ(Keys(by_h()).size(), 1u);
  EXPECT_FALSE(by_h().progress->is_stalled());
  EXPECT_TRUE(by_g().progress->is_stalled());
  EXPECT_EQ(by_g().progress->applied(), ChangeSequence(0));

  applier_->Start();
  // A pause after each failure would take a second of each round.
  const Deadline deadline = Deadline::After(absl::Seconds(40));
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    const ChangeSequence next = Write({}, {{"h", "1"}, {"pk", "p"}, {"sk", std::to_string(i)}});
    absl::Notification applied;
    by_h().progress->WhenApplied(next, deadline, [&](const absl::Status& status) {
      EXPECT_TRUE(status.ok()) << status;
      applied.Notify();
    });
    applied.WaitForNotification();
  }
  applier_->Stop();
  EXPECT_TRUE(by_g().progress->is_stalled());
}

TEST_F(IndexMaintenanceTest, ThreadAppliesWhatWaitsAndWhatComes) {
  const auto wait_for = [this](ChangeSequence sequence) {
    absl::Notification applied;
    by_g().progress->WhenApplied(sequence, Deadline::After(absl::Seconds(30)), [&](const absl::Status& status) {
      EXPECT_TRUE(status.ok()) << status;
      applied.Notify();
    });
    applied.WaitForNotification();
  };
  const ChangeSequence before_start = Write({}, {{"g", "1"}, {"pk", "p"}, {"sk", "0"}});
  applier_->Start();
  wait_for(before_start);
  for (int i = 1; i < 100; ++i) wait_for(Write({}, {{"g", "1"}, {"pk", "p"}, {"sk", std::to_string(i)}}));
  applier_->Stop();
  EXPECT_EQ(Keys(by_g()).size(), 100u);
  const ChangeSequence late = Write({}, {{"g", "1"}, {"pk", "p"}, {"sk", "late"}});
  EXPECT_LT(by_g().progress->applied(), late);
  Reopen();
  applier_->Start();
  wait_for(late);
  EXPECT_EQ(by_g().keyspace.stats->items(), 101);
}

TEST_F(IndexMaintenanceTest, TablesAreAppliedInParallel) {
  store::CreateActive(database_.get(), store::IndexedTable("other"));
  snapshot_ = database_->catalog();
  const store::Table& other = *snapshot_->Find("other");
  // The first table's run does not end before the second table's changes are applied.
  absl::Notification held;
  absl::Notification other_applied;
  const ChangeSequence first = Write({}, {{"g", "1"}, {"pk", "p"}, {"sk", "0"}});
  by_g().progress->WhenApplied(first, Deadline::After(absl::Seconds(60)), [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    held.Notify();
    EXPECT_TRUE(other_applied.WaitForNotificationWithTimeout(absl::Seconds(30)));
  });
  applier_ = std::make_unique<GsiApplier>(database_.get(), 2);
  applier_->Start();
  held.WaitForNotification();
  // Appended while the table has a run: applied after it, and by nobody else.
  const ChangeSequence second = Write({}, {{"g", "1"}, {"pk", "p"}, {"sk", "1"}});
  WriteUnit unit(snapshot_);
  unit.SetChangeRecord(other.descriptor.id, test::RepeatingChangeRecord({}));
  const absl::StatusOr<ChangeSequence> sequence = store::CommitAndWait(database_.get(), std::move(unit));
  ASSERT_TRUE(sequence.ok()) << sequence.status();
  EXPECT_TRUE(store::Eventually([&] { return other.global_indexes[0].progress->applied() >= *sequence; }));
  EXPECT_LT(by_h().progress->applied(), second);
  other_applied.Notify();
  EXPECT_TRUE(store::Eventually([&] { return by_h().progress->applied() >= second; }));
  applier_->Stop();
  EXPECT_EQ(Keys(by_g()).size(), 2u);
}

TEST_F(IndexMaintenanceTest, TableThatIsGoneIsDrained) {
  Write({}, {{"g", "1"}, {"pk", "p"}, {"sk", "0"}});
  const TableId table = id();
  snapshot_.reset();
  ASSERT_TRUE(database_->tables().Delete("t").ok());
  EXPECT_EQ(*applier_->RunOnce(table), true);
  ASSERT_TRUE(store::Eventually([&] { return database_->catalog()->Find("t") == nullptr; }));
  EXPECT_EQ(*applier_->RunOnce(table), true);
}

TEST_F(IndexMaintenanceTest, AnIndexThatIsBehindDoesNotHoldUpTheOthers) {
  constexpr int kMoreThanARun = 4200;
  ChangeSequence last;
  for (int i = 0; i < kMoreThanARun; ++i) last = Write({}, {{"h", "1"}, {"pk", std::to_string(i)}, {"sk", "s"}});
  by_g().progress->Advance(last);
  last = Write({}, {{"g", "1"}, {"h", "1"}, {"pk", "new"}, {"sk", "s"}});
  ASSERT_TRUE(applier_->RunOnce(id()).ok());
  EXPECT_EQ(by_g().progress->applied(), last);
  EXPECT_EQ(Keys(by_g()).size(), 1u);
  EXPECT_LT(by_h().progress->applied(), last);
  Apply();
  EXPECT_EQ(by_h().progress->applied(), last);
  EXPECT_EQ(Keys(by_h()).size(), static_cast<size_t>(kMoreThanARun + 1));
}

}  // namespace armature::index::index_maintenance_test
