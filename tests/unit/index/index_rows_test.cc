// Rows of global indexes that are written in the batch of their item.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "storage/store/commit/index_rows.h"
#include "tests/support/rounds.h"
#include "tests/unit/index/maintained_table_test.h"

namespace armature::index::index_rows_test {

using store::WriteUnit;
using Item = MaintainedTableTest::Item;

class IndexRowsTest : public MaintainedTableTest {
 protected:
  IndexRowsTest() : MaintainedTableTest(store::IndexUpdates::kWithItem) {}

  // An item with more bytes of index rows than are written with an item.
  static Item Large(const std::string& sk, const std::string& g) {
    return {{"filler", std::string(store::IndexRows::kRecordBytesMax, 'x')}, {"g", g}, {"pk", "p"}, {"sk", sk}};
  }
  static Item Small(const std::string& sk, const std::string& g) { return {{"g", g}, {"pk", "p"}, {"sk", sk}}; }
  static std::string KeyByG(const std::string& sk, const std::string& g) { return HashedKey({g}, {"p", sk}); }
};

TEST_F(IndexRowsTest, AreThereWithoutTheApplier) {
  const Item first = {{"g", "1"}, {"h", "2"}, {"pk", "p"}, {"sk", "s"}};
  const Item moved = {{"g", "11"}, {"h", "2"}, {"pk", "p"}, {"sk", "s"}};
  Write({}, first);
  EXPECT_EQ(Keys(by_g()), std::vector<std::string>{KeyByG("s", "1")});
  EXPECT_EQ(Keys(by_h()).size(), 1u);
  Write(first, moved);
  EXPECT_EQ(Keys(by_g()), std::vector<std::string>{KeyByG("s", "11")});
  EXPECT_EQ(by_g().keyspace.stats->items(), 1);
  EXPECT_EQ(LogRecords(), 0u);
  EXPECT_FALSE(by_g().progress->backlog().may_wait());
  EXPECT_EQ(database_->commits().counters().index_changes_with_item, 3u);
  EXPECT_EQ(database_->commits().counters().index_changes_logged, 0u);
  const int64_t bytes = by_g().keyspace.stats->bytes();
  Reopen();
  EXPECT_EQ(Keys(by_g()), std::vector<std::string>{KeyByG("s", "11")});
  ExpectTotals(by_g(), 1, bytes);
  Apply();
  Write(moved, {});
  EXPECT_TRUE(Keys(by_g()).empty());
  EXPECT_TRUE(Keys(by_h()).empty());
  ExpectTotals(by_g(), 0, 0);
  ExpectTotals(by_h(), 0, 0);
}

TEST_F(IndexRowsTest, OfManyBytesAreLoggedAndSoAreTheNextOnesUntilTheyAreApplied) {
  Write({}, Small("0", "0"));
  const Item large = Large("s", "1");
  Write({}, large);
  EXPECT_EQ(LogRecords(), 1u);
  Write(large, Small("s", "2"));
  Write({}, Small("other", "3"));
  EXPECT_EQ(LogRecords(), 3u);
  EXPECT_EQ(by_g().progress->backlog().load().records, 3u);
  Apply();
  EXPECT_EQ(by_g().progress->backlog().load().records, 0u);
  EXPECT_EQ(Keys(by_g()).size(), 3u);
  const uint64_t logged = database_->commits().counters().index_changes_logged;
  Write(Small("s", "2"), Small("s", "4"));
  EXPECT_EQ(database_->commits().counters().index_changes_logged, logged);
  const std::vector<std::string> keys = Keys(by_g());
  EXPECT_EQ(std::count(keys.begin(), keys.end(), KeyByG("s", "4")), 1);
  EXPECT_EQ(std::count(keys.begin(), keys.end(), KeyByG("s", "2")), 0);
  EXPECT_EQ(by_g().keyspace.stats->items(), 3);
}

TEST_F(IndexRowsTest, BehindALoggedRecordOfTheirBatchAreLogged) {
  Write({}, Small("0", "0"));
  const Item large = Large("s", "1");
  std::vector<WriteUnit> units;
  units.push_back(MakeUnit({}, large));
  units.push_back(MakeUnit(large, Small("s", "2")));
  absl::BlockingCounter written(1);
  database_->commits().CommitAll(std::move(units), [&](const absl::StatusOr<ChangeSequence>& sequence) {
    EXPECT_TRUE(sequence.ok()) << sequence.status();
    written.DecrementCount();
  });
  written.Wait();
  EXPECT_EQ(LogRecords(), 2u);
  Apply();
  const std::vector<std::string> keys = Keys(by_g());
  EXPECT_EQ(keys.size(), 2u);
  EXPECT_EQ(std::count(keys.begin(), keys.end(), KeyByG("s", "2")), 1);
}

TEST_F(IndexRowsTest, AreLoggedAfterAStartUntilEarlierRecordsAreApplied) {
  Write({}, Small("0", "0"));
  const Item large = Large("s", "1");
  Write({}, large);
  Reopen();
  Write(large, Small("s", "2"));
  EXPECT_EQ(LogRecords(), 2u);
  Apply();
  std::vector<std::string> keys = Keys(by_g());
  EXPECT_EQ(keys.size(), 2u);
  EXPECT_EQ(std::count(keys.begin(), keys.end(), KeyByG("s", "2")), 1);
  Write(Small("s", "2"), {});
  EXPECT_EQ(Keys(by_g()).size(), 1u);
}

TEST_F(IndexRowsTest, OfADamagedRecordAreLogged) {
  WriteUnit unit = MakeUnit({}, Small("s", "1"));
  unit.SetChangeRecord(id(), "damaged");
  ASSERT_TRUE(store::CommitAndWait(database_.get(), std::move(unit)).ok());
  EXPECT_EQ(LogRecords(), 1u);
  Write({}, Small("t", "1"));
  EXPECT_EQ(LogRecords(), 2u);
  EXPECT_EQ(applier_->RunOnce(id()).status().code(), absl::StatusCode::kDataLoss);
}

// While writes never cease, the applier may stay a batch behind: the committer pauses once.
TEST_F(IndexRowsTest, AreWrittenWithTheirItemAgainUnderLoad) {
  constexpr int kWriters = 8;
  Write({}, Small("0", "0"));
  applier_->Start();
  std::atomic<bool> is_done = false;
  std::atomic<int> rounds = 0;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; !is_done; ++i, ++rounds) {
        Write({}, Small(std::to_string(writer) + "." + std::to_string(i), "1"));
      }
    });
  }
  Write({}, Large("large", "1"));
  const auto with_item = [this] { return database_->commits().counters().index_changes_with_item; };
  const uint64_t before = with_item();
  const int begun = rounds;
  while (with_item() < before + 100 && rounds < begun + 200'000) std::this_thread::yield();
  is_done = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_GE(with_item(), before + 100);
  applier_->Stop();
}

