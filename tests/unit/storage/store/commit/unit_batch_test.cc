#include "storage/store/commit/unit_batch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "rocksdb/write_batch.h"
#include "storage/base/api_error.h"
#include "storage/store/keyspace.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::resume_test {
extern std::atomic<bool> no_room_to_sync;
}  // namespace armature::store::resume_test

namespace armature::store::unit_batch_test {

class UnitBatchTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(rocks_->CreateFamilies({"t1", "c1"}).ok());
    rows_ = KeyspaceOf("t1");
    sizes_ = Keyspace{*rocks_->Place("c1")};
  }

  Keyspace KeyspaceOf(const std::string& family) {
    ColumnFamily* const placed = *rocks_->Place(family);
    return {placed, placed->stats()};
  }
  WriteUnit PutUnit(std::string_view key, StatsDelta totals) const {
    WriteUnit unit(nullptr);
    unit.Put(rows_, key, "v");
    unit.AddStats(rows_, totals);
    return unit;
  }
  std::vector<WriteUnit> CounterUnits(std::vector<std::pair<std::string, int64_t>> changes) const {
    std::vector<WriteUnit> units;
    for (const auto& [key, delta] : changes) units.emplace_back(nullptr).AddCounter(sizes_, key, delta);
    return units;
  }
  std::string Value(const Keyspace& keyspace, std::string_view key) {
    return rocks_->Get(*keyspace.family, key)->value_or("(none)");
  }
  // 0 without a row.
  uint64_t Counter(std::string_view key) {
    const std::optional<std::string> stored = *rocks_->Get(*sizes_.family, key);
    return stored.has_value() ? *ParseCounter(*stored, *sizes_.family) : 0;
  }
  std::pair<int64_t, int64_t> StoredTotals(std::string_view family) {
    const std::optional<std::string> stored = *rocks_->Get(*rocks_->meta(), StatsKey(family));
    if (!stored.has_value()) return {-1, -1};
    const StatsDelta totals = *ParseStats(*stored);
    return {totals.items, totals.bytes};
  }
  std::pair<int64_t, int64_t> TotalsInMemory() const { return {rows_.stats->items(), rows_.stats->bytes()}; }

  const test::TempDir dir_;
  const DatabaseOptions options_ = TestOptions(dir_.path("data"));
  const std::unique_ptr<RocksDb> rocks_ = *RocksDb::Open(options_.path, options_);
  Keyspace rows_;
  Keyspace sizes_;
};

using Totals = std::pair<int64_t, int64_t>;

TEST_F(UnitBatchTest, WritesRowsRecordsAndTheSumOfTheTotals) {
  const WriteUnit first = PutUnit("a", {1, 10});
  const WriteUnit second = PutUnit("b", {1, 30});
  UnitBatch batch(rocks_.get());
  batch.Add(second);
  batch.Add(first);
  batch.Put(rows_, "c", "of ", "two parts");
  batch.AddTotals(rows_.stats, {1, 100});
  batch.records().Put(rocks_->meta()->handle(), "record", "r");
  EXPECT_EQ(Value(rows_, "a"), "(none)");
  EXPECT_EQ(TotalsInMemory(), Totals(0, 0)) << "before the write";
  ASSERT_TRUE(batch.Write(/*sync=*/false, "test").ok());
  EXPECT_EQ(Value(rows_, "a"), "v");
  EXPECT_EQ(Value(rows_, "b"), "v");
  EXPECT_EQ(Value(rows_, "c"), "of two parts");
  EXPECT_EQ(Value(Keyspace{rocks_->meta()}, "record"), "r");
  EXPECT_EQ(TotalsInMemory(), Totals(3, 140));
  EXPECT_EQ(StoredTotals("t1"), Totals(3, 140));
  EXPECT_EQ(StoredTotals("c1"), Totals(-1, -1)) << "sizes of collections have no totals";
}

// The rows of a batch, as "key=value" and "-key".
class RowList : public rocksdb::WriteBatch::Handler {
 public:
  rocksdb::Status PutCF(uint32_t family, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    return Add(family, key.ToString() + "=" + value.ToString());
  }
  rocksdb::Status DeleteCF(uint32_t family, const rocksdb::Slice& key) override {
    return Add(family, "-" + key.ToString());
  }

  size_t changes = 0;  // of the family, from one row to the next
  std::map<uint32_t, std::vector<std::string>> rows;

 private:
  rocksdb::Status Add(uint32_t family, std::string row) {
    if (family != last_) ++changes;
    last_ = family;
    rows[family].push_back(std::move(row));
    return rocksdb::Status::OK();
  }

  uint32_t last_ = UINT32_MAX;
};

TEST_F(UnitBatchTest, RowsAreInTheOrderOfKeysAndThoseOfOneKeyInThatOfTheirUnits) {
  ASSERT_TRUE(rocks_->CreateFamilies({"t2"}).ok());
  const Keyspace other = KeyspaceOf("t2");
  WriteUnit first(nullptr);
  first.Put(rows_, "long prefix c", "1");
  first.Put(other, "b", "1");
  first.Put(rows_, "a", "1");
  first.AddCounter(sizes_, "c", 1);
  WriteUnit second(nullptr);
  second.Put(rows_, std::string("a\0", 2), "2");
  second.Delete(rows_, "long prefix c");
  second.Put(rows_, "long prefix b", "2");
  second.Put(other, "a", "2");
  UnitBatch batch(rocks_.get());
  batch.Add(first);
  batch.Add(second);
  ASSERT_TRUE(batch.Write(/*sync=*/false, "test").ok());
  RowList list;
  ASSERT_TRUE(batch.records().Iterate(&list).ok());
  EXPECT_EQ(list.changes, 2U) << "counters are not added with their unit";
  EXPECT_EQ(list.rows[rows_.family->handle()->GetID()],
            (std::vector<std::string>{"a=1", std::string("a\0=2", 4), "long prefix b=2", "long prefix c=1",
                                      "-long prefix c"}));
  EXPECT_EQ(list.rows[other.family->handle()->GetID()], (std::vector<std::string>{"a=2", "b=1"}));
}

