// Column families that are made before the first write to them.

#include "storage/store/commit/family_maker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "storage/base/api_error.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/rocks_db.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::family_maker_test {

using testing::ElementsAre;
using testing::IsEmpty;

class FamilyMakerTest : public testing::Test {
 protected:
  FamilyMakerTest() { Open(); }
  void Open() {
    snapshot_.reset();
    database_.reset();
    database_ = OpenDatabase(options_);
    snapshot_ = database_->catalog();
  }
  void Create(const model::TableDescriptor& table) { snapshot_ = CreateActive(database_.get(), table); }

  const Table& table(std::string_view name) const { return *snapshot_->Find(name); }
  WriteUnit Put(const Keyspace& keyspace, std::string_view key, std::string_view value = "v") const {
    WriteUnit unit(snapshot_);
    unit.Put(keyspace, key, value);
    unit.AddStats(keyspace, {1, 1});
    return unit;
  }
  size_t families() const { return database_->stats().column_families; }

  const test::TempDir dir_;
  const DatabaseOptions options_ = TestOptions(dir_.path("data"));
  std::unique_ptr<Database> database_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
};

TEST_F(FamilyMakerTest, ATableThatWasNeverWrittenIsEmpty) {
  Create(IndexedTable("t"));
  const size_t before = families();
  const Table& t = table("t");
  EXPECT_EQ(ValueOf(*database_, t.data, "k"), "(none)");
  EXPECT_THAT(KeysOf(*database_, t.data), IsEmpty());
  EXPECT_THAT(KeysOf(*database_, t.local_indexes[0].keyspace), IsEmpty());
  uint64_t counter = 7;
  EXPECT_EQ(*database_->rows().GetCounter(t.collections, "k", ReadMode::kMemoryOnly, &counter), GetResult::kFound);
  EXPECT_EQ(counter, 0u);
  const std::unique_ptr<KeyspaceSnapshot> kept = database_->rows().TakeSnapshot(t.data);
  ASSERT_TRUE(CommitAndWait(database_.get(), Put(t.data, "k")).ok());
  // Rows of a family that was made later are not in the snapshot.
  size_t rows = 0;
  ASSERT_TRUE(kept->ReadRange({},
                              [&rows](std::string_view, std::string_view) {
                                ++rows;
                                return RowVerdict::kContinue;
                              })
                  .ok());
  EXPECT_EQ(rows, 0u);
  EXPECT_EQ(ValueOf(*database_, t.data, "k"), "v");
  EXPECT_EQ(families(), before + 1);
}

TEST_F(FamilyMakerTest, OnlyTheKeyspacesOfAWriteGetFamilies) {
  Create(IndexedTable("t"));
  const size_t before = families();
  const Table& t = table("t");
  WriteUnit unit = Put(t.data, "k");
  unit.AddCounter(t.collections, "k", 10);
  unit.Delete(t.local_indexes[0].keyspace, "there is nothing to delete");
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  EXPECT_EQ(families(), before + 2);
  Open();
  EXPECT_EQ(families(), before + 2);
  EXPECT_THAT(KeysOf(*database_, table("t").data), ElementsAre("k"));
  EXPECT_THAT(KeysOf(*database_, table("t").local_indexes[0].keyspace), IsEmpty());
}

TEST_F(FamilyMakerTest, WorkersMakeTheFamiliesOfGlobalIndexes) {
  Create(IndexedTable("t"));
  const size_t before = families();
  const Index& index = table("t").global_indexes[0];
  ASSERT_TRUE(database_->change_log()
                  .CommitConsumed(Put(index.keyspace, "k"), table("t").descriptor.id,
                                  {{index.descriptor.id, ChangeSequence(1)}})
                  .ok());
  EXPECT_EQ(families(), before + 1);
  EXPECT_THAT(KeysOf(*database_, index.keyspace), ElementsAre("k"));
}

TEST_F(FamilyMakerTest, FirstWritesOfManyThreadsToManyTablesAllArrive) {
  constexpr int kTables = 12;
  constexpr int kThreads = 6;
  for (int i = 0; i < kTables; ++i) Create(PlainTable("t" + std::to_string(i)));
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kTables; ++i) {
        // A transaction over two tables, and a batch of independent writes.
        const Keyspace& one = table("t" + std::to_string(i)).data;
        const Keyspace& other = table("t" + std::to_string((i + thread) % kTables)).data;
        const std::string key = std::to_string(thread) + "-" + std::to_string(i);
        std::vector<WriteUnit> units;
        units.push_back(Put(one, "a" + key));
        units.push_back(Put(other, "b" + key));
        if (!CommitAndWait(database_.get(), std::move(units)).ok()) ++failed;
        std::vector<Commitment> each;
        absl::BlockingCounter answers(2);
        for (const Keyspace* const to : {&one, &other}) {
          each.push_back({Put(*to, "c" + key), [&](const absl::StatusOr<ChangeSequence>& answer) {
                            if (!answer.ok()) ++failed;
                            answers.DecrementCount();
                          }});
        }
        database_->commits().CommitEach(std::move(each));
        answers.Wait();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  size_t rows = 0;
  for (int i = 0; i < kTables; ++i) rows += KeysOf(*database_, table("t" + std::to_string(i)).data).size();
  // The threads share no keys; where both tables are the same, the two rows of a batch are one.
  EXPECT_EQ(rows, size_t{kTables} * (4 * kThreads - 1));
}

