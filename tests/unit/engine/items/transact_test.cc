// Transactions: properties that conformance cases cannot show, such as locked rows, token expiry, restarts and
// throttling.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/store/commit/lock_table.h"
#include "tests/unit/engine/items/group_test_util.h"

namespace armature::engine::transact_test {

using codec::N;
using codec::S;

constexpr char kTable[] = "things";
constexpr char kPlain[] = "plain";
constexpr int64_t kTenMinutesMs = 600'000;

class TransactTest : public testing::Test {
 protected:
  explicit TransactTest(absl::Duration wait = absl::Milliseconds(20))
      : now_ms_(std::make_shared<std::atomic<int64_t>>(1'700'000'000'000)),
        clock_ns_(std::make_shared<std::atomic<int64_t>>(0)),
        engine_(store::Durability::kOs, Options(wait),
                [](store::DatabaseOptions* options) { options->item_collection_bytes_max = 100'000; }) {
    model::TableDefinition table = PlainTable(kTable);
    table.attribute_definitions.push_back({"l", "S"});
    table.attribute_definitions.push_back({"g", "S"});
    table.local_indexes = {IndexOf("ByL", {{"pk", "HASH"}, {"l", "RANGE"}}, "ALL")};
    table.global_indexes = {IndexOf("ByG", {{"g", "HASH"}}, "ALL")};
    EXPECT_TRUE(engine_.CreateTable(table).ok());
    EXPECT_TRUE(engine_.CreateTable(PlainTable(kPlain)).ok());
  }

  EngineOptions Options(absl::Duration wait) const {
    EngineOptions options;
    options.transaction_wait = wait;
    options.unix_ms = [now = now_ms_] { return now->load(); };
    options.monotonic_ns = [now = clock_ns_] { return now->load(); };
    return options;
  }

  // Lets the server run for a time.
  void Run(int64_t ms) { *clock_ns_ += ms * 1'000'000; }

  static std::string Thing(std::string_view pk, std::string_view sk, std::string_view value) {
    return PlainItem(pk, sk, {{"g", S("g")}, {"l", S(value)}});
  }
  static TransactAction Put(std::string item, std::string condition = "") {
    return ActionOf(WriteKind::kPut, kTable, std::move(item), std::move(condition));
  }
  // Adds one to the attribute "n" of an item in the table without indexes.
  static TransactAction Count(std::string_view pk) {
    return ActionOf(WriteKind::kUpdate, kPlain, PlainItem(pk, "1"), "", "ADD n :one", codec::Item({{":one", N("1")}}));
  }
  std::string CountOf(std::string_view pk) {
    const absl::StatusOr<GetItemResult> got = engine_.Get(GetFrom(kPlain, PlainItem(pk, "1")));
    if (!got.ok()) return got.status().ToString();
    if (!got->item.has_value()) return "none";
    const auto value = model::ItemView(got->item->view()).Find("n");
    return value.has_value() ? std::string(value->scalar()) : "none";
  }
  // Number of entries in the partition "a" or "g" of the table, its local and its global index.
  std::string Counts(uint64_t at_least_sequence) {
    std::string counts;
    for (const char* const index : {"", "ByL", "ByG"}) {
      ReadRequest request;
      request.table_name = kTable;
      if (*index != '\0') request.index_name = index;
      const bool global = std::string_view(index) == "ByG";
      request.expressions.key_condition = global ? "g = :v" : "pk = :v";
      request.expressions.values_wire = codec::Item({{":v", S(global ? "g" : "a")}});
      request.at_least_sequence = global ? at_least_sequence : 0;
      const absl::StatusOr<Page> page = engine_.Query(std::move(request));
      counts += page.ok() ? Cat(page->items.size(), " ") : page.status().ToString();
    }
    return counts;
  }

  std::shared_ptr<std::atomic<int64_t>> now_ms_;
  std::shared_ptr<std::atomic<int64_t>> clock_ns_;
  TestEngine engine_;
};

TEST_F(TransactTest, AllOrNothingWithIndexes) {
  const std::vector<TransactAction> puts = {Put(Thing("a", "1", "x")), Put(Thing("a", "2", "y")),
                                            Put(Thing("b", "1", "z"))};
  std::vector<TransactAction> refused = puts;
  refused.push_back(Put(Thing("b", "2", "z"), "attribute_exists(pk)"));
  EXPECT_EQ(ReasonsOf(Transact(engine_, TransactionOf(refused)).status()), "None None None ConditionalCheckFailed");
  EXPECT_EQ(Counts(0), "0 0 0 ");
  const absl::StatusOr<TransactWriteResult> done = Transact(engine_, TransactionOf(puts));
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_GT(done->change_sequence, 0u);
  EXPECT_EQ(Counts(done->change_sequence), "2 2 3 ");
}

// They are judged before the rest of the key, and refuse the request instead of cancelling it.
TEST_F(TransactTest, EmptyKeyAttributesRefuseTheRequest) {
  const std::string no_sort_key = codec::Item({{"pk", S("")}});
  const std::string wrong_sort_key = codec::Item({{"pk", S("")}, {"sk", S("text")}});
  for (const TransactAction& action :
       {ActionOf(WriteKind::kPut, kPlain, PlainItem("", "1")), ActionOf(WriteKind::kDelete, kPlain, PlainItem("", "1")),
        ActionOf(WriteKind::kPut, kPlain, no_sort_key), ActionOf(WriteKind::kPut, kPlain, wrong_sort_key),
        Put(PlainItem("a", "1", {{"g", S("")}})), Put(PlainItem("", "1", {{"g", S("")}}))}) {
    const absl::Status status =
        Transact(engine_, TransactionOf({ActionOf(WriteKind::kPut, kPlain, PlainItem("a", "2")), action})).status();
    const std::optional<ApiError> error = GetApiError(status);
    ASSERT_TRUE(error.has_value()) << status;
    EXPECT_EQ(error->type, ApiErrorType::kValidation) << status;
    EXPECT_THAT(error->message, testing::HasSubstr("cannot contain an empty string value"));
  }
  const std::string mismatch = codec::Item({{"pk", S("a")}, {"sk", S("text")}});
  EXPECT_EQ(ReasonsOf(Transact(engine_, TransactionOf({ActionOf(WriteKind::kPut, kPlain, PlainItem("a", "2")),
                                                       ActionOf(WriteKind::kPut, kPlain, mismatch)}))
                          .status()),
            "None ValidationError");
}

TEST_F(TransactTest, EachActionFindsItsOwnTable) {
  const TransactAction plain = ActionOf(WriteKind::kPut, kPlain, PlainItem("a", "1"));
  const TransactAction again = ActionOf(WriteKind::kPut, kPlain, PlainItem("a", "2"));
  const TransactAction missing = ActionOf(WriteKind::kPut, "missing", PlainItem("a", "1"));
  for (const std::vector<TransactAction>& actions :
       {std::vector{missing, plain}, {plain, missing}, {plain, again, missing}, {plain, missing, again}}) {
    const absl::Status status = Transact(engine_, TransactionOf(actions)).status();
    const std::optional<ApiError> error = GetApiError(status);
    ASSERT_TRUE(error.has_value()) << status;
    EXPECT_EQ(error->type, ApiErrorType::kResourceNotFound) << status;
  }
  EXPECT_TRUE(Transact(engine_, TransactionOf({plain, again, Put(PlainItem("a", "1"))})).ok());
}

TEST_F(TransactTest, OneCommitForAllActions) {
  const uint64_t batches = engine_.database().commits().counters().batches;
  std::vector<TransactAction> actions;
  for (int i = 0; i < 100; ++i) actions.push_back(Put(Thing("a", std::to_string(i), "x")));
  const absl::StatusOr<TransactWriteResult> done = Transact(engine_, TransactionOf(std::move(actions), "token"));
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(engine_.database().commits().counters().batches, batches + 1);
  EXPECT_EQ(Counts(done->change_sequence), "100 100 100 ");
}

TEST_F(TransactTest, ACollectionThatIsFullCancelsWithAReason) {
  const std::string large(30'000, 'x');
  EXPECT_EQ(
      ReasonsOf(Transact(engine_, TransactionOf({Put(PlainItem("b", "1")), Put(PlainItem("a", "1", {{"x", S(large)}})),
                                                 Put(PlainItem("a", "2", {{"x", S(large)}})),
                                                 Put(PlainItem("a", "3", {{"x", S(large)}})),
                                                 Put(PlainItem("a", "4", {{"x", S(large)}})), Count("c")}))
                    .status()),
      "None ItemCollectionSizeLimitExceeded ItemCollectionSizeLimitExceeded ItemCollectionSizeLimitExceeded "
      "ItemCollectionSizeLimitExceeded None");
  EXPECT_EQ(CountOf("c"), "none");
}

TEST_F(TransactTest, FullCollectionsAreToldFromOthersOfTheSameKey) {
  model::TableDefinition other = PlainTable("other");
  other.attribute_definitions.push_back({"l", "S"});
  other.local_indexes = {IndexOf("ByL", {{"pk", "HASH"}, {"l", "RANGE"}}, "ALL")};
  ASSERT_TRUE(engine_.CreateTable(other).ok());
  const auto large = [](const char* table, std::string_view pk, std::string_view sk) {
    return ActionOf(WriteKind::kPut, table, PlainItem(pk, sk, {{"x", S(std::string(60'000, 'x'))}}));
  };
  // The partition "a" of the first table and "b" of the second stay small.
  EXPECT_EQ(ReasonsOf(Transact(engine_, TransactionOf({Put(PlainItem("a", "1")), large("other", "a", "1"),
                                                       large(kTable, "b", "1"), large("other", "a", "2"),
                                                       ActionOf(WriteKind::kPut, "other", PlainItem("b", "1")),
                                                       large(kTable, "b", "2")}))
                          .status()),
            "None ItemCollectionSizeLimitExceeded ItemCollectionSizeLimitExceeded ItemCollectionSizeLimitExceeded "
            "None ItemCollectionSizeLimitExceeded");
}

TEST_F(TransactTest, AnItemOfATransactionConflictsAfterAWhile) {
  HeldRequest<TransactWriteResult> held([this](RequestContext context) {
    return Transact(engine_, TransactionOf({Count("a"), Count("b")}), std::move(context));
  });
  const absl::Status other = Transact(engine_, TransactionOf({Count("c"), Count("b"), Count("d")})).status();
  EXPECT_EQ(ReasonsOf(other), "None TransactionConflict None");
  EXPECT_EQ(GetCancellationReasons(other)[1].message, "Transaction is ongoing for the item.");
  EXPECT_EQ(ReasonsOf(TransactRead(engine_, ReadOf(kPlain, {PlainItem("b", "1"), PlainItem("e", "1")})).status()),
            "TransactionConflict None");
  const absl::Status single = engine_.Put(WriteTo(kPlain, PlainItem("a", "1"))).status();
  EXPECT_EQ(ErrorNameOf(single), "TransactionConflictException");
  EXPECT_EQ(Sv(single.message()), "Transaction is ongoing for the item");
  const absl::StatusOr<BatchWriteResult> batch =
      BatchWriteTo(engine_, BatchOf(kPlain, {PutOf(PlainItem("a", "1")), PutOf(PlainItem("f", "1"))}));
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_EQ(batch->unprocessed[0].writes.size(), 1u);
  const absl::StatusOr<BatchWriteResult> alone = BatchWriteTo(engine_, BatchOf(kPlain, {PutOf(PlainItem("a", "1"))}));
  ASSERT_TRUE(alone.ok()) << alone.status() << ": the client repeats what is left, whatever became of the others";
  EXPECT_EQ(alone->unprocessed[0].writes.size(), 1u);
  // Reads of single items do not wait.
  EXPECT_EQ(CountOf("a"), "none");
  ASSERT_TRUE(held.Finish().ok());
  EXPECT_EQ(CountOf("a"), "1");
  EXPECT_EQ(CountOf("d"), "none");
  EXPECT_TRUE(Transact(engine_, TransactionOf({Count("c"), Count("b")})).ok());
}

TEST_F(TransactTest, ASingleWriteWaitsForOthersOfItsKindAsLongAsItMay) {
  HeldRequest<WriteResult> held(
      [this](RequestContext context) { return engine_.Put(WriteTo(kPlain, PlainItem("a", "1")), std::move(context)); });
  Answer<WriteResult> waiting;
  engine_->PutItem({}, WriteTo(kPlain, PlainItem("a", "1", {{"n", N("7")}})), waiting.Catch());
  // Each lasts as long as the wait for a transaction.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ReasonsOf(Transact(engine_, TransactionOf({Count("a")})).status()), "TransactionConflict");
  }
  EXPECT_FALSE(waiting.IsThere());
  ASSERT_TRUE(held.Finish().ok());
  const absl::StatusOr<WriteResult> result = waiting.Take();
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(CountOf("a"), "7");
}

TEST_F(TransactTest, ADeadlineOfTheRequestIsTold) {
  HeldRequest<TransactWriteResult> held(
      [this](RequestContext context) { return Transact(engine_, TransactionOf({Count("a")}), std::move(context)); });
  RequestContext context;
  context.deadline = Deadline::After(absl::Milliseconds(1));
  EXPECT_EQ(ErrorNameOf(Transact(engine_, TransactionOf({Count("a")}), std::move(context)).status()),
            "DeadlineExceeded");
}

TEST_F(TransactTest, ATokenMakesARepeatSucceedWithoutDoingAnything) {
  ASSERT_TRUE(Transact(engine_, TransactionOf({Count("a")}, "t")).ok());
  const absl::StatusOr<TransactWriteResult> again = Transact(engine_, TransactionOf({Count("a")}, "t"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(CountOf("a"), "1");
  engine_.Reopen();
  EXPECT_TRUE(Transact(engine_, TransactionOf({Count("a")}, "t")).ok());
  EXPECT_EQ(CountOf("a"), "1");
  EXPECT_EQ(ErrorNameOf(Transact(engine_, TransactionOf({Count("b")}, "t")).status()),
            "IdempotentParameterMismatchException");
  EXPECT_TRUE(Transact(engine_, TransactionOf({Count("a")}, "u")).ok());
  EXPECT_TRUE(Transact(engine_, TransactionOf({Count("a")})).ok());
  EXPECT_EQ(CountOf("a"), "3");
}

TEST_F(TransactTest, ARepeatIsJudgedByWhatItMeans) {
  const auto request = [](std::vector<std::pair<std::string, std::string>> attributes) {
    return TransactionOf({ActionOf(WriteKind::kPut, kPlain, codec::Item(attributes))}, "t");
  };
  ASSERT_TRUE(Transact(engine_, request({{"pk", S("a")}, {"sk", N("1")}, {"n", N("10")}})).ok());
  // Another order, another spelling of a number, and the table's ARN.
  TransactWriteRequest same = request({{"n", N("1e1")}, {"sk", N("1.0")}, {"pk", S("a")}});
  same.actions[0].write.table_name = Cat("arn:aws:dynamodb:local:000000000000:table/", kPlain);
  EXPECT_TRUE(Transact(engine_, same).ok());
  const std::string mismatch = "IdempotentParameterMismatchException";
  EXPECT_EQ(ErrorNameOf(Transact(engine_, request({{"pk", S("a")}, {"sk", N("1")}, {"n", N("11")}})).status()),
            mismatch);
  TransactWriteRequest other = request({{"pk", S("a")}, {"sk", N("1")}, {"n", N("10")}});
  other.return_consumed_capacity = "TOTAL";
  EXPECT_EQ(ErrorNameOf(Transact(engine_, other).status()), mismatch);
  other = request({{"pk", S("a")}, {"sk", N("1")}, {"n", N("10")}});
  other.actions[0].write.expressions.condition = "attribute_exists(pk)";
  EXPECT_EQ(ErrorNameOf(Transact(engine_, other).status()), mismatch);
  other = request({{"pk", S("a")}, {"sk", N("1")}, {"n", N("10")}});
  other.actions.push_back(Count("b"));
  EXPECT_EQ(ErrorNameOf(Transact(engine_, other).status()), mismatch);
}

TEST_F(TransactTest, ACancelledTransactionLeavesItsTokenFree) {
  TransactAction check = ActionOf(WriteKind::kConditionCheck, kPlain, PlainItem("gate", "1"), "attribute_exists(pk)");
  EXPECT_EQ(ReasonsOf(Transact(engine_, TransactionOf({Count("a"), check}, "t")).status()),
            "None ConditionalCheckFailed");
  ASSERT_TRUE(engine_.Put(WriteTo(kPlain, PlainItem("gate", "1"))).ok());
  EXPECT_TRUE(Transact(engine_, TransactionOf({Count("a"), check}, "t")).ok());
  EXPECT_EQ(CountOf("a"), "1");
}

TEST_F(TransactTest, ATokenIsGoodForTenMinutes) {
  ASSERT_TRUE(Transact(engine_, TransactionOf({Count("a")}, "t")).ok());
  Run(kTenMinutesMs - 1);
  EXPECT_TRUE(Transact(engine_, TransactionOf({Count("a")}, "t")).ok());
  EXPECT_EQ(CountOf("a"), "1");
  Run(1);
  EXPECT_TRUE(Transact(engine_, TransactionOf({Count("b")}, "t")).ok());
  EXPECT_EQ(CountOf("b"), "1");
  // The token can be used again.
  EXPECT_TRUE(Transact(engine_, TransactionOf({Count("b")}, "t")).ok());
  EXPECT_EQ(CountOf("b"), "1");
}

TEST_F(TransactTest, ATokenDoesNotExpireWhenTheClockIsSet) {
  ASSERT_TRUE(Transact(engine_, TransactionOf({Count("a")}, "t")).ok());
  *now_ms_ += 100 * kTenMinutesMs;
  EXPECT_TRUE(Transact(engine_, TransactionOf({Count("a")}, "t")).ok());
  EXPECT_EQ(CountOf("a"), "1");
  // A start goes on where the clock of tokens was at the last token.
  Run(kTenMinutesMs / 2);
  ASSERT_TRUE(Transact(engine_, TransactionOf({Count("b")}, "u")).ok());
  engine_.Reopen();
  Run(kTenMinutesMs / 2 - 1);
  EXPECT_TRUE(Transact(engine_, TransactionOf({Count("a")}, "t")).ok());
  EXPECT_EQ(CountOf("a"), "1");
  *now_ms_ = 0;
  engine_.Reopen();
  Run(kTenMinutesMs / 2);
  EXPECT_TRUE(Transact(engine_, TransactionOf({Count("a")}, "t")).ok());
  EXPECT_EQ(CountOf("a"), "2") << "it expires all the same";
}

TEST_F(TransactTest, ATokenIsNotThatOfATableCreatedAnew) {
  ASSERT_TRUE(Transact(engine_, TransactionOf({Count("a")}, "t")).ok());
  ASSERT_TRUE(engine_.DeleteTable(kPlain).ok());
  ASSERT_TRUE(TestEngine::WaitUntil([this] { return engine_.CreateTable(PlainTable(kPlain)).ok(); }).ok());
  EXPECT_EQ(ErrorNameOf(Transact(engine_, TransactionOf({Count("a")}, "t")).status()),
            "IdempotentParameterMismatchException");
  EXPECT_EQ(CountOf("a"), "none");
}

TEST_F(TransactTest, PrincipalsHaveTokensOfTheirOwn) {
  const auto transact = [this](std::string scope, std::string_view pk) {
    TransactWriteRequest request = TransactionOf({Count(pk)}, "t");
    request.token_scope = std::move(scope);
    return ErrorNameOf(Transact(engine_, std::move(request)).status());
  };
  EXPECT_EQ(transact("alice", "a"), "OK");
  EXPECT_EQ(transact("bob", "a"), "OK") << "executed, not taken for a repeat";
  EXPECT_EQ(CountOf("a"), "2");
  EXPECT_EQ(transact("bob", "b"), "IdempotentParameterMismatchException");
  EXPECT_EQ(transact("", "b"), "OK");
  EXPECT_EQ(transact("alice", "a"), "OK");
  EXPECT_EQ(CountOf("a"), "2");
}

TEST_F(TransactTest, ATokenOfATransactionUnderWayIsRefused) {
  HeldRequest<TransactWriteResult> held([this](RequestContext context) {
    return Transact(engine_, TransactionOf({Count("a")}, "t"), std::move(context));
  });
  EXPECT_EQ(ErrorNameOf(Transact(engine_, TransactionOf({Count("a")}, "t")).status()),
            "TransactionInProgressException");
  ASSERT_TRUE(held.Finish().ok());
  EXPECT_TRUE(Transact(engine_, TransactionOf({Count("a")}, "t")).ok());
  EXPECT_EQ(CountOf("a"), "1");
}

TEST_F(TransactTest, ExpiredTokensAreSwept) {
  constexpr int kTokens = 2500;  // several sweeps
  const auto is_there = [this](int token) {
    store::TokenRecord record;
    const auto got = engine_.database().tokens().Find(Cat("t", token), store::ReadMode::kMayBlock, &record);
    return got.ok() && *got == store::GetResult::kFound;
  };
  for (int i = 0; i < kTokens; ++i) ASSERT_TRUE(Transact(engine_, TransactionOf({Count("a")}, Cat("t", i))).ok());
  EXPECT_TRUE(is_there(0));
  Run(kTenMinutesMs);
  // The clock of tokens goes on from this one, which expires later than the others.
  ASSERT_TRUE(Transact(engine_, TransactionOf({Count("a")}, "young")).ok());
  engine_.Reopen();  // tokens found at the start are swept, too
  const auto any = [&] {
    for (int i = 0; i < kTokens; ++i) {
      if (is_there(i)) return true;
    }
    return false;
  };
  EXPECT_TRUE(TestEngine::WaitUntil([&] { return !any(); }).ok());
  store::TokenRecord record;
  EXPECT_EQ(*engine_.database().tokens().Find("young", store::ReadMode::kMayBlock, &record), store::GetResult::kFound);
}

TEST_F(TransactTest, ReadsSeeAllOfATransactionOrNothing) {
  ASSERT_TRUE(Transact(engine_, TransactionOf({Count("a"), Count("b")})).ok());
  HeldRequest<TransactWriteResult> held([this](RequestContext context) {
    return Transact(engine_, TransactionOf({Count("a"), Count("b")}), std::move(context));
  });
  ASSERT_TRUE(held.Finish().ok());
  const absl::StatusOr<TransactGetResult> read =
      TransactRead(engine_, ReadOf(kPlain, {PlainItem("b", "1"), PlainItem("missing", "1"), PlainItem("a", "1")}));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->items.size(), 3u);
  EXPECT_EQ(read->items[0]->view(), codec::Item({{"n", N("2")}, {"pk", S("b")}, {"sk", N("1")}}));
  EXPECT_FALSE(read->items[1].has_value());
}

TEST_F(TransactTest, WhatReadsAndWaitsCountsWithAllOfItsMessage) {
  HeldRequest<TransactWriteResult> held(
      [this](RequestContext context) { return Transact(engine_, TransactionOf({Count("a")}), std::move(context)); });
  TransactGetRequest large = ReadOf(kPlain, {PlainItem("a", "1")});
  large.message_bytes = store::LockTable::kParkedBytesMax;
  EXPECT_EQ(ErrorNameOf(TransactRead(engine_, large).status()), "ThrottlingException");
}

TEST_F(TransactTest, CapacityForAllActionsOrForNone) {
  model::TableDefinition definition = PlainTable("small");
  definition.billing_mode = "PROVISIONED";
  definition.provisioned = model::Throughput{1, 1};
  ASSERT_TRUE(engine_.CreateTable(definition).ok());
  const auto put = [](std::string_view pk) {
    return ActionOf(WriteKind::kPut, "small", PlainItem(pk, "1", {{"x", S(std::string(200'000, 'x'))}}));
  };
  // 392 units each, of three hundred saved: one transaction may overdraw.
  ASSERT_TRUE(Transact(engine_, TransactionOf({put("a"), put("b")})).ok());
  const absl::Status refused = Transact(engine_, TransactionOf({Count("c"), put("d")})).status();
  EXPECT_EQ(ReasonsOf(refused), "None ProvisionedThroughputExceeded");
  EXPECT_EQ(CountOf("c"), "none");
  // 98 units each, of three hundred. Then no capacity is left.
  const TransactGetRequest reads = ReadOf("small", {PlainItem("a", "1"), PlainItem("b", "1")});
  EXPECT_TRUE(TransactRead(engine_, reads).ok());
  EXPECT_TRUE(TransactRead(engine_, reads).ok());
  EXPECT_EQ(ReasonsOf(TransactRead(engine_, reads).status()),
            "ProvisionedThroughputExceeded ProvisionedThroughputExceeded");
}

}  // namespace armature::engine::transact_test
