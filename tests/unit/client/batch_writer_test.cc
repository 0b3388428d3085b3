#include "armature/client/batch_writer.h"

#include <string>

#include "armature/client/errors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/fake_connection.h"

namespace armature::client {
namespace {

using ::testing::SizeIs;

Item Named(int id) { return ItemBuilder().Set("id", N(id)).Build(); }

// The number of writes in the call.
int WritesOf(const FakeClient& fake, size_t call) {
  int writes = 0;
  const auto request = fake.connection->RequestOf<api::v1::BatchWriteItemRequest>(call);
  for (const auto& [table, list] : request.request_items()) {
    writes += list.requests_size();
  }
  return writes;
}

absl::Status Duplicates() {
  api::v1::ErrorDetail detail;
  detail.set_exception("ValidationException");
  return WithDetail(absl::InvalidArgumentError("Provided list of item keys contains duplicates"), detail);
}

TEST(BatchWriter, SendsTwentyFiveAtATime) {
  FakeClient fake;
  BatchWriter writer(fake.Make());
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(writer.Put(i % 2 == 0 ? "a" : "b", Named(i)).ok());
  EXPECT_THAT(fake.connection->seen, SizeIs(2));
  EXPECT_EQ(writer.waiting(), 10u);
  ASSERT_TRUE(writer.Delete("a", Named(99)).ok());
  ASSERT_TRUE(writer.Flush().ok());
  ASSERT_THAT(fake.connection->seen, SizeIs(3));
  EXPECT_EQ(WritesOf(fake, 0), 25);
  EXPECT_EQ(WritesOf(fake, 1), 25);
  EXPECT_EQ(WritesOf(fake, 2), 11);
  EXPECT_TRUE(fake.clock->sleeps.empty());
}

TEST(BatchWriter, WhatIsLeftUnprocessedGoesWithTheNextBatchAfterAPause) {
  FakeClient fake;
  api::v1::BatchWriteItemResponse first;
  for (int i = 0; i < 5; ++i) {
    *(*first.mutable_unprocessed_items())["a"].add_requests()->mutable_put_request()->mutable_item() = Named(i);
  }
  first.set_change_sequence(7);
  fake.connection->Answer(first);
  fake.connection->Answer(api::v1::BatchWriteItemResponse());
  BatchWriter writer(fake.Make());
  for (int i = 0; i < 45; ++i) ASSERT_TRUE(writer.Put("a", Named(i)).ok());
  ASSERT_TRUE(writer.Flush().ok());
  ASSERT_THAT(fake.connection->seen, SizeIs(2));
  EXPECT_EQ(WritesOf(fake, 1), 25);
  EXPECT_THAT(fake.clock->sleeps, SizeIs(1));
  EXPECT_EQ(writer.change_sequence(), 7u);
}

TEST(BatchWriter, GivesUpWhenNothingGoesOn) {
  FakeClient fake;
  api::v1::BatchWriteItemResponse nothing;
  *(*nothing.mutable_unprocessed_items())["a"].add_requests()->mutable_put_request()->mutable_item() = Named(1);
  fake.connection->Answer(nothing);
  BatchWriterOptions options;
  options.fruitless_attempts_max = 3;
  BatchWriter writer(fake.Make(), options);
  ASSERT_TRUE(writer.Put("a", Named(1)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(writer.Flush()));
  EXPECT_THAT(fake.connection->seen, SizeIs(3));
  EXPECT_EQ(writer.waiting(), 1u);
}

TEST(BatchWriter, TwoWritesOfOneItemAreSentOneAfterTheOther) {
  FakeClient fake;
  fake.connection->Fail(Duplicates());
  fake.connection->Answer(api::v1::BatchWriteItemResponse());
  BatchWriter writer(fake.Make());
  ASSERT_TRUE(writer.Put("a", Named(1)).ok());
  ASSERT_TRUE(writer.Delete("a", Named(1)).ok());
  ASSERT_TRUE(writer.Flush().ok());
  ASSERT_THAT(fake.connection->seen, SizeIs(3));
  const auto last = fake.connection->RequestOf<api::v1::BatchWriteItemRequest>(2);
  EXPECT_TRUE(last.request_items().at("a").requests(0).has_delete_request());
}

TEST(BatchWriter, ThrottlingOfAllIsWaitedOutAsLongAsTheDaemonSays) {
  FakeClient fake;
  // Longer than a call may take, so that the call itself does not wait for it.
  fake.connection->Fail(Throttled(60'000));
  fake.connection->Answer(api::v1::BatchWriteItemResponse());
  BatchWriter writer(fake.Make());
  ASSERT_TRUE(writer.Put("a", Named(1)).ok());
  ASSERT_TRUE(writer.Flush().ok());
  ASSERT_THAT(fake.connection->seen, SizeIs(2));
  ASSERT_THAT(fake.clock->sleeps, SizeIs(1));
  EXPECT_GE(fake.clock->sleeps[0], absl::Seconds(60));
}

TEST(BatchWriter, ABatchThatIsRefusedIsDropped) {
  for (const char* const name :
       {"ValidationException", "ResourceNotFoundException", "AccessDeniedException", "SerializationException"}) {
    FakeClient fake;
    fake.connection->Fail(ApiError(absl::StatusCode::kInvalidArgument, name));
    BatchWriter writer(fake.Make());
    ASSERT_TRUE(writer.Put("a", Named(1)).ok());
    ASSERT_TRUE(writer.Put("a", Named(2)).ok());
    EXPECT_EQ(ErrorName(writer.Flush()), name);
    EXPECT_THAT(fake.connection->seen, SizeIs(1));
    EXPECT_EQ(writer.waiting(), 0u);
  }
}

// A set with duplicates is another error than two writes of one item: no part of the batch is sent by itself.
TEST(BatchWriter, ABadItemIsNotTakenForTwoWritesOfOne) {
  FakeClient fake;
  api::v1::ErrorDetail detail;
  detail.set_exception("ValidationException");
  fake.connection->Fail(
      WithDetail(absl::InvalidArgumentError("Input collection [a, a] of type SS contains duplicates."), detail));
  BatchWriter writer(fake.Make());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(writer.Put("a", Named(i)).ok());
  EXPECT_EQ(ErrorName(writer.Flush()), "ValidationException");
  EXPECT_THAT(fake.connection->seen, SizeIs(1));
}

TEST(BatchWriter, WhatMayNotBeDoneStillWaits) {
  for (const absl::Status& status :
       {absl::DeadlineExceededError("late"), absl::CancelledError("by me"), absl::UnavailableError("gone"),
        ApiError(absl::StatusCode::kInternal, "InternalServerError")}) {
    FakeClient fake;
    fake.connection->Fail(status);
    BatchWriter writer(fake.Make());
    ASSERT_TRUE(writer.Put("a", Named(1)).ok());
    ASSERT_TRUE(writer.Put("a", Named(2)).ok());
    EXPECT_EQ(writer.Flush().code(), status.code());
    EXPECT_EQ(writer.waiting(), 2u);
    fake.connection->seen.clear();
    fake.connection->Answer(api::v1::BatchWriteItemResponse());
    static_cast<void>(
        writer.Flush());  // the failure once more: the fake repeats its last answer until there is another
    ASSERT_TRUE(writer.Flush().ok());
    EXPECT_EQ(WritesOf(fake, fake.connection->seen.size() - 1), 2);
    EXPECT_EQ(writer.waiting(), 0u);
  }
}

TEST(BatchWriter, OfABatchThatIsRefusedForOneOfItsWritesOnlyThatOneIsDropped) {
  for (const absl::Status& status :
       {ApiError(absl::StatusCode::kResourceExhausted, "ItemCollectionSizeLimitExceededException"),
        absl::ResourceExhaustedError("Received message larger than max")}) {
    FakeClient fake;
    fake.connection->Fail(status);                               // all four
    fake.connection->Fail(status);                               // 0 and 1
    fake.connection->Answer(api::v1::BatchWriteItemResponse());  // 0
    fake.connection->Fail(status);                               // 1
    fake.connection->Answer(api::v1::BatchWriteItemResponse());  // 2 and 3
    BatchWriter writer(fake.Make());
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(writer.Put("a", Named(i)).ok());
    EXPECT_TRUE(absl::IsResourceExhausted(writer.Flush()));
    EXPECT_EQ(writer.waiting(), 2u);
    ASSERT_TRUE(writer.Flush().ok());
    ASSERT_THAT(fake.connection->seen, SizeIs(5));
    EXPECT_EQ(WritesOf(fake, 1), 2);
    EXPECT_EQ(WritesOf(fake, 2), 1);
    EXPECT_EQ(WritesOf(fake, 3), 1);
    EXPECT_EQ(WritesOf(fake, 4), 2);
  }
}

}  // namespace
}  // namespace armature::client
