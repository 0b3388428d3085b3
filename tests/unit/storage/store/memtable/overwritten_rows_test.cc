// Reads among old versions of rows: memtables drop those that no read needs, and no others.

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "glog/logging.h"
#include "rocksdb/env.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/utilities/debug.h"
#include "rocksdb/write_batch.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_options.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::overwritten_rows_test {

constexpr int kRows = 200;
// More than the number of rows whose old version is not dropped yet, see kOverwrittenMin of the memtable.
constexpr uint64_t kFewSkipped = 60;

// Rows of one partition, whose keys begin with the same bytes, or each of a partition of its own.
enum class Keys { kNear, kSpread };

class OverwrittenRowsTest : public testing::TestWithParam<Keys> {
 protected:
  static std::string Name(int number) {
    const uint32_t hash = GetParam() == Keys::kNear ? 0x72727272 : static_cast<uint32_t>(number) * (UINT32_MAX / kRows);
    std::string name = {static_cast<char>(hash >> 24), static_cast<char>(hash >> 16), static_cast<char>(hash >> 8),
                        static_cast<char>(hash)};
    return name + std::to_string(1000 + number);
  }

  void SetUp() override { Open(size_t{64} << 20); }

  void Open(size_t memtable_bytes) {
    snapshot_.reset();
    database_.reset();
    DatabaseOptions options = TestOptions(dir_.path("data"));
    options.memtable_bytes = memtable_bytes;
    database_ = OpenDatabase(options);
    snapshot_ = database_->catalog();
    if (snapshot_->Find("t") == nullptr) snapshot_ = CreateActive(database_.get(), PlainTable("t"));
  }
  const Keyspace& rows() const { return snapshot_->Find("t")->data; }

  // Gives all rows one value, in one commit.
  void WriteAll(const std::string& value) {
    WriteUnit unit(snapshot_);
    for (int row = 0; row < kRows; ++row) unit.Put(rows(), Name(row), value);
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }
  void WriteGenerations(int from, int to) {
    for (int generation = from; generation < to; ++generation) WriteAll(std::to_string(generation));
  }
  void DeleteAll() {
    WriteUnit unit(snapshot_);
    for (int row = 0; row < kRows; ++row) unit.Delete(rows(), Name(row));
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }

  // Values of all rows, in the order of the read. Skips at most `skipped_max`.
  std::vector<std::string> Read(Direction direction, uint64_t skipped_max) {
    std::vector<std::string> values;
    const auto goes_on = [] { return true; };
    SkipLimit limit{.skipped_max = skipped_max, .goes_on = goes_on, .passed = {}};
    const absl::StatusOr<RangeEnd> end = database_->rows().ReadRange(
        rows(), {}, direction,
        [&values](std::string_view, std::string_view value) {
          values.emplace_back(value);
          return RowVerdict::kContinue;
        },
        ReadMode::kMayBlock, &limit);
    EXPECT_TRUE(end.ok()) << end.status();
    EXPECT_EQ(*end, RangeEnd::kReached) << "skipped more than " << skipped_max;
    return values;
  }
  static std::vector<std::string> All(const std::string& value) { return std::vector<std::string>(kRows, value); }
  std::vector<std::string> ReadSnapshot(const KeyspaceSnapshot& snapshot) {
    std::vector<std::string> values;
    const absl::StatusOr<RangeEnd> end = snapshot.ReadRange({}, [&values](std::string_view, std::string_view value) {
      values.emplace_back(value);
      return RowVerdict::kContinue;
    });
    EXPECT_TRUE(end.ok()) << end.status();
    return values;
  }

  test::TempDir dir_;
  std::unique_ptr<Database> database_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
};

TEST_P(OverwrittenRowsTest, AreNotSteppedOver) {
  WriteGenerations(0, 30);
  WriteUnit unit(snapshot_);  // drops what the last generation overwrote
  for (int row = 0; row < 20; ++row) unit.Put(rows(), Name(row), "29");
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  EXPECT_EQ(Read(Direction::kForward, kFewSkipped), All("29"));
  EXPECT_EQ(Read(Direction::kReverse, kFewSkipped), All("29"));
}

