// Range reads among many deleted rows: the limit on what they skip, and the compaction that removes it.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::skip_limit_test {

constexpr int kRows = 40'000;
constexpr int kEachLive = 9'000;  // one row of so many stays

// Five digits, so that names sort like numbers.
std::string Name(int number) { return "r" + std::to_string(100'000 + number).substr(1); }

struct Passes {
  std::vector<std::string> visited;
  int reads = 0;
  int steps = 0;  // number of times that a read asked whether to go on
};

class SkipLimitTest : public testing::Test {
 protected:
  void SetUp() override {
    Open();
    snapshot_ = CreateActive(database_.get(), IndexedTable("t"));
    Write([](WriteUnit* unit, const Keyspace& keyspace, int row) { unit->Put(keyspace, Name(row), "value"); });
  }

  void Open() {
    snapshot_.reset();
    database_.reset();
    DatabaseOptions options = TestOptions(dir_.path("data"));
    options.memtable_bytes = size_t{64} << 20;  // only Open writes files
    database_ = OpenDatabase(options);
    snapshot_ = database_->catalog();
  }
  const Table& table() const { return *snapshot_->Find("t"); }
  const Keyspace& rows() const { return table().data; }
  const Keyspace& index() const { return table().local_indexes[0].keyspace; }

  void Write(const std::function<void(WriteUnit*, const Keyspace&, int)>& write) {
    WriteUnit unit(snapshot_);
    for (const Keyspace* const keyspace : {&rows(), &index()}) {
      for (int row = 0; row < kRows; ++row) write(&unit, *keyspace, row);
    }
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }
  void DeleteMost() {
    Write([](WriteUnit* unit, const Keyspace& keyspace, int row) {
      if (row % kEachLive != 0) unit->Delete(keyspace, Name(row));
    });
  }

  // Reads the whole table in pieces. Each read that pauses is continued behind the key that it passed.
  Passes ReadAll(Direction direction, uint64_t skipped_max, bool joined) {
    Passes passes;
    KeyRange range;
    RangeEnd end = RangeEnd::kPaused;
    while (end == RangeEnd::kPaused && passes.reads < 1000) {
      ++passes.reads;
      const auto goes_on = [&passes] { return ++passes.steps > 0; };
      SkipLimit limit{.skipped_max = skipped_max, .goes_on = goes_on, .passed = {}};
      const absl::StatusOr<RangeEnd> ended = joined ? ReadEntries(range, direction, &limit, &passes.visited)
                                                    : database_->rows().ReadRange(
                                                          rows(), range, direction,
                                                          [&passes](std::string_view key, std::string_view) {
                                                            passes.visited.emplace_back(key);
                                                            return RowVerdict::kContinue;
                                                          },
                                                          ReadMode::kMayBlock, &limit);
      EXPECT_TRUE(ended.ok()) << ended.status();
      if (!ended.ok()) break;
      end = *ended;
      (direction == Direction::kForward ? range.begin : range.end) =
          direction == Direction::kForward ? limit.passed + '\0' : limit.passed;
    }
    EXPECT_EQ(end, RangeEnd::kReached);
    return passes;
  }

  absl::StatusOr<RangeEnd> ReadEntries(const KeyRange& range, Direction direction, SkipLimit* limit,
                                       std::vector<std::string>* visited) {
    // Each entry has the row of its own key, which the visitor does not see: the n-th entry is the n-th live row.
    class Visitor final : public JoinVisitor {
     public:
      explicit Visitor(std::vector<std::string>* rows) : rows_(rows) {}
      absl::StatusOr<Choice> Choose(std::string_view) override { return Choice{.row_key = Name(0)}; }
      absl::StatusOr<RowVerdict> Visit(std::string_view entry, std::optional<std::string_view>) override {
        rows_->emplace_back(entry);
        return RowVerdict::kContinue;
      }

     private:
      std::vector<std::string>* const rows_;
    } visitor(visited);
    return database_->rows().ReadJoined(index(), range, direction, rows(), &visitor, ReadMode::kMayBlock, limit);
  }

  static std::vector<std::string> Live() {
    std::vector<std::string> live;
    for (int row = 0; row < kRows; row += kEachLive) live.push_back(Name(row));
    return live;
  }

  test::TempDir dir_;
  std::unique_ptr<Database> database_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
};

TEST_F(SkipLimitTest, PiecesOfAReadVisitEveryLiveRowOnce) {
  DeleteMost();
  const std::vector<std::string> live = Live();
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    const Passes passes = ReadAll(direction, 5000, /*joined=*/false);
    std::vector<std::string> expected = live;
    if (direction == Direction::kReverse) std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(passes.visited, expected);
    EXPECT_LE(passes.reads, 4 * kRows / 5000);
    const Passes entries = ReadAll(direction, 5000, /*joined=*/true);
    EXPECT_EQ(entries.visited.size(), live.size());
    EXPECT_LE(entries.reads, 4 * kRows / 5000);
    // Later reads jump over most of what the first ones passed.
    if (direction != Direction::kForward) continue;
    EXPECT_GE(passes.reads, kRows / 5000 / 2);
    EXPECT_GE(entries.reads, kRows / 5000 / 2);
  }
}

TEST_F(SkipLimitTest, LaterJoinedReadsJumpOverWhatTheFirstOnesPassed) {
  DeleteMost();
  for (int i = 0; i < 2; ++i) ReadAll(Direction::kForward, UINT64_MAX - 1, /*joined=*/true);
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    const Passes entries = ReadAll(direction, 20, /*joined=*/true);
    EXPECT_EQ(entries.visited.size(), Live().size());
    EXPECT_EQ(entries.reads, 1);
  }
}

