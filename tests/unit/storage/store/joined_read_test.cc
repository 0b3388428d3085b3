#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "storage/base/strings.h"
#include "storage/store/database.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::joined_read_test {

using codec::ToHex;

// Several times the size of one read batch.
constexpr int kEntries = 100;

// Three digits, so that names sort like numbers.
std::string Name(char kind, int number) { return kind + std::to_string(1000 + number).substr(1); }

// Calls its functions. By default each entry's value is the key of its row.
class TestVisitor final : public JoinVisitor {
 public:
  absl::StatusOr<Choice> Choose(std::string_view entry) override {
    chosen.emplace_back(entry);
    return choose(entry);
  }
  absl::StatusOr<RowVerdict> Visit(std::string_view entry, std::optional<std::string_view> row) override {
    visited.emplace_back(entry, row.has_value() ? std::string(*row) : "(none)");
    return visit(entry);
  }

  std::function<absl::StatusOr<Choice>(std::string_view)> choose = [](std::string_view entry) {
    return Choice{.row_key = std::string(entry)};
  };
  std::function<absl::StatusOr<RowVerdict>(std::string_view)> visit = [](std::string_view) {
    return RowVerdict::kContinue;
  };
  std::vector<std::string> chosen;
  std::vector<std::pair<std::string, std::string>> visited;
};

// Entry e<n> has the value r<n>, the key of the row with the value v<n>.
class JoinedReadTest : public testing::Test {
 protected:
  void SetUp() override {
    Open();
    WriteUnit unit(snapshot_);
    for (int i = 0; i < kEntries; ++i) {
      unit.Put(index(), Name('e', i), Name('r', i));
      unit.Put(rows(), Name('r', i), Name('v', i));
    }
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }

  void Open() {
    snapshot_.reset();
    database_.reset();
    database_ = OpenDatabase(TestOptions(dir_.path("data")));
    if (database_->catalog()->Find("t") == nullptr) CreateActive(database_.get(), IndexedTable("t"));
    snapshot_ = database_->catalog();
  }

  const Table& table() const { return *snapshot_->Find("t"); }
  const Keyspace& rows() const { return table().data; }
  const Keyspace& index() const { return table().local_indexes[0].keyspace; }

  absl::StatusOr<RangeEnd> Read(TestVisitor* visitor, const KeyRange& range = {},
                                Direction direction = Direction::kForward, ReadMode mode = ReadMode::kMayBlock) {
    return database_->rows().ReadJoined(index(), range, direction, rows(), visitor, mode);
  }
  void RemoveRow(int number) {
    WriteUnit unit(snapshot_);
    unit.Delete(rows(), Name('r', number));
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }
  // The expected visits of entries first..last, in that direction, each with its row.
  static std::vector<std::pair<std::string, std::string>> Joined(int first, int last) {
    std::vector<std::pair<std::string, std::string>> all;
    for (int i = first;; i += first < last ? 1 : -1) {
      all.emplace_back(Name('r', i), Name('v', i));
      if (i == last) return all;
    }
  }

  const test::TempDir dir_;
  std::unique_ptr<Database> database_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
};

TEST_F(JoinedReadTest, GivesEntriesAndTheirRowsInOrderBothWays) {
  for (const ReadMode mode : {ReadMode::kMayBlock, ReadMode::kMemoryOnly}) {
    TestVisitor forward;
    EXPECT_EQ(*Read(&forward, {}, Direction::kForward, mode), RangeEnd::kReached);
    EXPECT_EQ(forward.visited, Joined(0, kEntries - 1));
    TestVisitor reverse;
    EXPECT_EQ(*Read(&reverse, {Name('e', 10), Name('e', 90)}, Direction::kReverse, mode), RangeEnd::kReached);
    EXPECT_EQ(reverse.visited, Joined(89, 10));
  }
}

TEST_F(JoinedReadTest, VisitsNothingInEmptyRanges) {
  for (const KeyRange& range : {KeyRange{"b", "a"}, KeyRange{"a", "a"}, KeyRange{"x", ""}}) {
    TestVisitor visitor;
    EXPECT_EQ(*Read(&visitor, range), RangeEnd::kReached);
    EXPECT_TRUE(visitor.chosen.empty());
  }
}