TEST_F(IndexRowsTest, ReadsNeedNotWaitForWhatIsThere) {
  const store::ChangeLog& log = database_->change_log();
  Write({}, Small("0", "0"));
  EXPECT_EQ(log.AppliedBy(by_g().progress.get()), log.watermark());
  Write({}, Large("s", "1"));
  EXPECT_LT(log.AppliedBy(by_g().progress.get()), log.watermark());
  Apply();
  EXPECT_EQ(log.AppliedBy(by_g().progress.get()), log.watermark());
}

// Large and small items in any order, runs of the applier in between, and starts.
TEST_F(IndexRowsTest, AreThoseOfTheItemsHoweverTheyAreWritten) {
  const int rounds = test::Rounds(1500);
  std::mt19937 rng(41);
  const auto below = [&rng](unsigned bound) { return static_cast<unsigned>(rng() % bound); };
  std::map<std::string, Item> items;
  for (int round = 0; round < rounds; ++round) {
    const std::string sk = std::to_string(below(12));
    const Item before = items[sk];
    Item after;
    const std::string g = std::to_string(below(5));
    if (below(4) != 0) after = below(10) == 0 ? Large(sk, g) : Small(sk, g);
    if (before != after) Write(before, after);
    items[sk] = after;
    if (below(12) == 0) Apply();
    if (below(200) == 0) Reopen();
  }
  Apply();
  std::vector<std::string> expected;
  for (const auto& [sk, item] : items) {
    for (const auto& [name, value] : item) {
      if (name == "g") expected.push_back(KeyByG(sk, value));
    }
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(Keys(by_g()), expected);
  EXPECT_EQ(by_g().keyspace.stats->items(), static_cast<int64_t>(expected.size()));
  const store::CommitterCounters counters = database_->commits().counters();
  EXPECT_GT(counters.index_changes_with_item, 0u);
  EXPECT_GT(counters.index_changes_logged, 0u);
}

}  // namespace armature::index::index_rows_test
