// Range reads jump over deleted rows that were passed before, and over nothing else.

#include "storage/store/dead_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::dead_ranges_test {

constexpr uint32_t kFamily = 7;

// The ranges of `kFamily` for a read that sees `sequence`, as text.
std::string Shown(DeadRanges* ranges, uint64_t sequence) {
  const DeadRanges::Mark mark = ranges->BeginRead(kFamily, sequence);
  std::string text;
  std::string from;
  while (const std::optional<DeadRanges::Range> next = ranges->Next(kFamily, mark, from, /*forward=*/true)) {
    text += "[" + next->begin + "," + next->end + ")";
    if (next->end.empty()) break;
    from = next->end;
  }
  std::replace(text.begin(), text.end(), '\0', '0');
  return text;
}

void Add(DeadRanges* ranges, const std::string& begin, const std::string& end, uint64_t sequence) {
  ranges->Add(kFamily, ranges->BeginRead(kFamily, sequence), {begin, end}, sequence);
}

void Put(DeadRanges* ranges, std::string_view key) {
  const uint64_t write = ranges->BeginWrite();
  ranges->NotePut(write, kFamily, key);
  ranges->EndWrite(write);
}

TEST(DeadRanges, MergeWhereTheyTouchAndSplitAtPuts) {
  DeadRanges ranges;
  ranges.Watch(kFamily);
  Add(&ranges, "b", "d", 1);
  Add(&ranges, "f", "h", 1);
  EXPECT_EQ(Shown(&ranges, 1), "[b,d)[f,h)");
  Add(&ranges, "d", "e", 1);
  EXPECT_EQ(Shown(&ranges, 1), "[b,e)[f,h)");
  Add(&ranges, "c", "g", 1);
  EXPECT_EQ(Shown(&ranges, 1), "[b,h)");
  Put(&ranges, "b");
  Put(&ranges, "e");
  Put(&ranges, "h");
  EXPECT_EQ(Shown(&ranges, 1), "[b0,e)[e0,h)");
  Add(&ranges, "a", "", 1);
  EXPECT_EQ(Shown(&ranges, 1), "[a,)");
}

TEST(DeadRanges, HoldOnlyForReadsThatSeeAsMuch) {
  DeadRanges ranges;
  ranges.Watch(kFamily);
  Add(&ranges, "a", "b", 10);
  Add(&ranges, "c", "d", 20);
  EXPECT_EQ(Shown(&ranges, 9), "");
  EXPECT_EQ(Shown(&ranges, 10), "[a,b)");
  EXPECT_EQ(Shown(&ranges, 20), "[a,b)[c,d)");
}

TEST(DeadRanges, ARangeLosesThePutsThatItsReadMayNotHaveSeen) {
  DeadRanges ranges;
  ranges.Watch(kFamily);
  const uint64_t slow = ranges.BeginWrite();
  ranges.NotePut(slow, kFamily, "c");
  const DeadRanges::Mark mark = ranges.BeginRead(kFamily, 1);
  ranges.EndWrite(slow);
  ranges.Add(kFamily, mark, {"a", "e"}, 1);
  EXPECT_EQ(Shown(&ranges, 1), "[a,c)");
}

TEST(DeadRanges, ReadsBesideWritesFromBeforeTheWatchAddNothing) {
  DeadRanges ranges;
  const uint64_t slow = ranges.BeginWrite();  // notes nothing
  ranges.Watch(kFamily);
  const DeadRanges::Mark mark = ranges.BeginRead(kFamily, 1);
  EXPECT_FALSE(mark.is_watched);
  ranges.EndWrite(slow);
  ranges.Add(kFamily, mark, {"a", "e"}, 1);
  EXPECT_EQ(Shown(&ranges, 1), "");
}

