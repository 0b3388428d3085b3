// Many writes of one row: decided on values that are not durable yet, answered only when all of them are.

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "storage/base/strings.h"
#include "tests/unit/engine/held_syncs.h"
#include "tests/unit/engine/items/group_test_util.h"

namespace armature::engine::hot_rows_test {

using codec::N;
using codec::S;

constexpr char kTable[] = "counters";
constexpr char kCollections[] = "collections";

std::string Key(std::string_view name) { return PlainItem(name, "1"); }
std::string Counter(std::string_view name, int64_t n) { return PlainItem(name, "1", {{"n", N(std::to_string(n))}}); }

int64_t NumberIn(std::string_view item) {
  const auto value = model::ItemView(item).Find("n");
  return value.has_value() ? std::stoll(std::string(value->scalar())) : -1;
}

WriteRequest IncrementOf(std::string_view name) {
  WriteRequest request = WriteTo(kTable, Key(name));
  request.expressions.update = "SET n = n + :one";
  request.expressions.values_wire = codec::Item({{":one", N("1")}});
  request.return_values = "UPDATED_NEW";
  return request;
}

// A put that succeeds if the counter has the value `expected`.
WriteRequest PutIf(std::string_view name, int64_t n, int64_t expected) {
  WriteRequest request = WriteTo(kTable, Counter(name, n));
  request.expressions.condition = "n = :expected";
  request.expressions.values_wire = codec::Item({{":expected", N(std::to_string(expected))}});
  request.return_values_on_condition_check_failure = "ALL_OLD";
  return request;
}

TransactAction Increment(std::string_view name) {
  return ActionOf(WriteKind::kUpdate, kTable, Key(name), "", "SET n = n + :one", codec::Item({{":one", N("1")}}));
}

class HotRowsTest : public testing::Test {
 protected:
  HotRowsTest() : engine_(store::Durability::kSync, Options()) {}
  ~HotRowsTest() override { HeldSyncs::End(); }

  static EngineOptions Options() {
    EngineOptions options;
    options.transaction_wait = kPatience;
    return options;
  }

  void SetUp() override {
    ASSERT_TRUE(engine_.CreateTable(PlainTable(kTable)).ok());
    for (const char* name : {"hot", "warm", "other"}) {
      ASSERT_TRUE(engine_.Put(WriteTo(kTable, Counter(name, 0))).ok());
    }
    Contend([&] { return IncrementOf("hot"); });
    Contend([&] { return IncrementOf("warm"); });
  }

  using Write = void (Engine::*)(RequestContext, WriteRequest, Callback<WriteResult>);
  Answer<WriteResult> Send(Write write, WriteRequest request) {
    Answer<WriteResult> answer;
    ((*engine_).*write)({}, std::move(request), answer.Catch());
    return answer;
  }
  Answer<WriteResult> SendIncrement(std::string_view name) { return Send(&Engine::UpdateItem, IncrementOf(name)); }
  // The value of the counter that the answer shows, or the name of its error.
  static std::string Outcome(Answer<WriteResult>& answer) {
    const absl::StatusOr<WriteResult> result = answer.Take();
    if (!result.ok()) return ErrorNameOf(result.status());
    return result->attributes.has_value() ? std::to_string(NumberIn(result->attributes->view())) : "ok";
  }

  // Lets a request wait for the row that `request()` updates. The row is contended after that.
  template <class Request>
  void Contend(Request request) {
    HeldSyncs::Begin();
    Answer<WriteResult> first = Send(&Engine::UpdateItem, request());
    HeldSyncs::AwaitOne();
    Answer<WriteResult> second = Send(&Engine::UpdateItem, request());
    HeldSyncs::End();
    ASSERT_TRUE(first.Take().ok());
    ASSERT_TRUE(second.Take().ok());
  }

  // Holds the committer in the batch of an increment of "hot", so that later writes are queued behind it.
  Answer<WriteResult> HoldIncrement() {
    HeldSyncs::Begin();
    Answer<WriteResult> held = SendIncrement("hot");
    HeldSyncs::AwaitOne();
    return held;
  }

  int64_t Durable(std::string_view name) {
    const absl::StatusOr<GetItemResult> got = engine_.Get(GetFrom(kTable, Key(name)));
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() && got->item.has_value() ? NumberIn(got->item->view()) : -1;
  }
  size_t Queued() { return engine_.database().commits().counters().queue_commits; }
  uint64_t Batches() { return engine_.database().commits().counters().batches; }