TEST_P(OverwrittenRowsTest, ReadsSeeTheNewestVersionAfterEachWrite) {
  for (int generation = 0; generation < 20; ++generation) {
    WriteAll(std::to_string(generation));
    EXPECT_EQ(Read(Direction::kForward, UINT64_MAX - 1), All(std::to_string(generation)));
    EXPECT_EQ(Read(Direction::kReverse, UINT64_MAX - 1), All(std::to_string(generation)));
    EXPECT_EQ(ValueOf(*database_, rows(), Name(generation)), std::to_string(generation));
    if (generation % 3 != 2) continue;
    DeleteAll();
    EXPECT_TRUE(Read(Direction::kForward, UINT64_MAX - 1).empty());
    EXPECT_EQ(ValueOf(*database_, rows(), Name(generation)), "(none)");
  }
}

TEST_P(OverwrittenRowsTest, AreKeptForTheSnapshotsThatShowThem) {
  WriteGenerations(0, 3);
  const std::unique_ptr<KeyspaceSnapshot> first = database_->rows().TakeSnapshot(rows());
  WriteGenerations(3, 6);
  const std::unique_ptr<KeyspaceSnapshot> second = database_->rows().TakeSnapshot(rows());
  DeleteAll();
  const std::unique_ptr<KeyspaceSnapshot> empty = database_->rows().TakeSnapshot(rows());
  WriteGenerations(6, 40);
  EXPECT_EQ(ReadSnapshot(*first), All("2"));
  EXPECT_EQ(ReadSnapshot(*second), All("5"));
  EXPECT_TRUE(ReadSnapshot(*empty).empty());
  // One version for each snapshot, the newest, and the one before it.
  EXPECT_EQ(Read(Direction::kForward, 4 * kRows + kFewSkipped), All("39"));
}

// As an export does, which takes minutes.
TEST_P(OverwrittenRowsTest, AreDroppedWhileASnapshotIsRead) {
  WriteAll("first");
  const std::unique_ptr<KeyspaceSnapshot> snapshot = database_->rows().TakeSnapshot(rows());
  int visited = 0;
  const absl::StatusOr<RangeEnd> end = snapshot->ReadRange({}, [&](std::string_view, std::string_view value) {
    EXPECT_EQ(value, "first");
    if (++visited % 50 == 1) {
      WriteGenerations(visited, visited + 30);
      EXPECT_EQ(Read(Direction::kForward, 2 * kRows + kFewSkipped), All(std::to_string(visited + 29)));
    }
    return RowVerdict::kContinue;
  });
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(visited, kRows);
}

TEST_P(OverwrittenRowsTest, AreDroppedAfterTheirSnapshots) {
  WriteGenerations(0, 3);
  std::vector<std::unique_ptr<KeyspaceSnapshot>> snapshots;
  for (int i = 0; i < 10; ++i) {
    snapshots.push_back(database_->rows().TakeSnapshot(rows()));
    WriteAll("later");
  }
  snapshots.clear();
  WriteGenerations(3, 6);
  EXPECT_EQ(Read(Direction::kForward, kRows + kFewSkipped), All("5"));
}

TEST_P(OverwrittenRowsTest, AreDroppedLittleByLittleAfterALongRead) {
  WriteAll("first");
  ASSERT_TRUE(database_->rows()
                  .ReadRange(rows(), {}, Direction::kForward,
                             [&](std::string_view, std::string_view) {
                               WriteGenerations(0, 20);
                               return RowVerdict::kStop;
                             })
                  .ok());
  WriteUnit unit(snapshot_);
  for (int i = 0; i < 20; ++i) unit.Put(rows(), Name(0), "19");
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  const uint64_t before = rocksdb::get_perf_context()->internal_key_skipped_count;
  EXPECT_EQ(Read(Direction::kForward, UINT64_MAX - 1), All("19"));
  EXPECT_GT(rocksdb::get_perf_context()->internal_key_skipped_count - before, 1000U);
  WriteAll("last");
  EXPECT_EQ(Read(Direction::kForward, kRows + kFewSkipped), All("last"));
}