// The second write needs no family, but must not overtake the first, which waits for one.
TEST_F(FamilyMakerTest, WritesToAFamilyKeepTheirOrder) {
  for (int round = 0; round < 20; ++round) {
    const std::string name = "t" + std::to_string(round);
    Create(IndexedTable(name));
    const Table& t = table(name);
    ASSERT_TRUE(CommitAndWait(database_.get(), Put(t.data, "other")).ok());
    WriteUnit first = Put(t.data, "k", "first");
    first.Put(t.local_indexes[0].keyspace, "k", "entry");
    absl::BlockingCounter answers(2);
    const auto done = [&answers](const absl::StatusOr<ChangeSequence>& answer) {
      EXPECT_TRUE(answer.ok());
      answers.DecrementCount();
    };
    database_->commits().Commit(std::move(first), done);
    database_->commits().Commit(Put(t.data, "k", "second"), done);
    answers.Wait();
    EXPECT_EQ(ValueOf(*database_, t.data, "k"), "second");
  }
}

TEST_F(FamilyMakerTest, ClosingTheDatabaseCompletesFirstWrites) {
  constexpr int kTables = 20;
  for (int i = 0; i < kTables; ++i) Create(PlainTable("t" + std::to_string(i)));
  std::atomic<int> written = 0;
  for (int i = 0; i < kTables; ++i) {
    database_->commits().Commit(
        Put(table("t" + std::to_string(i)).data, "k"),
        [&written](const absl::StatusOr<ChangeSequence>& answer) { written += answer.ok() ? 1 : 0; });
  }
  Open();
  EXPECT_EQ(written, kTables);
  for (int i = 0; i < kTables; ++i)
    EXPECT_THAT(KeysOf(*database_, table("t" + std::to_string(i)).data), ElementsAre("k"));
}

TEST_F(FamilyMakerTest, AFamilyWithoutItsFirstWriteIsAnEmptyTable) {
  Create(PlainTable("t"));
  const TableId id = table("t").descriptor.id;
  snapshot_.reset();
  database_.reset();
  {
    const auto rocks = RocksDb::Open(options_.path + "/db", options_);
    ASSERT_TRUE(rocks.ok()) << rocks.status();
    ASSERT_TRUE((*rocks)->CreateFamilies({DataFamilyName(id)}).ok());
  }
  Open();
  EXPECT_THAT(KeysOf(*database_, table("t").data), IsEmpty());
  ASSERT_TRUE(CommitAndWait(database_.get(), Put(table("t").data, "k")).ok());
  EXPECT_THAT(KeysOf(*database_, table("t").data), ElementsAre("k"));
}

TEST_F(FamilyMakerTest, FamiliesThatAreIdleForLongAreFlushed) {
  Create(PlainTable("t"));
  ASSERT_TRUE(CommitAndWait(database_.get(), Put(table("t").data, "k")).ok());
  const std::string family = NameOf(table("t").data);
  snapshot_.reset();
  database_.reset();
  DatabaseOptions options = options_;
  options.idle_flush_ms = 1000;
  auto rocks = *RocksDb::Open(options_.path + "/db", options, RocksDb::IfMissing::kFail);
  const auto rows_in_memory = [&] {
    uint64_t entries = 0;
    EXPECT_TRUE(rocks->db()->GetIntProperty(rocks->Find(family)->handle(),
                                            rocksdb::DB::Properties::kNumEntriesActiveMemTable, &entries));
    return entries;
  };
  const auto write = [&](const std::string& key) {
    rocksdb::WriteBatch batch;
    batch.Put(rocks->Find(family)->handle(), key, "v");
    ASSERT_TRUE(rocks->Write(&batch, /*sync=*/false, "test").ok());
  };
  constexpr int64_t kSecond = 1'000'000'000;
  write("l");
  rocks->FlushIdle(100 * kSecond);
  EXPECT_EQ(rows_in_memory(), 1u);
  write("m");
  rocks->FlushIdle(101 * kSecond);  // not idle: it was written
  EXPECT_EQ(rows_in_memory(), 2u);
  rocks->FlushIdle(102 * kSecond);
  EXPECT_EQ(rows_in_memory(), 0u);
  EXPECT_EQ(*rocks->Get(*rocks->Find(family), "m"), "v");
}

// A start with many families keeps the rows of the log in memory, and the log.
TEST_F(FamilyMakerTest, AStartWithManyFamiliesWritesNoFiles) {
  for (const bool again : {false, true}) {
    snapshot_.reset();
    database_.reset();
    auto rocks = *RocksDb::Open(options_.path + "/db", options_, RocksDb::IfMissing::kFail);
    std::vector<std::string> names;
    for (int i = 0; i < 200; ++i) names.push_back("x" + std::to_string(i));
    ASSERT_TRUE(rocks->CreateFamilies(names).ok());
    for (const std::string& name : names) {
      EXPECT_EQ(*rocks->Get(*rocks->Find(name), "k"), again ? std::optional<std::string>("v") : std::nullopt);
      rocksdb::ColumnFamilyMetaData files;
      rocks->db()->GetColumnFamilyMetaData(rocks->Find(name)->handle(), &files);
      EXPECT_EQ(files.file_count, 0u);
      rocksdb::WriteBatch batch;
      batch.Put(rocks->Find(name)->handle(), "k", "v");
      ASSERT_TRUE(rocks->Write(&batch, /*sync=*/false, "test").ok());
    }
  }
}

}  // namespace armature::store::family_maker_test