  // Lets the held sync fail as on a full disk, and waits until writes are accepted again.
  void FailAndResume() {
    HeldSyncs::End(ENOSPC);
    ASSERT_TRUE(TestEngine::WaitUntil([&] { return engine_.database().disk_report().has_failed; }).ok());
    HeldSyncs::End();
    ASSERT_TRUE(TestEngine::WaitUntil([&] { return !engine_.database().disk_report().is_read_only(); }).ok());
  }

  TestEngine engine_;
};

TEST_F(HotRowsTest, WritesOfOneRowAreDecidedOnQueuedValuesAndWrittenTogether) {
  const int64_t before = Durable("hot");
  Answer<WriteResult> held = HoldIncrement();
  const uint64_t batches = Batches();
  std::vector<Answer<WriteResult>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(SendIncrement("hot"));
  EXPECT_EQ(Queued(), 20U);
  EXPECT_EQ(Durable("hot"), before) << "clients read what is durable";
  for (const auto& answer : answers) EXPECT_FALSE(answer.IsThere());
  HeldSyncs::End();
  EXPECT_EQ(Outcome(held), std::to_string(before + 1));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Outcome(answers[i]), std::to_string(before + 2 + i));
  EXPECT_EQ(Durable("hot"), before + 21);
  EXPECT_EQ(Batches(), batches + 1);
}

TEST_F(HotRowsTest, ARowThatNobodyWaitsForStaysLockedUntilItsWriteIsDurable) {
  HeldSyncs::Begin();
  Answer<WriteResult> first = Send(&Engine::PutItem, WriteTo(kTable, Counter("other", 7)));
  HeldSyncs::AwaitOne();
  Answer<WriteResult> second = SendIncrement("other");
  EXPECT_EQ(Queued(), 0U);
  HeldSyncs::End();
  EXPECT_EQ(Outcome(first), "ok");
  EXPECT_EQ(Outcome(second), "8");
}

TEST_F(HotRowsTest, AFailedBatchFailsAllThatWasDecidedOnIt) {
  const int64_t before = Durable("hot");
  Answer<WriteResult> held = HoldIncrement();
  std::vector<Answer<WriteResult>> answers;
  for (int i = 0; i < 5; ++i) answers.push_back(SendIncrement("hot"));
  answers.push_back(Send(&Engine::DeleteItem, WriteTo(kTable, Key("hot"))));
  answers.push_back(Send(&Engine::PutItem, WriteTo(kTable, Counter("hot", 1000))));
  FailAndResume();
  EXPECT_EQ(Outcome(held), "ServiceUnavailable");
  for (auto& answer : answers) EXPECT_EQ(Outcome(answer), "ServiceUnavailable");
  EXPECT_EQ(Durable("hot"), before);
  Answer<WriteResult> next = SendIncrement("hot");
  EXPECT_EQ(Outcome(next), std::to_string(before + 1)) << "decided on what is durable";
}

TEST_F(HotRowsTest, AFalseConditionIsAnsweredWhenTheItemIsDurable) {
  const int64_t before = Durable("hot");
  Answer<WriteResult> held = HoldIncrement();
  Answer<WriteResult> refused = Send(&Engine::PutItem, PutIf("hot", 9, before));
  Answer<WriteResult> done = Send(&Engine::PutItem, PutIf("hot", before + 5, before + 1));
  EXPECT_FALSE(refused.IsThere());
  HeldSyncs::End();
  const absl::StatusOr<WriteResult> result = refused.Take();
  ASSERT_EQ(ErrorNameOf(result.status()), "ConditionalCheckFailedException");
  EXPECT_EQ(NumberIn(GetApiError(result.status())->item), before + 1);
  EXPECT_EQ(Durable("hot"), before + 1 + 4 * (Outcome(done) == "ok" ? 1 : 0));
}

TEST_F(HotRowsTest, AFalseConditionOnAValueThatFailsIsNotAnswered) {
  const int64_t before = Durable("hot");
  Answer<WriteResult> held = HoldIncrement();
  Answer<WriteResult> refused = Send(&Engine::PutItem, PutIf("hot", 9, before));
  WriteRequest invalid = WriteTo(kTable, Key("hot"));
  invalid.expressions.update = "SET n = n + absent_count";
  Answer<WriteResult> failed = Send(&Engine::UpdateItem, std::move(invalid));
  EXPECT_FALSE(failed.IsThere());
  FailAndResume();
  EXPECT_EQ(Outcome(refused), "ServiceUnavailable");
  EXPECT_EQ(Outcome(failed), "ServiceUnavailable");
  EXPECT_EQ(Outcome(held), "ServiceUnavailable");
}