TEST_F(JoinedReadTest, ReadsOnlyTheRowsThatAreChosen) {
  // The missing row is not requested.
  RemoveRow(40);
  TestVisitor visitor;
  visitor.choose = [](std::string_view entry) {
    JoinVisitor::Choice choice;
    if (entry.back() == '7') choice.row_key = std::string(entry);
    return choice;
  };
  EXPECT_EQ(*Read(&visitor), RangeEnd::kReached);
  ASSERT_EQ(visitor.visited.size(), size_t{kEntries});
  for (int i = 0; i < kEntries; ++i) {
    EXPECT_EQ(visitor.visited[static_cast<size_t>(i)].second, i % 10 == 7 ? Name('v', i) : "(none)");
  }
}

TEST_F(JoinedReadTest, EndsWhereChooseStopsAndReadsNoFurther) {
  // Stops in the middle of a batch, at the end of a batch, and at the last entry.
  for (const int last : {0, 31, 40, 63, kEntries - 1}) {
    TestVisitor visitor;
    visitor.choose = [last](std::string_view entry) {
      return JoinVisitor::Choice{.row_key = std::string(entry),
                                 .verdict = entry == Name('r', last) ? RowVerdict::kStop : RowVerdict::kContinue};
    };
    EXPECT_EQ(*Read(&visitor), RangeEnd::kStopped) << last;
    EXPECT_EQ(visitor.visited, Joined(0, last));
    EXPECT_EQ(visitor.chosen.size(), visitor.visited.size());
  }
}

TEST_F(JoinedReadTest, EndsWhereVisitStops) {
  for (const int last : {0, 31, 32, kEntries - 1}) {
    TestVisitor visitor;
    visitor.visit = [last](std::string_view entry) {
      return entry == Name('r', last) ? RowVerdict::kStop : RowVerdict::kContinue;
    };
    EXPECT_EQ(*Read(&visitor), RangeEnd::kStopped) << last;
    EXPECT_EQ(visitor.visited, Joined(0, last));
  }
}

TEST_F(JoinedReadTest, ShowsOneMoment) {
  TestVisitor visitor;
  visitor.visit = [this](std::string_view entry) {
    if (entry == Name('r', 0)) {
      WriteUnit unit(snapshot_);
      for (int i = 0; i < kEntries; ++i) unit.Put(rows(), Name('r', i), "new");
      unit.Delete(index(), Name('e', 50));
      unit.Delete(rows(), Name('r', 50));
      unit.Put(index(), Name('e', kEntries), Name('r', kEntries));
      EXPECT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
    }
    return RowVerdict::kContinue;
  };
  EXPECT_EQ(*Read(&visitor), RangeEnd::kReached);
  EXPECT_EQ(visitor.visited, Joined(0, kEntries - 1));
}

TEST_F(JoinedReadTest, ReportsAMissingRowWithBothKeys) {
  RemoveRow(40);
  for (const ReadMode mode : {ReadMode::kMayBlock, ReadMode::kMemoryOnly}) {
    TestVisitor visitor;
    const absl::Status status = Read(&visitor, {}, Direction::kForward, mode).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    for (const std::string& part :
         {ToHex(Name('e', 40)), ToHex(Name('r', 40)), index().stats->family_name(), rows().stats->family_name()}) {
      EXPECT_NE(status.message().find(part), absl::string_view::npos) << part << " in " << status;
    }
    EXPECT_EQ(visitor.visited, Joined(0, 39));
  }
}

TEST_F(JoinedReadTest, DoesNotReportWhatLiesBehindTheEnd) {
  RemoveRow(40);
  TestVisitor visitor;
  visitor.visit = [](std::string_view entry) {
    return entry == Name('r', 39) ? RowVerdict::kStop : RowVerdict::kContinue;
  };
  EXPECT_EQ(*Read(&visitor), RangeEnd::kStopped);
}

TEST_F(JoinedReadTest, PassesErrorsOfTheVisitorOnAfterWhatCameBefore) {
  TestVisitor chooser;
  chooser.choose = [](std::string_view entry) -> absl::StatusOr<JoinVisitor::Choice> {
    if (entry == Name('r', 40)) return absl::DataLossError("bad entry");
    return JoinVisitor::Choice{.row_key = std::string(entry)};
  };
  EXPECT_EQ(Read(&chooser).status(), absl::DataLossError("bad entry"));
  EXPECT_EQ(chooser.visited, Joined(0, 39));
  TestVisitor visitor;
  visitor.visit = [](std::string_view entry) -> absl::StatusOr<RowVerdict> {
    if (entry == Name('r', 40)) return absl::DataLossError("bad row");
    return RowVerdict::kContinue;
  };
  EXPECT_EQ(Read(&visitor).status(), absl::DataLossError("bad row"));
  EXPECT_EQ(visitor.visited, Joined(0, 40));
}

