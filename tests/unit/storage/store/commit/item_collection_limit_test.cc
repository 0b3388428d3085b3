// Commits that would exceed the size limit of an item collection.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "storage/base/api_error.h"
#include "storage/store/database.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::item_collection_limit_test {

constexpr uint64_t kMax = 1000;

std::string Outcome(const absl::StatusOr<ChangeSequence>& answer) {
  if (answer.ok()) return "written";
  const std::optional<ApiError> error = GetApiError(answer.status());
  if (!error.has_value()) return answer.status().ToString();
  EXPECT_EQ(error->message, "Collection size exceeded.");
  return std::string(ApiErrorName(error->type));
}
constexpr char kRefused[] = "ItemCollectionSizeLimitExceededException";

class ItemCollectionLimitTest : public testing::Test {
 protected:
  void SetUp() override {
    CreateActive(database_.get(), IndexedTable("t"));
    snapshot_ = database_->catalog();
  }

  static DatabaseOptions Options(const test::TempDir& dir) {
    DatabaseOptions options = TestOptions(dir.path("data"));
    options.item_collection_bytes_max = kMax;
    return options;
  }
  const Table& table() const { return *snapshot_->Find("t"); }

  // A unit that writes a row and changes the collection's size by `delta`.
  WriteUnit Unit(std::string_view row, std::string_view collection, int64_t delta) const {
    WriteUnit unit(snapshot_);
    unit.Put(table().data, row, "v");
    unit.AddStats(table().data, {1, 10});
    unit.AddCounter(table().collections, collection, delta);
    unit.SetChangeRecord(table().descriptor.id, "record");
    return unit;
  }
  std::string Commit(std::string_view row, std::string_view collection, int64_t delta) {
    return Outcome(CommitAndWait(database_.get(), Unit(row, collection, delta)));
  }
  uint64_t Size(std::string_view collection) const {
    uint64_t size = 0;
    const auto got = database_->rows().GetCounter(table().collections, collection, ReadMode::kMayBlock, &size);
    EXPECT_EQ(*got, GetResult::kFound);
    return size;
  }
  std::string Rows() const {
    std::string rows;
    for (const std::string& key : KeysOf(*database_, table().data)) rows += key;
    return rows;
  }

  const test::TempDir dir_;
  std::unique_ptr<Database> database_ = OpenDatabase(Options(dir_));
  std::shared_ptr<const CatalogSnapshot> snapshot_;
};

TEST_F(ItemCollectionLimitTest, GrowsUpToTheLimitAndNoFurther) {
  EXPECT_EQ(Commit("a", "p", 999), "written");
  EXPECT_EQ(Commit("b", "p", 2), kRefused);
  EXPECT_EQ(Commit("c", "p", 1), "written");
  EXPECT_EQ(Commit("d", "p", 1), kRefused);
  // Other collections have a limit of their own.
  EXPECT_EQ(Commit("e", "q", 1000), "written");
  EXPECT_EQ(Commit("f", "r", 1001), kRefused);
  EXPECT_EQ(Rows(), "ace");
  EXPECT_EQ(Size("p"), kMax);
  EXPECT_EQ(Size("r"), 0u);
  EXPECT_EQ(table().data.stats->items(), 3);
  // Refused commits take no sequence.
  EXPECT_EQ(database_->change_log().watermark(), ChangeSequence(3));
}

TEST_F(ItemCollectionLimitTest, ShrinksAndChangesInPlaceBeyondTheLimit) {
  // Like a restart with a lower limit.
  snapshot_.reset();
  database_.reset();
  DatabaseOptions options = Options(dir_);
  options.item_collection_bytes_max = 5000;
  database_ = OpenDatabase(options);
  snapshot_ = database_->catalog();
  EXPECT_EQ(Commit("a", "p", 3000), "written");
  snapshot_.reset();
  database_.reset();
  database_ = OpenDatabase(Options(dir_));
  snapshot_ = database_->catalog();
  EXPECT_EQ(Commit("b", "p", 1), kRefused);
  EXPECT_EQ(Commit("c", "p", 0), "written");
  EXPECT_EQ(Commit("d", "p", -1500), "written");
  EXPECT_EQ(Commit("e", "p", 1), kRefused);
  EXPECT_EQ(Commit("f", "p", -600), "written");
  EXPECT_EQ(Size("p"), 900u);
  EXPECT_EQ(Commit("g", "p", 100), "written");
  EXPECT_EQ(Rows(), "acdfg");
}

TEST_F(ItemCollectionLimitTest, SeveralUnitsFailTogetherAndAreJudgedBySum) {
  ASSERT_EQ(Commit("a", "p", 900), "written");
  std::vector<WriteUnit> too_much;
  too_much.push_back(Unit("b", "q", 10));
  too_much.push_back(Unit("c", "p", 101));
  too_much.push_back(Unit("d", "r", 10));
  EXPECT_EQ(Outcome(CommitAndWait(database_.get(), std::move(too_much))), kRefused);
  EXPECT_EQ(Rows(), "a");
  EXPECT_EQ(Size("q"), 0u);
  EXPECT_EQ(Size("r"), 0u);
  std::vector<WriteUnit> halves;
  halves.push_back(Unit("b", "p", 60));
  halves.push_back(Unit("c", "p", 60));
  EXPECT_EQ(Outcome(CommitAndWait(database_.get(), std::move(halves))), kRefused);
  // Within a group, one unit may use the space that another one frees, in any order.
  std::vector<WriteUnit> exchange;
  exchange.push_back(Unit("b", "p", 300));
  exchange.push_back(Unit("c", "p", -200));
  EXPECT_EQ(Outcome(CommitAndWait(database_.get(), std::move(exchange))), "written");
  EXPECT_EQ(Size("p"), kMax);
  EXPECT_EQ(Rows(), "abc");
}