TEST_F(HotRowsTest, AWriteThatChangesNothingIsAnsweredWhenTheItemIsDurable) {
  const int64_t before = Durable("hot");
  Answer<WriteResult> held = HoldIncrement();
  WriteRequest same = WriteTo(kTable, Counter("hot", before + 1));
  same.return_values = "ALL_OLD";
  Answer<WriteResult> unchanged = Send(&Engine::PutItem, same);
  EXPECT_FALSE(unchanged.IsThere());
  HeldSyncs::End();
  EXPECT_EQ(Outcome(unchanged), std::to_string(before + 1));
  held = HoldIncrement();
  same.item_wire = Counter("hot", before + 2);
  unchanged = Send(&Engine::PutItem, std::move(same));
  FailAndResume();
  EXPECT_EQ(Outcome(unchanged), "ServiceUnavailable");
}

TEST_F(HotRowsTest, AQueuedDeletionIsSeenByTheNextWriter) {
  Answer<WriteResult> held = HoldIncrement();
  Answer<WriteResult> deleted = Send(&Engine::DeleteItem, WriteTo(kTable, Key("hot")));
  WriteRequest create = WriteTo(kTable, Counter("hot", 50));
  create.expressions.condition = "attribute_not_exists(pk)";
  Answer<WriteResult> created = Send(&Engine::PutItem, create);
  Answer<WriteResult> refused = Send(&Engine::PutItem, create);
  HeldSyncs::End();
  EXPECT_EQ(Outcome(deleted), "ok");
  EXPECT_EQ(Outcome(created), "ok");
  EXPECT_EQ(Outcome(refused), "ConditionalCheckFailedException");
  EXPECT_EQ(Durable("hot"), 50);
  const absl::StatusOr<TableDescription> described = engine_.Describe(kTable);
  ASSERT_TRUE(described.ok());
  EXPECT_EQ(described->totals.item_count, 3);
}

TEST_F(HotRowsTest, TransactionsReadAndWriteQueuedValuesAsAWhole) {
  const int64_t hot = Durable("hot");
  const int64_t warm = Durable("warm");
  Answer<WriteResult> held = HoldIncrement();
  Answer<TransactWriteResult> both;
  engine_->TransactWriteItems({}, TransactionOf({Increment("hot"), Increment("warm")}), both.Catch());
  Answer<TransactGetResult> read;
  engine_->TransactGetItems({}, ReadOf(kTable, {Key("hot"), Key("warm")}), read.Catch());
  Answer<TransactWriteResult> cancelled;
  engine_->TransactWriteItems({},
                              TransactionOf({ActionOf(WriteKind::kConditionCheck, kTable, Key("hot"), "n = :n", "",
                                                      codec::Item({{":n", N(std::to_string(hot))}})),
                                             Increment("warm")}),
                              cancelled.Catch());
  EXPECT_FALSE(both.IsThere() || read.IsThere() || cancelled.IsThere());
  EXPECT_EQ(Durable("warm"), warm);
  HeldSyncs::End();
  EXPECT_TRUE(both.Take().ok());
  const absl::StatusOr<TransactGetResult> states = read.Take();
  ASSERT_TRUE(states.ok()) << states.status();
  EXPECT_EQ(NumberIn(states->items[0]->view()), hot + 2);
  EXPECT_EQ(NumberIn(states->items[1]->view()), warm + 1);
  EXPECT_EQ(ReasonsOf(cancelled.Take().status()), "ConditionalCheckFailed None");
  EXPECT_EQ(Durable("warm"), warm + 1);
}

TEST_F(HotRowsTest, TransactionsOnAFailedValueFail) {
  const int64_t warm = Durable("warm");
  Answer<WriteResult> held = HoldIncrement();
  Answer<TransactWriteResult> both;
  engine_->TransactWriteItems({}, TransactionOf({Increment("hot"), Increment("warm")}, "token"), both.Catch());
  Answer<TransactGetResult> read;
  engine_->TransactGetItems({}, ReadOf(kTable, {Key("hot"), Key("warm")}), read.Catch());
  Answer<WriteResult> last = SendIncrement("warm");
  FailAndResume();
  EXPECT_EQ(ErrorNameOf(both.Take().status()), "ServiceUnavailable");
  EXPECT_EQ(ErrorNameOf(read.Take().status()), "ServiceUnavailable");
  EXPECT_EQ(Outcome(last), "ServiceUnavailable");
  EXPECT_EQ(Durable("warm"), warm);
  EXPECT_TRUE(Transact(engine_, TransactionOf({Increment("hot"), Increment("warm")}, "token")).ok());
  EXPECT_EQ(Durable("warm"), warm + 1);
}