TEST_F(JoinedReadTest, WithoutTheDiskTellsThatItWouldBlock) {
  Open();  // everything is on disk, nothing in memory
  TestVisitor cold;
  EXPECT_EQ(*Read(&cold, {}, Direction::kForward, ReadMode::kMemoryOnly), RangeEnd::kWouldBlock);
  // Cached index blocks alone are not enough.
  EXPECT_EQ(KeysOf(*database_, index()).size(), size_t{kEntries});
  TestVisitor half;
  EXPECT_EQ(*Read(&half, {}, Direction::kForward, ReadMode::kMemoryOnly), RangeEnd::kWouldBlock);
  EXPECT_TRUE(half.visited.empty());
  // The engine compacts each file once soon after the start, and then the new file is not in memory.
  constexpr int kCompactionsMax = 10;
  RangeEnd end = RangeEnd::kWouldBlock;
  for (int i = 0; i < kCompactionsMax && end == RangeEnd::kWouldBlock; ++i) {
    TestVisitor may_block;
    EXPECT_EQ(*Read(&may_block), RangeEnd::kReached);
    EXPECT_EQ(may_block.visited, Joined(0, kEntries - 1));
    TestVisitor warm;
    end = *Read(&warm, {}, Direction::kForward, ReadMode::kMemoryOnly);
    EXPECT_TRUE(end == RangeEnd::kWouldBlock || warm.visited == Joined(0, kEntries - 1));
  }
  EXPECT_EQ(end, RangeEnd::kReached);
}

TEST_F(JoinedReadTest, LargeEntriesAreReadInSmallBatches) {
  const std::string filler(100'000, 'x');
  WriteUnit unit(snapshot_);
  for (int i = 0; i < 20; ++i) unit.Put(index(), Name('e', i), Name('r', i) + filler);
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  TestVisitor visitor;
  visitor.choose = [](std::string_view entry) {
    return JoinVisitor::Choice{.row_key = std::string(entry.substr(0, 4))};
  };
  size_t ahead_max = 0;
  visitor.visit = [&](std::string_view) {
    ahead_max = std::max(ahead_max, visitor.chosen.size() - visitor.visited.size());
    return RowVerdict::kContinue;
  };
  EXPECT_EQ(*Read(&visitor, {"", Name('e', 20)}), RangeEnd::kReached);
  EXPECT_EQ(visitor.visited.size(), 20u);
  EXPECT_EQ(visitor.visited[19].second, Name('v', 19));
  EXPECT_LT(ahead_max, 5u);
}

// Writers store one number in an entry and its row, and move the entry. Readers must never see two numbers.
TEST_F(JoinedReadTest, EntriesAgreeWithTheirRowsWhileBothAreWritten) {
  constexpr int kItems = 80;
  constexpr int kRounds = 60;
  const auto put = [&](WriteUnit* unit, int item, int round) {
    // The entry alternates between two places.
    const std::string row_key = Name('i', item);
    unit->Delete(index(), Cat(round % 2 == 0 ? "b" : "a", row_key));
    unit->Put(index(), Cat(round % 2 == 0 ? "a" : "b", row_key), Cat(row_key, ":", round));
    unit->Put(rows(), row_key, Cat(round));
  };
  WriteUnit first(snapshot_);
  for (int i = 0; i < kItems; ++i) put(&first, i, 0);
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(first)).ok());
  std::atomic<bool> done = false;
  std::atomic<int> changes_seen = 0;
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&, t] {
      std::string last_page;
      while (!done) {
        TestVisitor visitor;
        visitor.choose = [](std::string_view entry) {
          return JoinVisitor::Choice{.row_key = std::string(entry.substr(0, entry.find(':')))};
        };
        const auto end =
            Read(&visitor, {"a", "c"}, Direction::kForward, t == 0 ? ReadMode::kMayBlock : ReadMode::kMemoryOnly);
        ASSERT_TRUE(end.ok()) << end.status();
        if (*end == RangeEnd::kWouldBlock) continue;
        ASSERT_EQ(visitor.visited.size(), size_t{kItems});
        std::string page;
        for (const auto& [entry, row] : visitor.visited) {
          ASSERT_EQ(entry.substr(entry.find(':') + 1), row);
          page += entry;
        }
        changes_seen += page != last_page ? 1 : 0;
        last_page = page;
      }
    });
  }
  for (int round = 1; round <= kRounds; ++round) {
    for (int i = 0; i < kItems; ++i) {
      WriteUnit unit(snapshot_);
      put(&unit, i, round);
      ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
    }
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(changes_seen, 2);
}

}  // namespace armature::store::joined_read_test