// Blocks the writing thread, which notifies the consumer of each batch with records before it takes the next batch.
class HoldingConsumer : public ChangeConsumer {
 public:
  void OnAppended(const std::vector<TableId>&) override {
    if (!holding.HasBeenNotified()) holding.Notify();
    go_on.WaitForNotification();
  }
  absl::Notification holding;
  absl::Notification go_on;
};

TEST_F(ItemCollectionLimitTest, ARefusedUnitFailsAloneInItsBatch) {
  HoldingConsumer consumer;
  database_->change_log().SetConsumer(&consumer);
  struct Step {
    const char* row;
    const char* collection;
    int64_t delta;
    bool written;
  };
  constexpr Step kSteps[] = {{"a", "p", 600, true}, {"b", "p", 600, false}, {"c", "q", 600, true},
                             {"d", "p", 400, true}, {"e", "p", 1, false},   {"f", "p", -500, true},
                             {"g", "p", 500, true}, {"h", "r", 2000, false}};
  absl::BlockingCounter left(1 + std::size(kSteps));
  std::vector<std::string> outcomes(std::size(kSteps));
  std::vector<uint64_t> sequences;
  database_->commits().Commit(Unit("0", "s", 1), [&](const absl::StatusOr<ChangeSequence>&) { left.DecrementCount(); });
  consumer.holding.WaitForNotification();
  const uint64_t batches = database_->commits().counters().batches;
  for (size_t i = 0; i < std::size(kSteps); ++i) {
    const Step& step = kSteps[i];
    database_->commits().Commit(Unit(step.row, step.collection, step.delta),
                                [&, i](absl::StatusOr<ChangeSequence> answer) {
                                  outcomes[i] = Outcome(answer);
                                  if (answer.ok()) sequences.push_back(answer->value());
                                  left.DecrementCount();
                                });
  }
  consumer.go_on.Notify();
  left.Wait();
  EXPECT_EQ(database_->commits().counters().batches, batches + 1);
  for (size_t i = 0; i < std::size(kSteps); ++i) {
    EXPECT_EQ(outcomes[i], kSteps[i].written ? "written" : kRefused) << kSteps[i].row;
  }
  EXPECT_EQ(Rows(), "0acdfg");
  EXPECT_EQ(Size("p"), kMax);
  EXPECT_EQ(sequences, (std::vector<uint64_t>{2, 3, 4, 5, 6}));
  EXPECT_EQ(table().data.stats->items(), 6);
  database_->change_log().SetConsumer(nullptr);
}

TEST_F(ItemCollectionLimitTest, ADamagedCounterFailsItsOwnCommitOnly) {
  HoldingConsumer consumer;
  WriteUnit damage(snapshot_);
  damage.Put(table().collections, "bad", "\xff");
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(damage)).ok());
  database_->change_log().SetConsumer(&consumer);
  absl::BlockingCounter left(4);
  std::string outcomes;
  const auto note = [&](const absl::StatusOr<ChangeSequence>& answer) {
    outcomes += answer.ok() ? "w" : absl::IsDataLoss(answer.status()) ? "d" : "?";
    left.DecrementCount();
  };
  database_->commits().Commit(Unit("0", "s", 1), note);
  consumer.holding.WaitForNotification();
  database_->commits().Commit(Unit("a", "p", 1), note);
  database_->commits().Commit(Unit("b", "bad", 1), note);
  database_->commits().Commit(Unit("c", "p", 1), note);
  consumer.go_on.Notify();
  left.Wait();
  EXPECT_EQ(outcomes, "wwdw");
  EXPECT_EQ(Rows(), "0ac");
  uint64_t size = 0;
  EXPECT_EQ(database_->rows().GetCounter(table().collections, "bad", ReadMode::kMayBlock, &size).status().code(),
            absl::StatusCode::kDataLoss);
  database_->change_log().SetConsumer(nullptr);
}

// Many concurrent writers: exactly as many units as fit are accepted.
TEST_F(ItemCollectionLimitTest, IsExactUnderConcurrency) {
  constexpr int kThreads = 8;
  constexpr int kUnits = 200;
  std::atomic<int> written = 0;
  std::atomic<int> refused = 0;
  absl::BlockingCounter left(kThreads * kUnits);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kUnits; ++i) {
        // 142 of the 1,600 units of 7 bytes fit.
        database_->commits().Commit(Unit("k" + std::to_string(t * kUnits + i), "p", 7),
                                    [&](const absl::StatusOr<ChangeSequence>& answer) {
                                      (Outcome(answer) == "written" ? written : refused) += 1;
                                      left.DecrementCount();
                                    });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  left.Wait();
  EXPECT_EQ(written, 142);
  EXPECT_EQ(refused, kThreads * kUnits - 142);
  EXPECT_EQ(Size("p"), 142u * 7);
  EXPECT_EQ(KeysOf(*database_, table().data).size(), 142u);
  EXPECT_EQ(table().data.stats->items(), 142);
}

}  // namespace armature::store::item_collection_limit_test
