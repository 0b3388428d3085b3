#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "armature/client/errors.h"
#include "armature/client/item_builder.h"
#include "armature/client/retry_policy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/fake_connection.h"

namespace armature::client::retry_test {

using ::testing::ElementsAre;
using ::testing::SizeIs;

api::v1::PutItemRequest PlainPut() {
  api::v1::PutItemRequest request;
  request.set_table_name("t");
  *request.mutable_item() = ItemBuilder().Set("id", S("1")).Build();
  return request;
}

api::v1::PutItemRequest ConditionalPut() {
  api::v1::PutItemRequest request = PlainPut();
  request.set_condition_expression("attribute_not_exists(id)");
  return request;
}

TEST(Retry, RepeatsAReadThatFoundNoDaemon) {
  FakeClient fake;
  fake.connection->Fail(absl::UnavailableError("gone"));
  fake.connection->Fail(absl::UnavailableError("gone"));
  api::v1::GetItemResponse response;
  (*response.mutable_item()->mutable_attributes())["id"] = S("1");
  fake.connection->Answer(response);
  const auto answer = fake.Make().GetItem({});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->item().attributes().at("id").s(), "1");
  EXPECT_THAT(fake.connection->seen, SizeIs(3));
  EXPECT_THAT(fake.clock->sleeps, SizeIs(2));
}

TEST(Retry, ShowsTheRequestOfACallThatHasFailedWithItsLastError) {
  FakeClient fake;
  std::vector<std::pair<std::string, absl::Status>> failures;
  ClientOptions options;
  options.on_failure = [&failures](const google::protobuf::Message& request, const absl::Status& status) {
    failures.emplace_back(request.GetTypeName(), status);
  };
  const Client client = fake.Make(std::move(options));
  fake.connection->Fail(absl::UnavailableError("lost"));
  fake.connection->Answer(api::v1::PutItemResponse());
  fake.connection->Fail(ApiError(absl::StatusCode::kInvalidArgument, "ValidationException"));
  EXPECT_TRUE(client.PutItem(PlainPut()).ok());
  EXPECT_THAT(failures, SizeIs(0)) << "the repetition has succeeded";
  const absl::Status status = client.PutItem(PlainPut()).status();
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].first, "armature.api.v1.PutItemRequest");
  EXPECT_EQ(failures[0].second, status) << "with its hint";
}

TEST(Retry, RepeatsAPlainPutAfterALostConnection) {
  FakeClient fake;
  fake.connection->Fail(absl::UnavailableError("lost"));
  fake.connection->Answer(api::v1::PutItemResponse());
  EXPECT_TRUE(fake.Make().PutItem(PlainPut()).ok());
  EXPECT_THAT(fake.connection->seen, SizeIs(2));
}

TEST(Retry, DoesNotRepeatAConditionalPutThatMayHaveBeenApplied) {
  FakeClient fake;
  fake.connection->Fail(absl::UnavailableError("lost"));
  EXPECT_TRUE(absl::IsUnavailable(fake.Make().PutItem(ConditionalPut()).status()));
  EXPECT_THAT(fake.connection->seen, SizeIs(1));
}

TEST(Retry, DoesNotRepeatWhatTheDaemonBrokeOffInTheMiddle) {
  FakeClient fake;
  fake.connection->Fail(ApiError(absl::StatusCode::kUnavailable, "ServiceUnavailable"));
  EXPECT_FALSE(fake.Make().PutItem(ConditionalPut()).ok());
  EXPECT_THAT(fake.connection->seen, SizeIs(1));
}

TEST(Retry, RepeatsAConditionalPutThatWasRefusedOrNeverSent) {
  FakeClient fake;
  fake.connection->Fail(Throttled());
  fake.connection->Fail(NeverSent(absl::UnavailableError("no connection")));
  fake.connection->Answer(api::v1::PutItemResponse());
  EXPECT_TRUE(fake.Make().PutItem(ConditionalPut()).ok());
  EXPECT_THAT(fake.connection->seen, SizeIs(3));
}