TEST_F(SkipLimitTest, RunsOfDeletedRowsBetweenLiveOnesCountTogether) {
  Write([](WriteUnit* unit, const Keyspace& keyspace, int row) {
    if (row % 500 != 0) unit->Delete(keyspace, Name(row));
  });
  const Passes passes = ReadAll(Direction::kForward, 5000, /*joined=*/false);
  EXPECT_EQ(passes.visited.size(), size_t{kRows / 500});
  EXPECT_GE(passes.reads, kRows / 5000 / 2);
}

TEST_F(SkipLimitTest, WithoutDeletedRowsThereIsNoPause) {
  const Passes passes = ReadAll(Direction::kForward, 5000, /*joined=*/false);
  EXPECT_EQ(passes.visited.size(), size_t{kRows});
  EXPECT_EQ(passes.reads, 1);
  EXPECT_EQ(ReadAll(Direction::kReverse, 5000, /*joined=*/false).reads, 1);
}

TEST_F(SkipLimitTest, ARefusalToGoOnPausesTheReadAtOnce) {
  DeleteMost();
  int asked = 0;
  const auto goes_on = [&asked] { return ++asked < 3; };
  SkipLimit limit{.skipped_max = UINT64_MAX / 2, .goes_on = goes_on, .passed = {}};
  const auto visit = [](std::string_view, std::string_view) { return RowVerdict::kContinue; };
  const absl::StatusOr<RangeEnd> ended =
      database_->rows().ReadRange(rows(), {}, Direction::kForward, visit, ReadMode::kMayBlock, &limit);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(*ended, RangeEnd::kPaused);
  EXPECT_EQ(asked, 3);
}

TEST_F(SkipLimitTest, AReadFromMemoryGivesUpAmongScatteredDeletedRows) {
  Write([](WriteUnit* unit, const Keyspace& keyspace, int row) {
    if (row % 500 != 0) unit->Delete(keyspace, Name(row));
  });
  int visited = 0;
  const absl::StatusOr<RangeEnd> ended = database_->rows().ReadRange(
      rows(), {}, Direction::kForward,
      [&visited](std::string_view, std::string_view) {
        ++visited;
        return RowVerdict::kContinue;
      },
      ReadMode::kMemoryOnly);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(*ended, RangeEnd::kWouldBlock);
  EXPECT_LT(visited, 10);
}

TEST_F(SkipLimitTest, AFileOfDeletionsIsCompactedSoon) {
  Open();  // writes the rows to files
  DeleteMost();
  EXPECT_GT(ReadAll(Direction::kForward, UINT64_MAX / 2, /*joined=*/false).steps, 0);
  Open();  // writes the deletions to files
  EXPECT_TRUE(Eventually([&] {
    const FileStats files = database_->stats().files;
    return files.compaction_read_bytes_total > 0 && files.compactions_running == 0;
  }));
  EXPECT_EQ(ReadAll(Direction::kForward, UINT64_MAX / 2, /*joined=*/false).steps, 0);
}

}  // namespace armature::store::skip_limit_test