// A read that began before all of them keeps the versions of one row, which other reads find their way around.
TEST_P(OverwrittenRowsTest, AreNoDetourForReadsOfOtherRows) {
  WriteAll("first");
  uint64_t compared = 0;
  const absl::StatusOr<RangeEnd> end =
      database_->rows().ReadRange(rows(), {}, Direction::kForward, [&](std::string_view, std::string_view) {
        for (int write = 0; write < 40; ++write) {
          WriteUnit unit(snapshot_);
          for (int i = 0; i < 100; ++i) unit.Put(rows(), Name(100), std::to_string(write));
          if (!CommitAndWait(database_.get(), std::move(unit)).ok()) ADD_FAILURE();
        }
        const uint64_t before = rocksdb::get_perf_context()->user_key_comparison_count;
        for (int row = 101; row < 106; ++row) EXPECT_EQ(ValueOf(*database_, rows(), Name(row)), "first");
        compared = rocksdb::get_perf_context()->user_key_comparison_count - before;
        return RowVerdict::kStop;
      });
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_GT(compared, 0U);
  EXPECT_LT(compared, 1000U);
}

// With a sanitizer, which has an allocator of its own, the check for leaks at the end of the program is the test.
TEST_P(OverwrittenRowsTest, PointReadsKeepNoMemory) {
  constexpr int kReads = 20000;
  WriteAll("v");
  EXPECT_EQ(ValueOf(*database_, rows(), Name(0)), "v");
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < kReads; ++i) ValueOf(*database_, rows(), Name(i % kRows));
  const size_t after = mallinfo2().uordblks;
  EXPECT_LT(after, before + size_t{kReads} * 8);
}

// Reads rows one by one, and overwrites all of them in between.
TEST_P(OverwrittenRowsTest, AreKeptForReadsInProgress) {
  WriteAll("first");
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    std::vector<std::string> values;
    int visited = 0;
    const absl::StatusOr<RangeEnd> end =
        database_->rows().ReadRange(rows(), {}, direction, [&](std::string_view, std::string_view value) {
          values.emplace_back(value);
          if (++visited % 50 == 1) WriteGenerations(visited, visited + 3);
          return RowVerdict::kContinue;
        });
    ASSERT_TRUE(end.ok()) << end.status();
    EXPECT_EQ(values, All(values.front()));
  }
}

// More reads at one time than are registered one by one.
TEST_P(OverwrittenRowsTest, AreKeptForACrowdOfReads) {
  WriteAll("first");
  int depth = 0;
  int complete = 0;
  const std::function<void()> read = [&] {
    if (++depth == 80) return WriteGenerations(0, 4);
    std::vector<std::string> values;
    const absl::StatusOr<RangeEnd> end =
        database_->rows().ReadRange(rows(), {}, Direction::kForward, [&](std::string_view, std::string_view value) {
          values.emplace_back(value);
          if (values.size() == 1) read();
          return RowVerdict::kContinue;
        });
    ASSERT_TRUE(end.ok()) << end.status();
    if (values == All("first")) ++complete;
  };
  read();
  EXPECT_EQ(complete, 79);
}

TEST_P(OverwrittenRowsTest, LeaveNoTraceInFlushedMemtables) {
  Open(size_t{256} << 10);
  const std::string filler(500, 'x');
  for (int i = 0; i < 20; ++i) WriteAll(std::to_string(i) + filler);
  DeleteAll();
  for (int i = 20; i < 40; ++i) WriteAll(std::to_string(i) + filler);
  EXPECT_TRUE(Read(Direction::kForward, UINT64_MAX - 1) == All("39" + filler));
  EXPECT_GT(database_->stats().files.flush_bytes_total, 0);
  Open(size_t{64} << 20);
  EXPECT_TRUE(Read(Direction::kForward, UINT64_MAX - 1) == All("39" + filler));
  EXPECT_EQ(database_->stats().files.background_errors_total, 0);
}

INSTANTIATE_TEST_SUITE_P(Near, OverwrittenRowsTest, testing::Values(Keys::kNear));
INSTANTIATE_TEST_SUITE_P(Spread, OverwrittenRowsTest, testing::Values(Keys::kSpread));