TEST_F(HotRowsTest, MembersOfABatchReleaseContendedRows) {
  Answer<WriteResult> held = HoldIncrement();
  Answer<BatchWriteResult> batch;
  engine_->BatchWriteItem({}, BatchOf(kTable, {PutOf(Counter("hot", 100)), PutOf(Counter("new", 1))}), batch.Catch());
  Answer<WriteResult> next = SendIncrement("hot");
  Answer<BatchWriteResult> same;
  engine_->BatchWriteItem({}, BatchOf(kTable, {PutOf(Counter("hot", 101))}), same.Catch());
  EXPECT_FALSE(batch.IsThere() || same.IsThere());
  HeldSyncs::End();
  EXPECT_TRUE(batch.Take().ok());
  EXPECT_EQ(Outcome(next), "101");
  EXPECT_TRUE(same.Take().ok());
  EXPECT_EQ(Durable("hot"), 101);
}

// A write that lets an item collection grow may be refused when it is written, for its own reason.
TEST_F(HotRowsTest, AWriteThatMayBeRefusedAloneKeepsItsLock) {
  model::TableDefinition definition = PlainTable(kCollections);
  definition.attribute_definitions.push_back({"l", "S"});
  definition.local_indexes = {IndexOf("ByL", {{"pk", "HASH"}, {"l", "RANGE"}}, "ALL")};
  ASSERT_TRUE(engine_.CreateTable(definition).ok());
  const auto put = [](std::string text) {
    return WriteTo(kCollections, PlainItem("hot", "1", {{"l", S("l")}, {"text", S(std::move(text))}}));
  };
  const auto set = [](std::string text) {
    WriteRequest request = WriteTo(kCollections, Key("hot"));
    request.expressions.update = "SET #t = :t";
    request.expressions.names = {{{"#t", "text"}}};
    request.expressions.values_wire = codec::Item({{":t", S(std::move(text))}});
    return request;
  };
  ASSERT_TRUE(engine_.Put(put("a")).ok());
  std::string next = "b";
  Contend([&] { return set(std::exchange(next, "c")); });
  Answer<WriteResult> held = HoldIncrement();
  Answer<WriteResult> same_size = Send(&Engine::UpdateItem, set("d"));
  Answer<WriteResult> larger = Send(&Engine::UpdateItem, set("eee"));
  EXPECT_EQ(Queued(), 2U);
  Answer<WriteResult> waits = Send(&Engine::UpdateItem, set("fff"));
  EXPECT_EQ(Queued(), 2U);
  HeldSyncs::End();
  for (auto* const answer : {&held, &same_size, &larger, &waits}) EXPECT_TRUE(answer->Take().ok());
}

TEST_F(HotRowsTest, AStopAnswersAllWritesOfAChain) {
  Answer<WriteResult> held = HoldIncrement();
  std::vector<Answer<WriteResult>> answers;
  for (int i = 0; i < 10; ++i) answers.push_back(SendIncrement("hot"));
  std::thread stop([&] { engine_.StopEngine(); });
  HeldSyncs::End();
  stop.join();
  for (auto& answer : answers) EXPECT_TRUE(answer.IsThere());
}

// Chains of dependent writes while syncs fail again and again: each acknowledged increment is there once, and no other.
TEST_F(HotRowsTest, CountersCountWhatWasAcknowledgedWhileSyncsFail) {
  constexpr int kClients = 8;
  constexpr int kFailures = 3;
  std::atomic<bool> stop = false;
  std::atomic<int64_t> transactions = 0;
  std::atomic<int64_t> acknowledged = 0;
  absl::Mutex mutex;
  std::set<int64_t> seen;
  const int64_t hot = Durable("hot");
  const int64_t warm = Durable("warm");
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      while (!stop) {
        if (i % 4 == 3) {
          const auto both = Transact(engine_, TransactionOf({Increment("hot"), Increment("warm")}));
          if (both.ok()) ++transactions;
          continue;
        }
        const absl::StatusOr<WriteResult> result = engine_.Update(IncrementOf("hot"));
        if (!result.ok()) continue;
        ++acknowledged;
        const absl::MutexLock lock(&mutex);
        EXPECT_TRUE(seen.insert(NumberIn(result->attributes->view())).second) << "a value was given twice";
      }
    });
  }
  for (int failure = 0; failure < kFailures; ++failure) {
    const int64_t before = acknowledged;
    ASSERT_TRUE(TestEngine::WaitUntil([&] { return acknowledged > before + 100; }).ok());
    HeldSyncs::Begin();
    HeldSyncs::AwaitOne();
    FailAndResume();
  }
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(Durable("hot"), hot + acknowledged + transactions);
  EXPECT_EQ(Durable("warm"), warm + transactions);
  engine_.Reopen();
  EXPECT_EQ(Durable("hot"), hot + acknowledged + transactions);
  EXPECT_GE(Durable("hot"), *seen.rbegin());
}

}  // namespace armature::engine::hot_rows_test
