// Requests with row locks that cannot continue at once: a row is not in memory, the pool or the committer is full, or
// other requests are ahead. They hold up other requests no longer than necessary and leave no locks or tokens behind.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "storage/base/strings.h"
#include "tests/unit/engine/items/group_test_util.h"

namespace armature::engine::held_rows_test {

using codec::N;
using codec::S;

constexpr char kTable[] = "things";
constexpr char kIndexed[] = "indexed";

// Far longer than a write, so that one that waits for the scan fails its test.
constexpr absl::Duration kScanPatience = absl::Seconds(20);

std::string Key(int row) { return PlainItem(Cat("row", row), "1"); }
// So large that the row has a disk block of its own.
std::string Row(int row) {
  return PlainItem(Cat("row", row), "1", {{"n", N("0")}, {"x", S(std::string(20'000, 'x'))}});
}

TransactAction CountIn(int row) {
  return ActionOf(WriteKind::kUpdate, kTable, Key(row), "", "ADD n :one", codec::Item({{":one", N("1")}}));
}

class HeldRowsTest : public testing::Test {
 protected:
  static constexpr int kRows = 12;

  explicit HeldRowsTest(size_t read_queue_max = 1000, size_t commit_queue_max = 1000)
      : engine_(store::Durability::kOs, Options(read_queue_max), [commit_queue_max](store::DatabaseOptions* options) {
          options->commit_queue_units_max = commit_queue_max;
        }) {}

  static EngineOptions Options(size_t read_queue_max) {
    EngineOptions options;
    options.read_threads = 1;
    options.read_queue_max = read_queue_max;
    options.pool_queue_max = read_queue_max;
    options.transaction_wait = kPatience;
    options.apply_changes = false;
    return options;
  }

  void SetUp() override {
    model::TableDefinition indexed = PlainTable(kIndexed);
    indexed.attribute_definitions.push_back({"g", "S"});
    indexed.global_indexes = {IndexOf("ByG", {{"g", "HASH"}}, "ALL")};
    ASSERT_TRUE(engine_.CreateTable(indexed).ok());
    ASSERT_TRUE(engine_.CreateTable(PlainTable(kTable)).ok());
    for (int row = 0; row < kRows; ++row) ASSERT_TRUE(engine_.Put(WriteTo(kTable, Row(row))).ok());
    engine_.Reopen();  // no row is in memory now
  }

  // Occupies the read thread, without having read anything.
  std::unique_ptr<HeldRequest<Page>> HoldThread() {
    return std::make_unique<HeldRequest<Page>>([this](RequestContext context) {
      ReadRequest scan;
      scan.table_name = kTable;
      return engine_.Scan(scan, std::move(context));
    });
  }
  std::string CountOf(int row) {
    const absl::StatusOr<GetItemResult> got = engine_.Get(GetFrom(kTable, Key(row)));
    if (!got.ok()) return got.status().ToString();
    const auto value = got->item.has_value() ? model::ItemView(got->item->view()).Find("n") : std::nullopt;
    return value.has_value() ? std::string(value->scalar()) : "none";
  }

  // Runs a batch, a transaction with a token, and a read transaction. Returns their outcomes.
  std::string RunGroups() {
    BatchWriteRequest batch = BatchOf(kTable, {PutOf(Row(2)), DeleteOf(Key(3))});
    std::string outcome = Cat(ReasonsOf(BatchWriteTo(engine_, std::move(batch)).status()), "\n");
    outcome += Cat(ReasonsOf(Transact(engine_, TransactionOf({CountIn(0), CountIn(1)}, "token")).status()), "\n");
    outcome += ReasonsOf(TransactRead(engine_, ReadOf(kTable, {Key(0), Key(1)})).status());
    return outcome;
  }
  void ExpectGroupsWork() {
    const std::string fine = ReasonsOf(absl::OkStatus());
    EXPECT_EQ(RunGroups(), Cat(fine, "\n", fine, "\n", fine));
    EXPECT_EQ(CountOf(0), "1");
    EXPECT_EQ(CountOf(1), "1");
    EXPECT_EQ(CountOf(3), "none");
    EXPECT_EQ(RunGroups(), Cat(fine, "\n", fine, "\n", fine)) << "once more, which does nothing";
    EXPECT_EQ(CountOf(0), "1");
  }

  // Starts `run` while a scan holds the read thread. Returns true if it was answered meanwhile.
  bool AnsweredDuringAScan(const std::function<void(std::function<void()> answered)>& run) {
    const auto held = HoldThread();
    const auto answered = std::make_shared<absl::Notification>();
    run([answered] { answered->Notify(); });
    const bool is_answered = answered->WaitForNotificationWithTimeout(kScanPatience);
    EXPECT_TRUE(held->Finish().ok());
    return is_answered;
  }

  TestEngine engine_;
};

// The rows are on disk, and these groups must read them.
TEST_F(HeldRowsTest, RowsThatAreNotInMemory) { ExpectGroupsWork(); }

TEST_F(HeldRowsTest, AReadFromDiskWithRowsLockedWaitsForNoScan) {
  EXPECT_TRUE(AnsweredDuringAScan([this](std::function<void()> answered) {
    WriteRequest put = WriteTo(kTable, Key(0));
    put.expressions.condition = "attribute_not_exists(pk)";
    engine_->PutItem({}, put, [answered](const absl::StatusOr<WriteResult>& result) {
      EXPECT_EQ(ErrorNameOf(result.status()), "ConditionalCheckFailedException");
      answered();
    });
  }));
  engine_.Reopen();
  EXPECT_TRUE(AnsweredDuringAScan([this](std::function<void()> answered) {
    // The row exists with this value, so the committer is not involved.
    engine_->BatchWriteItem({}, BatchOf(kTable, {PutOf(Row(0))}),
                            [answered](const absl::StatusOr<BatchWriteResult>& result) {
                              EXPECT_TRUE(result.ok()) << result.status();
                              answered();
                            });
  }));
  engine_.Reopen();
  EXPECT_TRUE(AnsweredDuringAScan([this](std::function<void()> answered) {
    TransactAction check = ActionOf(WriteKind::kConditionCheck, kTable, Key(0), "attribute_not_exists(pk)");
    engine_->TransactWriteItems({}, TransactionOf({std::move(check)}),
                                [answered](const absl::StatusOr<TransactWriteResult>& result) {
                                  EXPECT_EQ(ReasonsOf(result.status()), "ConditionalCheckFailed");
                                  answered();
                                });
  }));
  engine_.Reopen();
  EXPECT_TRUE(AnsweredDuringAScan([this](std::function<void()> answered) {
    engine_->TransactGetItems({}, ReadOf(kTable, {Key(0)}),
                              [answered](const absl::StatusOr<TransactGetResult>& result) {
                                EXPECT_TRUE(result.ok()) << result.status();
                                answered();
                              });
  }));
}

TEST_F(HeldRowsTest, ARowChangesHandsDuringAScan) {
  EXPECT_TRUE(AnsweredDuringAScan([this](const std::function<void()>& answered) {
    HeldRequest<WriteResult> held([this](RequestContext context) {
      return engine_.Put(WriteTo(kIndexed, PlainItem("new", "1")), std::move(context));
    });
    WriteRequest put = WriteTo(kIndexed, PlainItem("new", "1"));
    put.expressions.condition = "attribute_not_exists(pk)";
    engine_->PutItem({}, put, [answered](const absl::StatusOr<WriteResult>& result) {
      EXPECT_EQ(ErrorNameOf(result.status()), "ConditionalCheckFailedException");
      answered();
    });
    EXPECT_TRUE(held.Finish().ok());
  }));
}

class FullPoolTest : public HeldRowsTest {
 protected:
  // Two, because the sweep at the start briefly occupies a place.
  FullPoolTest() : HeldRowsTest(/*read_queue_max=*/2) {}
};

// Occupies the thread of requests with row locks.
class HeldHolder {
 public:
  explicit HeldHolder(TestEngine* engine) {
    const WriteRequest put = WriteTo(kIndexed, PlainItem("held", "1"));
    HeldRequest<WriteResult> first([&](RequestContext context) { return engine->Put(put, std::move(context)); });
    RequestContext context;
    context.cancelled = [state = state_] {
      if (!state->holds.HasBeenNotified()) state->holds.Notify();
      state->release.WaitForNotification();
      return false;
    };
    (*engine)->PutItem(std::move(context), put, answer_.Catch());
    // The row changes hands.
    EXPECT_TRUE(first.Finish().ok());
    state_->holds.WaitForNotification();
  }
  absl::Status Finish() {
    state_->release.Notify();
    return answer_.Take().status();
  }

 private:
  struct State {
    absl::Notification holds;
    absl::Notification release;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  Answer<WriteResult> answer_;
};

TEST_F(FullPoolTest, WhatIsRefusedLeavesRowsAndTokenFree) {
  HeldHolder held_holder(&engine_);
  const auto held = HoldThread();
  std::vector<Answer<ReadResult>> scans(2);
  std::vector<ItemCollector> pages(2);
  ReadRequest request;
  request.table_name = kTable;
  for (size_t i = 0; i < scans.size(); ++i) engine_->Scan({}, request, &pages[i], scans[i].Catch());
  std::vector<Answer<TransactGetResult>> reads(2);
  engine_->TransactGetItems({}, ReadOf(kTable, {Key(10)}), reads[0].Catch());
  engine_->TransactGetItems({}, ReadOf(kTable, {Key(11)}), reads[1].Catch());
  const std::string refused = "ThrottlingException: The server has more requests waiting than it can serve; slow down";
  EXPECT_EQ(RunGroups(), Cat(refused, "\n", refused, "\n", refused));
  EXPECT_EQ(ErrorNameOf(engine_.Put(WriteTo(kTable, Row(0))).status()), "ThrottlingException");
  EXPECT_TRUE(held_holder.Finish().ok());
  EXPECT_TRUE(held->Finish().ok());
  for (Answer<ReadResult>& scan : scans) EXPECT_TRUE(scan.Take().ok());
  for (Answer<TransactGetResult>& read : reads) EXPECT_TRUE(read.Take().ok());
  ExpectGroupsWork();
}

class FullCommitterTest : public HeldRowsTest {
 protected:
  FullCommitterTest() : HeldRowsTest(/*read_queue_max=*/1000, /*commit_queue_max=*/1) {}
};

TEST_F(FullCommitterTest, WhatIsRefusedLeavesRowsAndTokenFree) {
  StuckConsumer consumer;
  engine_.database().change_log().SetConsumer(&consumer);
  Answer<WriteResult> written;
  engine_->PutItem({}, WriteTo(kIndexed, PlainItem("a", "1", {{"g", S("g")}})), written.Catch());
  consumer.stuck.WaitForNotification();
  Answer<WriteResult> waiting;
  engine_->PutItem({}, WriteTo(kIndexed, PlainItem("b", "1")), waiting.Catch());
  // It may be queued on another thread.
  ASSERT_TRUE(TestEngine::WaitUntil([&] { return engine_.database().commits().counters().queue_commits == 1; }).ok());
  const std::string refused = "ThrottlingException: The server has more writes waiting than it can commit; slow down";
  // The batch's put changes nothing. Its delete does.
  const std::string outcome = RunGroups();
  EXPECT_EQ(outcome, Cat(ReasonsOf(absl::OkStatus()), "\n", refused, "\n", ReasonsOf(absl::OkStatus())));
  EXPECT_EQ(CountOf(3), "0") << "left unprocessed";
  EXPECT_EQ(ErrorNameOf(BatchWriteTo(engine_, BatchOf(kTable, {DeleteOf(Key(3))})).status()), "ThrottlingException");
  consumer.release.Notify();
  EXPECT_TRUE(written.Take().ok());
  EXPECT_TRUE(waiting.Take().ok());
  engine_.database().change_log().SetConsumer(nullptr);
  ExpectGroupsWork();
}

}  // namespace armature::engine::held_rows_test
