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

TEST(BatchWriter, ABatchThatIsRefusedIsDropped) {
  FakeClient fake;
  fake.connection->Fail(ApiError(absl::StatusCode::kInvalidArgument, "ValidationException"));
  BatchWriter writer(fake.Make());
  ASSERT_TRUE(writer.Put("a", Named(1)).ok());
  EXPECT_EQ(ErrorName(writer.Flush()), "ValidationException");
  EXPECT_EQ(writer.waiting(), 0u);
}

}  // namespace
}  // namespace armature::client