// A retry could make a second backup, or fail because the table already exists.
TEST(Retry, RepeatsOfTheOperationsOnBackupsOnlyThoseThatRead) {
  const auto seen = [](const auto& call) {
    FakeClient fake;
    fake.connection->Fail(absl::UnavailableError("lost"));
    fake.connection->Fail(absl::UnavailableError("lost"));
    fake.connection->Answer(api::v1::DeleteBackupResponse());
    call(fake.Make());
    return fake.connection->seen.size();
  };
  EXPECT_EQ(seen([](const Client& client) { EXPECT_FALSE(client.CreateBackup({}).ok()); }), 1u);
  EXPECT_EQ(seen([](const Client& client) { EXPECT_FALSE(client.DeleteBackup({}).ok()); }), 1u);
  EXPECT_EQ(seen([](const Client& client) { EXPECT_FALSE(client.RestoreTableFromBackup({}).ok()); }), 1u);
  EXPECT_EQ(seen([](const Client& client) { EXPECT_TRUE(client.DescribeBackup({}).ok()); }), 3u);
  EXPECT_EQ(seen([](const Client& client) { EXPECT_TRUE(client.ListBackups(api::v1::ListBackupsRequest()).ok()); }),
            3u);
}

TEST(Retry, RepeatsAnUpdateOnlyIfTheCallerSaysItDoesNoHarm) {
  FakeClient fake;
  fake.connection->Fail(absl::UnavailableError("lost"));
  EXPECT_FALSE(fake.Make().UpdateItem({}).ok());
  EXPECT_THAT(fake.connection->seen, SizeIs(1));

  FakeClient told;
  told.connection->Fail(absl::UnavailableError("lost"));
  told.connection->Answer(api::v1::UpdateItemResponse());
  CallOptions options;
  options.idempotent = true;
  EXPECT_TRUE(told.Make().UpdateItem({}, options).ok());
  EXPECT_THAT(told.connection->seen, SizeIs(2));
}