// Collects log lines while it exists.
class LogLines : public google::LogSink {
 public:
  LogLines() { google::AddLogSink(this); }
  ~LogLines() override { google::RemoveLogSink(this); }
  void send(google::LogSeverity severity, const char*, const char*, int, const google::LogMessageTime&,
            const char* message, size_t size) override {
    text += severity == google::GLOG_ERROR ? "E " : "W ";
    text.append(message, size) += '\n';
  }
  std::string text;
};

void WarnOfFlush(const std::shared_ptr<rocksdb::Logger>& logger, const char* family, const char* text) {
  rocksdb::Warn(logger, "[db/flush_job.cc:957] [%s] [JOB 3] Level-0 flush %s", family, text);
}

TEST(OverwrittenRowsLog, FlushesOfOtherFamiliesThatReadFewerEntriesAreErrors) {
  const std::shared_ptr<rocksdb::Logger> logger = MakeRocksLogger();
  LogLines lines;
  for (const char* const family : {"t1", "l1.2", "g1.2", "c1", "meta", "log", "default"}) {
    WarnOfFlush(logger, family, "Expected 5 entries in memtables, but read 4");
  }
  WarnOfFlush(logger, "t1", "is slow");
  rocksdb::Warn(logger, "Expected 5 entries in memtables, but read 4");
  EXPECT_EQ(
      lines.text,
      "E rocksdb: [db/flush_job.cc:957] [log] [JOB 3] Level-0 flush Expected 5 entries in memtables, but read 4\n"
      "E rocksdb: [db/flush_job.cc:957] [default] [JOB 3] Level-0 flush Expected 5 entries in memtables, but read 4\n"
      "W rocksdb: [db/flush_job.cc:957] [t1] [JOB 3] Level-0 flush is slow\n"
      "E rocksdb: Expected 5 entries in memtables, but read 4\n");
}

// Each commit overwrites totals and the last sequence.
TEST(OverwrittenMeta, DropsOldVersions) {
  const test::TempDir dir;
  const DatabaseOptions options = TestOptions(dir.path("data"));
  const std::unique_ptr<RocksDb> rocks = *RocksDb::Open(options.path, options);
  constexpr int kWrites = 2000;
  for (int i = 0; i < kWrites; ++i) {
    rocksdb::WriteBatch batch;
    for (const char* const key : {"a", "b"}) batch.Put(rocks->meta()->handle(), key, std::to_string(i));
    ASSERT_TRUE(rocks->Write(&batch, /*sync=*/false, "write").ok());
  }
  std::vector<rocksdb::KeyVersion> versions;
  ASSERT_TRUE(rocksdb::GetAllKeyVersions(rocks->db(), rocks->meta()->handle(), "a", "c", kWrites, &versions).ok());
  EXPECT_LT(versions.size(), kFewSkipped);
  for (const char* const key : {"a", "b"}) EXPECT_EQ(*rocks->Get(*rocks->meta(), key), std::to_string(kWrites - 1));
}

TEST_P(OverwrittenRowsTest, ConcurrentReadsSeeOneGenerationOfAllRows) {
  constexpr int kGenerations = 400;
  WriteAll("0");
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0;
  std::atomic<int> missing = 0;
  std::vector<std::thread> readers;
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    readers.emplace_back([&, direction] {
      while (!done) {
        const std::vector<std::string> values = Read(direction, UINT64_MAX - 1);
        if (values.empty() || values != All(values.front())) ++torn;
      }
    });
  }
  readers.emplace_back([&] {
    for (int row = 0; !done; row = (row + 1) % kRows) {
      if (ValueOf(*database_, rows(), Name(row)) == "(none)") ++missing;
    }
  });
  for (int generation = 1; generation < kGenerations; ++generation) {
    WriteAll(std::to_string(generation));
    if (generation % 40 == 0) {
      const std::unique_ptr<KeyspaceSnapshot> snapshot = database_->rows().TakeSnapshot(rows());
      WriteGenerations(generation, generation + 2);
      if (ReadSnapshot(*snapshot) != All(std::to_string(generation))) ++torn;
    }
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(missing, 0);
}

}  // namespace armature::store::overwritten_rows_test
