#include "storage/store/database.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "storage/store/data_directory.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::database_test {

class DatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    CreateActive(database_.get(), PlainTable("t"));
    CreateActive(database_.get(), PlainTable("u"));
    snapshot_ = database_->catalog();
    WriteUnit unit(snapshot_);
    for (const char* key : {"a", "b", "c", "d", "e"}) unit.Put(keyspace(), key, std::string("v") + key);
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }

  const Keyspace& keyspace() const { return snapshot_->Find("t")->data; }

  struct Visit {
    std::string keys;
    bool ended = false;
  };
  // Reads [begin, end) and stops at the key `stop_at`.
  Visit Read(std::string begin, std::string end, Direction direction, std::string_view stop_at = "") {
    Visit visit;
    const absl::StatusOr<RangeEnd> ended = database_->rows().ReadRange(
        keyspace(), {std::move(begin), std::move(end)}, direction, [&](std::string_view key, std::string_view value) {
          EXPECT_EQ(value, "v" + std::string(key));
          visit.keys += key;
          return key == stop_at ? RowVerdict::kStop : RowVerdict::kContinue;
        });
    EXPECT_TRUE(ended.ok()) << ended.status();
    visit.ended = *ended == RangeEnd::kReached;
    return visit;
  }

  const test::TempDir dir_;
  std::unique_ptr<Database> database_ = OpenDatabase(TestOptions(dir_.path("data")));
  std::shared_ptr<const CatalogSnapshot> snapshot_;
};

struct RangeCase {
  std::string_view begin, end, forward;
};
constexpr RangeCase kRanges[] = {
    {"", "", "abcde"}, {"b", "", "bcde"}, {"b", "d", "bc"}, {"", "b", "a"},     {"b", "b", ""},
    {"d", "b", ""},    {"f", "", ""},     {"bb", "d", "c"}, {"b", "dd", "bcd"}, {"", "a", ""},
};

TEST_F(DatabaseTest, RangesAreReadInBothDirections) {
  for (const RangeCase& c : kRanges) {
    const Visit forward = Read(std::string(c.begin), std::string(c.end), Direction::kForward);
    EXPECT_EQ(forward.keys, c.forward) << c.begin << ".." << c.end;
    EXPECT_TRUE(forward.ended);
    const Visit reverse = Read(std::string(c.begin), std::string(c.end), Direction::kReverse);
    EXPECT_EQ(reverse.keys, std::string(c.forward.rbegin(), c.forward.rend())) << c.begin << ".." << c.end;
    EXPECT_TRUE(reverse.ended);
  }
}

TEST_F(DatabaseTest, StopEndsTheVisitAlsoOnTheLastRow) {
  const Visit forward = Read("", "", Direction::kForward, "c");
  EXPECT_EQ(forward.keys, "abc");
  EXPECT_FALSE(forward.ended);
  const Visit reverse = Read("", "", Direction::kReverse, "d");
  EXPECT_EQ(reverse.keys, "ed");
  EXPECT_FALSE(reverse.ended);
  EXPECT_FALSE(Read("", "", Direction::kForward, "e").ended);
}

TEST_F(DatabaseTest, ARangeShowsOneMoment) {
  std::string keys;
  const absl::StatusOr<RangeEnd> ended =
      database_->rows().ReadRange(keyspace(), {}, Direction::kForward, [&](std::string_view key, std::string_view) {
        if (key == "a") {
          WriteUnit unit(snapshot_);
          unit.Delete(keyspace(), "c");
          unit.Put(keyspace(), "dd", "new");
          EXPECT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
        }
        keys += key;
        return RowVerdict::kContinue;
      });
  EXPECT_TRUE(ended.ok());
  EXPECT_EQ(keys, "abcde");
}

TEST_F(DatabaseTest, InMemoryALongRunOfDeletedRowsCountsAsBlocking) {
  for (int i = 0; i < 1200; ++i) {
    WriteUnit unit(snapshot_);
    unit.Delete(keyspace(), "bb" + std::to_string(1000 + i));
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }
  for (const ReadMode mode : {ReadMode::kMemoryOnly, ReadMode::kMayBlock}) {
    std::string keys;
    const absl::StatusOr<RangeEnd> ended = database_->rows().ReadRange(
        keyspace(), {}, Direction::kForward,
        [&keys](std::string_view key, std::string_view) {
          keys += key;
          return RowVerdict::kContinue;
        },
        mode);
    ASSERT_TRUE(ended.ok()) << ended.status();
    const bool may_block = mode == ReadMode::kMayBlock;
    EXPECT_EQ(*ended, may_block ? RangeEnd::kReached : RangeEnd::kWouldBlock);
    EXPECT_EQ(keys, may_block ? "abcde" : "ab");
  }
}

TEST_F(DatabaseTest, KeyspacesDoNotMix) {
  EXPECT_TRUE(KeysOf(*database_, snapshot_->Find("u")->data).empty());
  EXPECT_EQ(ValueOf(*database_, snapshot_->Find("u")->data, "a"), "(none)");
}