// The first attempt may have been applied, whatever the outcome of the others.
TEST(Retry, WhatOneAttemptMayHaveAppliedIsNotCertainlyUnapplied) {
  for (const absl::Status& last : {ApiError(absl::StatusCode::kInvalidArgument, "ValidationException"),
                                   NeverSent(absl::UnavailableError("gone")), Throttled(/*retry_after_ms=*/60'000)}) {
    FakeClient fake;
    fake.connection->Fail(absl::UnavailableError("lost"));
    fake.connection->Fail(last);
    const absl::Status status = fake.Make().PutItem(PlainPut()).status();
    EXPECT_GE(fake.connection->seen.size(), 2u);
    EXPECT_EQ(ErrorName(status), ErrorName(last));
    EXPECT_EQ(status.code(), last.code());
    EXPECT_FALSE(CertainlyNotApplied(status)) << status;
  }
}

TEST(Retry, WhatEachAttemptRefusedIsCertainlyUnapplied) {
  FakeClient fake;
  fake.connection->Fail(NeverSent(absl::UnavailableError("no connection")));
  fake.connection->Fail(Throttled());
  fake.connection->Fail(ApiError(absl::StatusCode::kFailedPrecondition, "ConditionalCheckFailedException"));
  const absl::Status status = fake.Make().PutItem(ConditionalPut()).status();
  EXPECT_THAT(fake.connection->seen, SizeIs(3));
  EXPECT_TRUE(CertainlyNotApplied(status)) << status;
}

TEST(Retry, NeverRepeatsErrorsThatDoNotPass) {
  const absl::Status errors[] = {
      ApiError(absl::StatusCode::kInvalidArgument, "ValidationException"),
      ApiError(absl::StatusCode::kResourceExhausted, "LimitExceededException"),
      ApiError(absl::StatusCode::kInternal, "InternalServerError"),
      absl::ResourceExhaustedError("message larger than max"),
      absl::DeadlineExceededError("late"),
  };
  for (const absl::Status& error : errors) {
    FakeClient fake;
    fake.connection->Fail(error);
    EXPECT_EQ(fake.Make().GetItem({}).status(), error);
    EXPECT_THAT(fake.connection->seen, SizeIs(1)) << error;
  }
}

TEST(Retry, WaitsAsLongAsTheDaemonAdvises) {
  FakeClient fake;
  fake.connection->Fail(Throttled(/*retry_after_ms=*/3000));
  fake.connection->Answer(api::v1::GetItemResponse());
  EXPECT_TRUE(fake.Make().GetItem({}).ok());
  // Clients that get the same advice do not come back together.
  ASSERT_THAT(fake.clock->sleeps, SizeIs(1));
  EXPECT_GT(fake.clock->sleeps[0], absl::Seconds(3));
  EXPECT_LE(fake.clock->sleeps[0], absl::Seconds(3) + BackoffSettings().initial);
}

TEST(Retry, EndsBeforeTheDeadlineWithTheLastError) {
  FakeClient fake;
  fake.connection->Fail(Throttled(/*retry_after_ms=*/400));
  CallOptions options;
  options.timeout = absl::Seconds(1);
  const absl::Time start = fake.clock->now;
  const auto answer = fake.Make().GetItem({}, options);
  EXPECT_EQ(ErrorName(answer.status()), "ThrottlingException");
  EXPECT_THAT(fake.connection->seen, SizeIs(3));
  EXPECT_LT(fake.clock->now, start + absl::Seconds(1));
  for (const auto& seen : fake.connection->seen) {
    EXPECT_EQ(seen.context.deadline, start + absl::Seconds(1));
  }
}

TEST(Retry, EndsAfterTheLimitOfAttempts) {
  FakeClient fake;
  fake.connection->Fail(absl::UnavailableError("gone"));
  ClientOptions options;
  options.retry = LimitedAttempts(4);
  EXPECT_FALSE(fake.Make(options).GetItem({}).ok());
  EXPECT_THAT(fake.connection->seen, SizeIs(4));
}

TEST(Retry, UsesThePoliciesOfTheProgram) {
  class Never final : public IdempotencyPolicy {
    bool IsIdempotent(const Method&, const google::protobuf::Message&) const override { return false; }
  };
  FakeClient fake;
  fake.connection->Fail(absl::UnavailableError("lost"));
  ClientOptions options;
  options.idempotency = std::make_shared<Never>();
  EXPECT_FALSE(fake.Make(options).GetItem({}).ok());
  EXPECT_THAT(fake.connection->seen, SizeIs(1));
}

TEST(Retry, SendsTheMetadataOfClientAndCall) {
  FakeClient fake;
  ClientOptions options;
  options.metadata = {{"a", "1"}};
  CallOptions call;
  call.metadata = {{"b", "2"}};
  EXPECT_TRUE(fake.Make(options).ListTables({}, call).ok());
  ASSERT_THAT(fake.connection->seen, SizeIs(1));
  EXPECT_EQ(fake.connection->seen[0].method, "ListTables");
  EXPECT_THAT(fake.connection->seen[0].context.metadata, ElementsAre(std::pair<std::string, std::string>("a", "1"),
                                                                     std::pair<std::string, std::string>("b", "2")));
}

TEST(ExponentialBackoff, GrowsToItsMaximumAndStaysInTheUpperHalf) {
  const auto backoff =
      ExponentialBackoff({.initial = absl::Milliseconds(10), .max = absl::Milliseconds(100), .factor = 2});
  const absl::Duration full[] = {absl::Milliseconds(10), absl::Milliseconds(20),  absl::Milliseconds(40),
                                 absl::Milliseconds(80), absl::Milliseconds(100), absl::Milliseconds(100)};
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 6; ++i) {
      const absl::Duration delay = backoff->DelayAfter(i + 1);
      EXPECT_GE(delay, full[i] / 2);
      EXPECT_LE(delay, full[i]);
    }
  }
  EXPECT_LE(backoff->DelayAfter(100'000), absl::Milliseconds(100));
}

TEST(DefaultIdempotency, AllowsOnlyWritesWithoutConditionAndReturnValues) {
  const auto policy = DefaultIdempotency();
  const Method put{"PutItem"};
  EXPECT_TRUE(policy->IsIdempotent(put, PlainPut()));
  EXPECT_FALSE(policy->IsIdempotent(put, ConditionalPut()));
  auto returning = PlainPut();
  returning.set_return_values(api::v1::RETURN_VALUES_ALL_OLD);
  EXPECT_FALSE(policy->IsIdempotent(put, returning));
  auto expecting = PlainPut();
  (*expecting.mutable_expected())["id"].set_exists(false);
  EXPECT_FALSE(policy->IsIdempotent(put, expecting));

  EXPECT_TRUE(policy->IsIdempotent({"DeleteItem"}, api::v1::DeleteItemRequest()));
  EXPECT_FALSE(policy->IsIdempotent({"UpdateItem"}, api::v1::UpdateItemRequest()));
  EXPECT_FALSE(policy->IsIdempotent({"CreateTable"}, api::v1::CreateTableRequest()));

  api::v1::TransactWriteItemsRequest transaction;
  EXPECT_FALSE(policy->IsIdempotent({"TransactWriteItems"}, transaction));
  transaction.set_client_request_token("token");
  EXPECT_TRUE(policy->IsIdempotent({"TransactWriteItems"}, transaction));
}

}  // namespace armature::client::retry_test