TEST(DeadRanges, AReadThatIsTooOldAddsNothing) {
  DeadRanges ranges;
  ranges.Watch(kFamily);
  Add(&ranges, "x", "y", 1);  // keeps the family watched
  const DeadRanges::Mark mark = ranges.BeginRead(kFamily, 1);
  for (int i = 0; i < 10'000; ++i) Put(&ranges, "c" + std::to_string(i));
  ranges.Add(kFamily, mark, {"a", "e"}, 1);
  EXPECT_EQ(Shown(&ranges, 1), "[x,y)");
}

TEST(DeadRanges, APutThatIsForgottenStaysOneWhenAnOlderWriteNotedLater) {
  DeadRanges ranges;
  ranges.Watch(kFamily);
  Add(&ranges, "x", "y", 1);  // keeps the family watched
  const uint64_t first = ranges.BeginWrite();
  const uint64_t second = ranges.BeginWrite();
  ranges.NotePut(second, kFamily, "k");
  ranges.NotePut(first, kFamily, "z0");
  ranges.EndWrite(first);
  const DeadRanges::Mark mark = ranges.BeginRead(kFamily, 1);  // does not see "k"
  ranges.EndWrite(second);
  for (int i = 0; i < 10'000; ++i) {
    Put(&ranges, "z" + std::to_string(i));
    DeadRanges::Range range{"a", "m"};
    ranges.Add(kFamily, mark, range, 1);
    ASSERT_NE(Shown(&ranges, 1).substr(0, 5), "[a,m)") << i;
  }
}

TEST(DeadRanges, AFamilyIsNoLongerWatchedWhenNothingIsKnownOfIt) {
  DeadRanges ranges;
  ranges.Watch(kFamily);
  EXPECT_TRUE(ranges.is_any_watched());
  for (int i = 0; i < 10'000; ++i) Put(&ranges, "c" + std::to_string(i));
  EXPECT_FALSE(ranges.is_any_watched());
}

std::string Name(int number) { return "r" + std::to_string(100'000 + number); }

class DeletedRowsTest : public testing::Test {
 protected:
  void SetUp() override {
    DatabaseOptions options = TestOptions(dir_.path("data"));
    options.memtable_bytes = size_t{64} << 20;
    database_ = OpenDatabase(options);
    snapshot_ = CreateActive(database_.get(), PlainTable("t"));
  }
  const Keyspace& rows() const { return snapshot_->Find("t")->data; }

  void PutRows(int from, int to) {
    WriteUnit unit(snapshot_);
    for (int row = from; row < to; ++row) unit.Put(rows(), Name(row), "v");
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }
  void DeleteRows(int from, int to) {
    WriteUnit unit(snapshot_);
    for (int row = from; row < to; ++row) unit.Delete(rows(), Name(row));
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }
  // Keys of a read that goes on after pauses. `reads`: their number.
  std::vector<std::string> Read(KeyRange range, Direction direction, uint64_t skipped_max, int* reads) {
    std::vector<std::string> keys;
    for (*reads = 1; *reads < 10'000; ++*reads) {
      const auto goes_on = [] { return true; };
      SkipLimit limit{.skipped_max = skipped_max, .goes_on = goes_on, .passed = {}};
      const absl::StatusOr<RangeEnd> end = database_->rows().ReadRange(
          rows(), range, direction,
          [&keys](std::string_view key, std::string_view) {
            keys.emplace_back(key);
            return RowVerdict::kContinue;
          },
          ReadMode::kMayBlock, &limit);
      EXPECT_TRUE(end.ok()) << end.status();
      if (!end.ok() || *end != RangeEnd::kPaused) break;
      (direction == Direction::kForward ? range.begin : range.end) =
          direction == Direction::kForward ? limit.passed + '\0' : limit.passed;
    }
    return keys;
  }
  std::vector<std::string> ReadAll(Direction direction = Direction::kForward) {
    int reads = 0;
    return Read({}, direction, UINT64_MAX - 1, &reads);
  }

  test::TempDir dir_;
  std::unique_ptr<Database> database_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
};

TEST_F(DeletedRowsTest, AreSteppedOverByTheFirstReads) {
  PutRows(0, 6000);
  DeleteRows(1, 5999);
  const std::vector<std::string> live = {Name(0), Name(5999)};
  EXPECT_EQ(ReadAll(), live);
  EXPECT_EQ(ReadAll(), live);
  int reads = 0;
  EXPECT_EQ(Read({}, Direction::kForward, 20, &reads), live);
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(Read({}, Direction::kReverse, 20, &reads), (std::vector<std::string>{live[1], live[0]}));
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(Read({Name(2000), Name(4000)}, Direction::kForward, 20, &reads), std::vector<std::string>());
  EXPECT_EQ(reads, 1);
}

TEST_F(DeletedRowsTest, OfAQueueAreSteppedOverOnce) {
  constexpr int kStep = 25;
  PutRows(0, 200);
  int paused = 0;
  for (int head = 0; head < 5000; head += kStep) {
    PutRows(head + 200, head + 200 + kStep);
    DeleteRows(head, head + kStep);
    int reads = 0;
    const std::vector<std::string> keys = Read({}, Direction::kForward, 200, &reads);
    ASSERT_EQ(keys.size(), size_t{200});
    ASSERT_EQ(keys.front(), Name(head + kStep));
    if (reads > 1) ++paused;
  }
  EXPECT_LT(paused, 5);
}

TEST_F(DeletedRowsTest, ThatComeBackAreRead) {
  PutRows(0, 3000);
  DeleteRows(0, 3000);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ReadAll().empty());
  for (const int row : {0, 1500, 2999, 3500, 1501}) {
    PutRows(row, row + 1);
    EXPECT_EQ(ReadAll(), std::vector<std::string>{Name(row)});
    EXPECT_EQ(ReadAll(Direction::kReverse), std::vector<std::string>{Name(row)});
    DeleteRows(row, row + 1);
    EXPECT_TRUE(ReadAll().empty());
    EXPECT_TRUE(ReadAll(Direction::kReverse).empty());
  }
}

TEST_F(DeletedRowsTest, RandomHistoriesReadLikeAModel) {
  std::mt19937 rng(1);
  std::map<std::string, bool> model;
  const auto random = [&rng](int end) { return static_cast<int>(rng() % static_cast<unsigned>(end)); };
  for (int step = 0; step < 600; ++step) {
    const int from = random(3000);
    const int to = from + 1 + random(step % 7 == 0 ? 1500 : 30);
    if (random(3) == 0) {
      PutRows(from, to);
      for (int row = from; row < to; ++row) model[Name(row)] = true;
    } else {
      DeleteRows(from, to);
      for (int row = from; row < to; ++row) model.erase(Name(row));
    }
    const int begin = random(4500);
    KeyRange range{random(4) == 0 ? "" : Name(begin), random(4) == 0 ? "" : Name(begin + random(3000))};
    if (!range.end.empty() && range.begin >= range.end) continue;
    std::vector<std::string> expected;
    for (auto it = model.lower_bound(range.begin); it != model.end(); ++it) {
      if (!range.end.empty() && it->first >= range.end) break;
      expected.push_back(it->first);
    }
    const Direction direction = random(2) == 0 ? Direction::kForward : Direction::kReverse;
    if (direction == Direction::kReverse) std::reverse(expected.begin(), expected.end());
    int reads = 0;
    ASSERT_EQ(Read(range, direction, random(2) == 0 ? UINT64_MAX - 1 : 1500, &reads), expected) << "step " << step;
  }
}

TEST_F(DeletedRowsTest, AcknowledgedRowsAreReadBesideOtherReads) {
  PutRows(0, 3000);
  DeleteRows(0, 3000);
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    readers.emplace_back([&, direction] {
      while (!done) ReadAll(direction);
    });
  }
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    const int row = i * 7 % 3000;
    PutRows(row, row + 1);
    if (ReadAll(i % 2 == 0 ? Direction::kForward : Direction::kReverse) != std::vector<std::string>{Name(row)}) ++wrong;
    DeleteRows(row, row + 1);
    if (!ReadAll().empty()) ++wrong;
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace armature::store::dead_ranges_test