TEST_F(UnitBatchTest, AFailedWriteTakesTheTotalsBack) {
  const WriteUnit before = PutUnit("a", {1, 10});
  UnitBatch written(rocks_.get());
  written.Add(before);
  ASSERT_TRUE(written.Write(/*sync=*/true, "test").ok());
  const WriteUnit more = PutUnit("b", {1, 30});
  const WriteUnit less = PutUnit("c", {-2, -7});
  resume_test::no_room_to_sync = true;
  // The second one finds the engine stopped.
  for (const bool sync : {true, false}) {
    UnitBatch failed(rocks_.get());
    failed.Add(more);
    failed.Add(less);
    EXPECT_FALSE(failed.Write(sync, "test").ok());
    EXPECT_EQ(TotalsInMemory(), Totals(1, 10)) << "sync=" << sync;
  }
  resume_test::no_room_to_sync = false;
  ASSERT_TRUE(rocks_->Resume().ok());
  UnitBatch after(rocks_.get());
  after.Add(more);
  ASSERT_TRUE(after.Write(/*sync=*/true, "test").ok());
  EXPECT_EQ(StoredTotals("t1"), Totals(2, 40)) << "nothing of the failed ones is counted";
  EXPECT_EQ(Value(rows_, "c"), "(none)");
}

TEST_F(UnitBatchTest, CountersOfACommitChangeTogetherOrNotAtAll) {
  constexpr uint64_t kMax = 100;
  UnitBatch batch(rocks_.get());
  ASSERT_TRUE(batch.AddCounters(CounterUnits({{"a", 70}, {"b", 5}, {"a", 20}}), kMax).ok());
  const absl::Status refused = batch.AddCounters(CounterUnits({{"a", 11}, {"b", 1}}), kMax);
  EXPECT_EQ(GetApiError(refused)->type, ApiErrorType::kItemCollectionSizeLimitExceeded);
  // After the earlier commits of the batch, and as a sum: the limit holds for their end, not on the way.
  EXPECT_TRUE(batch.AddCounters(CounterUnits({{"a", 11}, {"a", -1}}), kMax).ok());
  ASSERT_TRUE(batch.Write(/*sync=*/false, "test").ok());
  EXPECT_EQ(Counter("a"), 100U);
  EXPECT_EQ(Counter("b"), 5U);
}

TEST_F(UnitBatchTest, ACounterIsReadOnceAndRemovedAtZero) {
  constexpr uint64_t kMax = 100;
  UnitBatch first(rocks_.get());
  ASSERT_TRUE(first.AddCounters(CounterUnits({{"a", 300}}), 1000).ok());
  ASSERT_TRUE(first.AddCounters(CounterUnits({{"b", 7}}), kMax).ok());
  ASSERT_TRUE(first.Write(/*sync=*/false, "test").ok());
  UnitBatch second(rocks_.get());
  EXPECT_TRUE(second.AddCounters(CounterUnits({{"a", -50}}), kMax).ok()) << "a counter above the limit may shrink";
  EXPECT_TRUE(second.AddCounters(CounterUnits({{"b", -8}}), kMax).ok());
  ASSERT_TRUE(second.Write(/*sync=*/false, "test").ok());
  EXPECT_EQ(Counter("a"), 250U);
  EXPECT_EQ(Value(sizes_, "b"), "(none)") << "never below 0";
}

TEST_F(UnitBatchTest, ACounterThatCannotBeReadFailsItsCommitOnly) {
  rocksdb::WriteBatch damage;
  damage.Put(sizes_.family->handle(), "bad", "\xff");
  ASSERT_TRUE(rocks_->Write(&damage, /*sync=*/false, "test").ok());
  UnitBatch batch(rocks_.get());
  EXPECT_TRUE(absl::IsDataLoss(batch.AddCounters(CounterUnits({{"a", 1}, {"bad", 1}}), 100)));
  EXPECT_TRUE(batch.AddCounters(CounterUnits({{"b", 1}}), 100).ok());
  ASSERT_TRUE(batch.Write(/*sync=*/false, "test").ok());
  EXPECT_EQ(Counter("a"), 0U);
  EXPECT_EQ(Counter("b"), 1U);
  EXPECT_EQ(Value(sizes_, "bad"), "\xff");
}

TEST_F(UnitBatchTest, MakesTheFamiliesOfPutsAndNoneForADeletion) {
  WriteUnit unit(nullptr);
  unit.Delete(KeyspaceOf("t2"), "a");
  unit.Put(KeyspaceOf("t3"), "a", "v");
  unit.Put(KeyspaceOf("t4"), "a", "v");
  unit.Put(rows_, "a", "v");
  UnitBatch batch(rocks_.get());
  batch.Add(unit);
  ASSERT_TRUE(batch.MakeFamilies().ok());
  ASSERT_TRUE(batch.Write(/*sync=*/false, "test").ok());
  EXPECT_EQ(Value(KeyspaceOf("t3"), "a"), "v");
  EXPECT_EQ(Value(KeyspaceOf("t4"), "a"), "v");
  EXPECT_EQ(Value(rows_, "a"), "v");
  EXPECT_EQ(rocks_->Find("t2"), nullptr);
}

}  // namespace armature::store::unit_batch_test
