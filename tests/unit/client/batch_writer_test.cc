#include "armature/client/batch_writer.h"

#include <string>
#include <vector>

#include "armature/client/errors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/fake_connection.h"

namespace armature::client {
namespace {

using ::testing::ElementsAre;
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

// The ids of the items that the call puts.
std::vector<std::string> IdsOf(const FakeClient& fake, size_t call) {
  std::vector<std::string> ids;
  const auto request = fake.connection->RequestOf<api::v1::BatchWriteItemRequest>(call);
  for (const auto& [table, list] : request.request_items()) {
    for (const api::v1::WriteRequest& write : list.requests()) {
      ids.push_back(write.put_request().item().attributes().at("id").n());
    }
  }
  return ids;
}

// Options that record the ids of dropped writes and the reasons.
BatchWriterOptions NotingDropped(std::vector<std::string>* dropped) {
  BatchWriterOptions options;
  options.dropped = [dropped](const std::string& table, const api::v1::WriteRequest& write, const absl::Status& why) {
    const std::string name = ErrorName(why);
    dropped->push_back(table + " " + write.put_request().item().attributes().at("id").n() + " " +
                       (name.empty() ? absl::StatusCodeToString(why.code()) : name));
  };
  return options;
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
  // Longer than the timeout of a call, so that the call itself does not retry.
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

// A set with duplicates is a different error than two writes of one item: the batch is not split.
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
  const absl::Status full = ApiError(absl::StatusCode::kResourceExhausted, "ItemCollectionSizeLimitExceededException");
  FakeClient fake;
  fake.connection->Fail(full);                                 // all four writes
  fake.connection->Fail(full);                                 // writes 0 and 1
  fake.connection->Answer(api::v1::BatchWriteItemResponse());  // write 0
  fake.connection->Fail(full);                                 // write 1
  fake.connection->Answer(api::v1::BatchWriteItemResponse());  // writes 2 and 3
  std::vector<std::string> dropped;
  BatchWriter writer(fake.Make(), NotingDropped(&dropped));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(writer.Put("a", Named(i)).ok());
  EXPECT_EQ(ErrorName(writer.Flush()), "ItemCollectionSizeLimitExceededException");
  EXPECT_EQ(writer.waiting(), 0u);
  EXPECT_THAT(dropped, ElementsAre("a 1 ItemCollectionSizeLimitExceededException"));
  ASSERT_THAT(fake.connection->seen, SizeIs(5));
  EXPECT_THAT(IdsOf(fake, 0), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(IdsOf(fake, 1), ElementsAre("0", "1"));
  EXPECT_THAT(IdsOf(fake, 2), ElementsAre("0"));
  EXPECT_THAT(IdsOf(fake, 3), ElementsAre("1"));
  EXPECT_THAT(IdsOf(fake, 4), ElementsAre("2", "3"));
  EXPECT_TRUE(writer.Flush().ok());
}

TEST(BatchWriter, FlushGoesOnBehindWhatItDropsAndStopsWhereItMustWait) {
  FakeClient fake;
  std::vector<std::string> dropped;
  BatchWriter writer(fake.Make(), NotingDropped(&dropped));
  // While the daemon is unreachable, all writes stay queued.
  fake.connection->Fail(absl::DeadlineExceededError("away"));
  for (int i = 0; i < 60; ++i) static_cast<void>(writer.Put("a", Named(i)));
  ASSERT_EQ(writer.waiting(), 60u);
  const size_t before = fake.connection->seen.size();
  fake.connection->Fail(ApiError(absl::StatusCode::kInvalidArgument, "ValidationException"));  // 0 to 24
  fake.connection->Answer(api::v1::BatchWriteItemResponse());                                  // 25 to 49
  fake.connection->Fail(absl::DeadlineExceededError("away again"));
  // The fake repeats its previous answer first.
  EXPECT_TRUE(absl::IsDeadlineExceeded(writer.Flush()));
  EXPECT_EQ(ErrorName(writer.Flush()), "ValidationException");
  EXPECT_THAT(dropped, SizeIs(25));
  EXPECT_EQ(dropped.back(), "a 24 ValidationException");
  EXPECT_EQ(writer.waiting(), 10u);
  EXPECT_THAT(fake.connection->seen, SizeIs(before + 4));
  EXPECT_EQ(IdsOf(fake, before + 2).front(), "25");
}

TEST(BatchWriter, AnErrorThatPassesLeavesTheHalvesWaiting) {
  FakeClient fake;
  fake.connection->Fail(Duplicates());
  fake.connection->Fail(absl::DeadlineExceededError("away"));
  std::vector<std::string> dropped;
  BatchWriter writer(fake.Make(), NotingDropped(&dropped));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(writer.Put("a", Named(i)).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(writer.Flush()));
  EXPECT_EQ(writer.waiting(), 4u);
  EXPECT_THAT(fake.connection->seen, SizeIs(2));
  EXPECT_TRUE(dropped.empty());
}

Item Large(int id, size_t bytes) {
  return ItemBuilder().Set("id", N(id)).Set("text", S(std::string(bytes, 'x'))).Build();
}

TEST(BatchWriter, AWriteLargerThanARequestIsDroppedByItsOwnSize) {
  FakeClient fake;
  std::vector<std::string> dropped;
  BatchWriter writer(fake.Make(), NotingDropped(&dropped));
  ASSERT_TRUE(writer.Put("a", Named(1)).ok());
  const absl::Status refused = writer.Put("a", Large(2, kRequestBytesMax));
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_TRUE(CertainlyNotApplied(refused));
  EXPECT_EQ(writer.waiting(), 1u);
  EXPECT_THAT(dropped, ElementsAre("a 2 INVALID_ARGUMENT"));
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_THAT(IdsOf(fake, 0), ElementsAre("1"));
}

TEST(BatchWriter, ABatchIsNoLargerThanARequest) {
  FakeClient fake;
  BatchWriter writer(fake.Make());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(writer.Put("a", Large(i, 4 << 20)).ok());
  ASSERT_TRUE(writer.Flush().ok());
  ASSERT_THAT(fake.connection->seen, SizeIs(2));
  EXPECT_THAT(IdsOf(fake, 0), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(IdsOf(fake, 1), ElementsAre("4"));
  for (const auto& seen : fake.connection->seen) EXPECT_LE(seen.request.size(), kRequestBytesMax);
}

// An unnamed resource error may be temporary.
TEST(BatchWriter, WhatIsExhaustedWithoutANameStillWaits) {
  FakeClient fake;
  fake.connection->Fail(absl::ResourceExhaustedError("no memory just now"));
  std::vector<std::string> dropped;
  BatchWriter writer(fake.Make(), NotingDropped(&dropped));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(writer.Put("a", Named(i)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(writer.Flush()));
  EXPECT_EQ(writer.waiting(), 4u);
  EXPECT_TRUE(dropped.empty());
}

}  // namespace
}  // namespace armature::client