TEST_F(DatabaseTest, GetTellsFoundFromMissingAndWhatIsInMemory) {
  std::string value;
  EXPECT_EQ(*database_->rows().Get(keyspace(), "a", ReadMode::kMayBlock, &value), GetResult::kFound);
  EXPECT_EQ(value, "va");
  // The row is in the memtable, so no disk access is needed.
  EXPECT_EQ(*database_->rows().Get(keyspace(), "b", ReadMode::kMemoryOnly, &value), GetResult::kFound);
  EXPECT_EQ(value, "vb");
  EXPECT_EQ(*database_->rows().Get(keyspace(), "x", ReadMode::kMayBlock, &value), GetResult::kMissing);
}

TEST_F(DatabaseTest, AMissingRowIsNotSearchedForInTheMemtable) {
  const rocksdb::PerfLevel level = rocksdb::GetPerfLevel();
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->Reset();
  std::string value;
  EXPECT_EQ(*database_->rows().Get(keyspace(), "a", ReadMode::kMayBlock, &value), GetResult::kFound);
  EXPECT_EQ(*database_->rows().Get(keyspace(), "missing", ReadMode::kMayBlock, &value), GetResult::kMissing);
  rocksdb::SetPerfLevel(level);
  EXPECT_EQ(rocksdb::get_perf_context()->bloom_memtable_hit_count, 1);
  EXPECT_EQ(rocksdb::get_perf_context()->bloom_memtable_miss_count, 1);
}

TEST_F(DatabaseTest, SecondOpenOfADirectoryIsRefused) {
  EXPECT_EQ(Database::Open(TestOptions(dir_.path("data"))).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(DatabaseTest, IdIsKeptAcrossReopen) {
  const std::string id = database_->database_id();
  snapshot_.reset();
  database_.reset();
  database_ = OpenDatabase(TestOptions(dir_.path("data")));
  EXPECT_EQ(database_->database_id(), id);
}

// RocksDB would write the options of all families for each table that is made or deleted, while writers wait.
TEST_F(DatabaseTest, NoOptionsAreWrittenForNewFamilies) {
  CreateActive(database_.get(), PlainTable("v"));
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path("data/db"))) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("OPTIONS")) << entry.path();
  }
}

// A lost database must not be replaced by an empty one, and the attempt must not lose more.
TEST_F(DatabaseTest, ALostDatabaseIsNotReplacedByAnEmptyOne) {
  snapshot_.reset();
  database_.reset();
  const std::filesystem::path db = dir_.path("data/db");
  std::filesystem::remove(db / "CURRENT");
  std::set<std::string> before;
  for (const auto& entry : std::filesystem::directory_iterator(db)) before.insert(entry.path().filename());
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_EQ(Database::Open(TestOptions(dir_.path("data"))).status().code(), absl::StatusCode::kDataLoss);
  }
  std::set<std::string> after;
  for (const auto& entry : std::filesystem::directory_iterator(db)) after.insert(entry.path().filename());
  EXPECT_TRUE(std::includes(after.begin(), after.end(), before.begin(), before.end()));
  EXPECT_FALSE(after.contains("CURRENT"));

  std::filesystem::remove_all(db);
  EXPECT_EQ(Database::Open(TestOptions(dir_.path("data"))).status().code(), absl::StatusCode::kDataLoss);
}

// A creation that was interrupted before the database was complete has acknowledged no writes.
TEST_F(DatabaseTest, AnInterruptedCreationIsBegunAgain) {
  const test::TempDir dir;
  ASSERT_TRUE(DataDirectory::Open(LocalVolume(), dir.path("data")).ok());
  std::filesystem::create_directory(dir.path("data/db"));
  std::ofstream(dir.path("data/db/MANIFEST-000001")) << "half";
  EXPECT_TRUE(Database::Open(TestOptions(dir.path("data"))).ok());
  EXPECT_TRUE(Database::Open(TestOptions(dir.path("data"))).ok());
}

// A mark that comes back, from a backup of files or by a mistake, must not cost the database.
TEST_F(DatabaseTest, AFinishedCreationIsNotBegunAgain) {
  database_.reset();
  const std::string mark = dir_.path("data") + std::string(kDataNewFile);
  std::ofstream(mark).close();
  const absl::Status refused = Database::Open(TestOptions(dir_.path("data"))).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_EQ(refused.message(), "data directory " + dir_.path("data") +
                                   " holds armature.new, with which a start removes the database, although its "
                                   "creation was finished; nothing was changed: remove that file");
  std::filesystem::remove(mark);
  database_ = OpenDatabase(TestOptions(dir_.path("data")));
  snapshot_ = database_->catalog();
  EXPECT_EQ(Read("", "", Direction::kForward).keys, "abcde");
}

}  // namespace armature::store::database_test
