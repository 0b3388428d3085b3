// Many operations over one stream, against the daemon.

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/api/v1/service.grpc.pb.h"
#include "armature/client/pipeline.h"
#include "armature/client/retry_policy.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"

namespace armature::test::pipeline_test {

using client::Pipeline;
using client::PipelineOptions;

constexpr char kTable[] = R"({"TableName": "things", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})";

client::Item Key(std::string_view id) { return client::ItemBuilder().Set("id", client::S(id)).Build(); }

api::v1::PutItemRequest PutOf(client::Item item) {
  api::v1::PutItemRequest put;
  put.set_table_name("things");
  *put.mutable_item() = std::move(item);
  return put;
}

api::v1::GetItemRequest GetOf(std::string_view id) {
  api::v1::GetItemRequest get;
  get.set_table_name("things");
  *get.mutable_key() = Key(id);
  return get;
}

class PipelineTest : public DaemonTest {
 protected:
  PipelineTest() { Create(kTable); }

  std::unique_ptr<Pipeline> Open(const PipelineOptions& options = {}) {
    auto pipeline = client().OpenPipeline(options);
    EXPECT_TRUE(pipeline.ok()) << pipeline.status();
    return *std::move(pipeline);
  }
  bool IsThere(std::string_view id) {
    const auto answer = client().GetItem(GetOf(id));
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() && answer->has_item();
  }
};

TEST_F(PipelineTest, EachOperationGetsItsOwnAnswer) {
  const auto pipeline = Open();
  auto put = pipeline->Ask(PutOf(client::ItemBuilder().Set("id", client::S("a")).Set("n", client::N(1)).Build()));
  ASSERT_TRUE(put.get().ok());

  auto got = pipeline->Ask(GetOf("a")).get();
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(ToJson(got->item()), R"({"id":{"S":"a"},"n":{"N":"1"}})");
  EXPECT_FALSE(pipeline->Ask(GetOf("b")).get()->has_item());

  auto updated = pipeline->Ask(FromJson<api::v1::UpdateItemRequest>(
      R"({"TableName": "things", "Key": {"id": {"S": "a"}}, "UpdateExpression": "SET n = n + :one",
          "ExpressionAttributeValues": {":one": {"N": "1"}}, "ReturnValues": "UPDATED_NEW"})"));
  EXPECT_EQ(ToJson(updated.get()->attributes()), R"({"n":{"N":"2"}})");

  auto queried = pipeline->Ask(FromJson<api::v1::QueryRequest>(
      R"({"TableName": "things", "KeyConditionExpression": "id = :i", "ExpressionAttributeValues": {":i": {"S": "a"}}})"));
  EXPECT_EQ(queried.get()->count(), 1);
  api::v1::BatchWriteItemRequest writes;
  *(*writes.mutable_request_items())["things"].add_requests()->mutable_put_request()->mutable_item() = Key("b");
  EXPECT_TRUE(pipeline->Ask(writes).get().ok());
  auto transaction = pipeline->Ask(FromJson<api::v1::TransactWriteItemsRequest>(
      R"({"TransactItems": [{"Put": {"TableName": "things", "Item": {"id": {"S": "c"}}}}]})"));
  EXPECT_TRUE(transaction.get().ok());
  auto read_back = pipeline->Ask(FromJson<api::v1::TransactGetItemsRequest>(
      R"({"TransactItems": [{"Get": {"TableName": "things", "Key": {"id": {"S": "c"}}}}]})"));
  EXPECT_EQ(read_back.get()->responses_size(), 1);
  auto many = pipeline->Ask(FromJson<api::v1::BatchGetItemRequest>(
      R"({"RequestItems": {"things": {"Keys": [{"id": {"S": "b"}}, {"id": {"S": "c"}}]}}})"));
  EXPECT_EQ(many.get()->responses().at("things").items_size(), 2);
  EXPECT_EQ(pipeline->Ask(FromJson<api::v1::ScanRequest>(R"({"TableName": "things"})")).get()->count(), 3);
  auto deleted = pipeline->Ask(FromJson<api::v1::DeleteItemRequest>(
      R"({"TableName": "things", "Key": {"id": {"S": "b"}}, "ReturnValues": "ALL_OLD"})"));
  EXPECT_EQ(ToJson(deleted.get()->attributes()), R"({"id":{"S":"b"}})");
  EXPECT_TRUE(pipeline->Close().ok());
}

TEST_F(PipelineTest, AnErrorIsThatOfTheCallAndLeavesTheStreamOpen) {
  const auto pipeline = Open();
  const auto wrong = PutOf(client::ItemBuilder().Set("other", client::S("a")).Build());
  const absl::Status alone = client().PutItem(wrong).status();
  const absl::Status streamed = pipeline->Ask(wrong).get().status();
  EXPECT_EQ(streamed.code(), alone.code());
  EXPECT_THAT(streamed, IsRefused("ValidationException", std::string(alone.message())));

  ASSERT_TRUE(pipeline->Ask(PutOf(Key("a"))).get().ok());
  auto conditional = PutOf(Key("a"));
  conditional.set_condition_expression("attribute_not_exists(id)");
  conditional.set_return_values_on_condition_check_failure(api::v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
  const absl::Status failed = pipeline->Ask(conditional).get().status();
  EXPECT_EQ(failed.code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(client::ErrorDetailOf(failed).has_value()) << failed;
  EXPECT_EQ(ToJson(client::ErrorDetailOf(failed)->item()), R"({"id":{"S":"a"}})");
  auto elsewhere = GetOf("a");
  elsewhere.set_table_name("nowhere");
  EXPECT_EQ(client::ErrorName(pipeline->Ask(elsewhere).get().status()), "ResourceNotFoundException");
  EXPECT_TRUE(pipeline->Ask(GetOf("a")).get()->has_item());
  EXPECT_TRUE(pipeline->Close().ok());
}

// Each item is put, incremented and read, with many operations interleaved. Every third step fails.
TEST_F(PipelineTest, TenThousandMixedOperationsAreAnsweredOnceEach) {
  constexpr int kItems = 2000;
  const auto pipeline = Open();
  std::vector<std::atomic<int>> answers(kItems * 5);
  std::atomic<int> wrong = 0;
  const auto note = [&](int slot, bool as_expected) {
    ++answers[static_cast<size_t>(slot)];
    if (!as_expected) ++wrong;
  };
  for (int i = 0; i < kItems; ++i) {
    const std::string id = absl::StrFormat("item-%04d", i);
    auto item = client::ItemBuilder().Set("id", client::S(id)).Set("n", client::N(i)).Build();
    pipeline->Ask(PutOf(item), [&, i](auto answer) { note(i * 5, answer.ok()); });
    pipeline->Ask(GetOf("nothing-" + id), [&, i](auto answer) { note(i * 5 + 1, answer.ok() && !answer->has_item()); });
    auto nowhere = GetOf(id);
    nowhere.set_table_name("nowhere");
    pipeline->Ask(nowhere, [&, i](auto answer) {
      note(i * 5 + 2, client::ErrorName(answer.status()) == "ResourceNotFoundException");
    });
  }
  pipeline->WaitUntilIdle();
  for (int i = 0; i < kItems; ++i) {
    const std::string id = absl::StrFormat("item-%04d", i);
    pipeline->Ask(GetOf(id), [&, i](auto answer) {
      note(i * 5 + 3, answer.ok() && answer->item().attributes().at("n").n() == std::to_string(i));
    });
    pipeline->Ask(PutOf(client::ItemBuilder().Set("no_key", client::N(i)).Build()),
                  [&, i](auto answer) { note(i * 5 + 4, absl::IsInvalidArgument(answer.status())); });
  }
  EXPECT_TRUE(pipeline->Close().ok());
  EXPECT_EQ(wrong, 0);
  for (const std::atomic<int>& count : answers) ASSERT_EQ(count, 1);
}

TEST_F(PipelineTest, ACallbackMayAskFurther) {
  PipelineOptions options;
  options.in_flight_max = 1;
  const auto pipeline = Open(options);
  std::promise<bool> was_there;
  pipeline->Ask(PutOf(Key("a")), [&](auto) {
    pipeline->Ask(GetOf("a"), [&](auto answer) { was_there.set_value(answer.ok() && answer->has_item()); });
  });
  EXPECT_TRUE(was_there.get_future().get());
}

// Otherwise two streams whose callbacks ask each other would block the gRPC threads that must make room.
TEST_F(PipelineTest, ACallbackDoesNotWaitForRoomInAnotherStreamEither) {
  PipelineOptions options;
  options.in_flight_max = 1;
  const auto full = Open(options);
  const auto pipeline = Open();
  absl::Notification make_room;
  full->Ask(GetOf("a"), [&](const auto&) { make_room.WaitForNotification(); });
  // Sent when the first request is answered. Its answer is not read before that callback has returned.
  full->Ask(GetOf("b"), [](const auto&) {});
  absl::Notification relayed;
  std::atomic<bool> answered = false;
  pipeline->Ask(GetOf("c"), [&](const auto&) {
    full->Ask(GetOf("d"), [&](const auto& answer) { answered = answer.ok(); });
    relayed.Notify();
  });
  EXPECT_TRUE(relayed.WaitForNotificationWithTimeout(absl::Seconds(20)));
  make_room.Notify();
  EXPECT_TRUE(pipeline->Close().ok());
  EXPECT_TRUE(full->Close().ok());
  EXPECT_TRUE(answered);
}

// Concurrent threads with a small window of requests in flight.
TEST_F(PipelineTest, ThreadsShareAStream) {
  PipelineOptions options;
  options.in_flight_max = 3;
  const auto pipeline = Open(options);
  std::atomic<int> answered = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 250; ++i) {
        pipeline->Ask(PutOf(Key(Cat(t, "-", i))), [&](auto answer) { answered += answer.ok() ? 1 : 0; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(pipeline->Close().ok());
  EXPECT_EQ(answered, 1000);
}

// A stream without the client library, for requests that the library does not send.
class RawStream {
 public:
  explicit RawStream(const std::string& address)
      : stub_(api::v1::ItemService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))),
        stream_(stub_->Pipeline(&context_)) {}

  grpc::ClientContext& context() { return context_; }
  bool Get(uint64_t id, std::string_view key) {
    api::v1::PipelineRequest request;
    request.set_id(id);
    *request.mutable_get_item() = GetOf(key);
    return stream_->Write(request);
  }
  bool Put(uint64_t id, std::string_view key) {
    api::v1::PipelineRequest request;
    request.set_id(id);
    *request.mutable_put_item() = PutOf(Key(key));
    return stream_->Write(request);
  }
  bool Write(const api::v1::PipelineRequest& request) { return stream_->Write(request); }
  bool HalfClose() { return stream_->WritesDone(); }
  bool Read(api::v1::PipelineResponse* response) { return stream_->Read(response); }
  grpc::Status Finish() { return stream_->Finish(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<api::v1::ItemService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<api::v1::PipelineRequest, api::v1::PipelineResponse>> stream_;
};

TEST_F(PipelineTest, AHalfClosedStreamIsAnsweredToItsEnd) {
  RawStream stream(daemon().address());
  std::multiset<uint64_t> asked;
  for (uint64_t id = 1; id <= 500; ++id) {
    ASSERT_TRUE(stream.Put(id, Cat("item-", id)));
    asked.insert(id);
  }
  ASSERT_TRUE(stream.HalfClose());
  std::multiset<uint64_t> answered;
  api::v1::PipelineResponse response;
  while (stream.Read(&response)) {
    EXPECT_EQ(response.result_case(), api::v1::PipelineResponse::kPutItem);
    answered.insert(response.id());
  }
  EXPECT_EQ(answered, asked);
  EXPECT_TRUE(stream.Finish().ok());
}

TEST_F(PipelineTest, AStreamWithoutOperationsEndsWell) {
  RawStream stream(daemon().address());
  ASSERT_TRUE(stream.HalfClose());
  api::v1::PipelineResponse response;
  EXPECT_FALSE(stream.Read(&response));
  EXPECT_TRUE(stream.Finish().ok());
}

TEST_F(PipelineTest, ARequestWithoutAnOperationIsRefusedByItself) {
  RawStream stream(daemon().address());
  api::v1::PipelineRequest nothing;
  nothing.set_id(77);
  ASSERT_TRUE(stream.Write(nothing));
  api::v1::PipelineResponse response;
  ASSERT_TRUE(stream.Read(&response));
  EXPECT_EQ(response.id(), 77u);
  EXPECT_EQ(response.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  api::v1::ErrorDetail detail;
  ASSERT_EQ(response.error().details_size(), 3) << "beside the detail: ErrorInfo and BadRequest";
  ASSERT_TRUE(response.error().details(0).UnpackTo(&detail));
  EXPECT_EQ(detail.exception(), "ValidationException");
  ASSERT_TRUE(stream.Put(0, "id zero is one too"));
  ASSERT_TRUE(stream.Read(&response));
  EXPECT_EQ(response.id(), 0u);
  EXPECT_TRUE(response.has_put_item());
}

// A malformed message is answered with an error. Later requests are unaffected.
TEST_F(PipelineTest, AMalformedOperationIsRefusedByItself) {
  RawStream stream(daemon().address());
  const auto expect_refused = [&](const api::v1::PipelineRequest& request) {
    ASSERT_TRUE(stream.Write(request));
    api::v1::PipelineResponse response;
    ASSERT_TRUE(stream.Read(&response));
    EXPECT_EQ(response.id(), request.id());
    EXPECT_EQ(response.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
    api::v1::ErrorDetail detail;
    ASSERT_EQ(response.error().details_size(), 3) << "beside the detail: ErrorInfo and BadRequest";
    ASSERT_TRUE(response.error().details(0).UnpackTo(&detail));
    EXPECT_EQ(detail.exception(), "SerializationException");
  };
  const auto unknown_fields = [](api::v1::PipelineRequest& request) {
    return api::v1::PipelineRequest::GetReflection()->MutableUnknownFields(&request);
  };
  api::v1::PipelineRequest no_message;
  no_message.set_id(1);
  unknown_fields(no_message)->AddLengthDelimited(api::v1::PipelineRequest::kPutItemFieldNumber, "\xff\xff\xff");
  expect_refused(no_message);
  api::v1::PipelineRequest wrong_type;
  wrong_type.set_id(2);
  unknown_fields(wrong_type)->AddVarint(api::v1::PipelineRequest::kGetItemFieldNumber, 7);
  expect_refused(wrong_type);
  api::v1::PipelineRequest wrong_id;
  unknown_fields(wrong_id)->AddLengthDelimited(api::v1::PipelineRequest::kIdFieldNumber, "three");
  expect_refused(wrong_id);

  ASSERT_TRUE(stream.Put(3, "a"));
  api::v1::PipelineResponse response;
  ASSERT_TRUE(stream.Read(&response));
  EXPECT_EQ(response.id(), 3u);
  EXPECT_TRUE(response.has_put_item());
}

client::Item ItemOfBytes(size_t bytes) {
  return client::ItemBuilder().Set("id", client::S("large")).Set("text", client::S(std::string(bytes, 'x'))).Build();
}

// Sent to the daemon, it would end the stream with all other requests.
TEST_F(PipelineTest, ARequestLargerThanAnyMayBeIsRefusedByItself) {
  const auto pipeline = Open();
  std::vector<std::future<absl::StatusOr<api::v1::PutItemResponse>>> neighbours;
  for (int i = 0; i < 100; ++i) neighbours.push_back(pipeline->Ask(PutOf(Key(Cat("before-", i)))));
  const absl::Status refused = pipeline->Ask(PutOf(ItemOfBytes(40 << 20))).get().status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_TRUE(client::CertainlyNotApplied(refused));
  EXPECT_FALSE(client::IsTransient(refused));
  for (auto& neighbour : neighbours) EXPECT_TRUE(neighbour.get().ok());
  // Slightly smaller requests are sent, and refused by the daemon.
  EXPECT_EQ(client::ErrorName(pipeline->Ask(PutOf(ItemOfBytes(client::kRequestBytesMax - 100))).get().status()),
            "ValidationException");
  EXPECT_TRUE(absl::IsInvalidArgument(pipeline->Ask(PutOf(ItemOfBytes(client::kRequestBytesMax))).get().status()));
  EXPECT_TRUE(pipeline->Ask(GetOf("before-1")).get()->has_item());
  EXPECT_TRUE(pipeline->Close().ok());
}

TEST_F(PipelineTest, WhatTheClientMayNotSendIsRefusedByItselfToo) {
  client::ClientOptions options;
  options.send_bytes_max = 1000;
  const auto small = client::Connect(daemon().address(), options);
  ASSERT_TRUE(small.ok()) << small.status();
  const auto pipeline = small->OpenPipeline();
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_TRUE(absl::IsInvalidArgument((*pipeline)->Ask(PutOf(ItemOfBytes(1000))).get().status()));
  EXPECT_TRUE((*pipeline)->Ask(PutOf(ItemOfBytes(800))).get().ok());
  EXPECT_TRUE((*pipeline)->Close().ok());
}

// gRPC ends the call because of the message's size. Our client does not send such messages. Earlier requests are
// answered.
TEST_F(PipelineTest, AMessageLargerThanAnyRequestEndsItsStream) {
  RawStream stream(daemon().address());
  ASSERT_TRUE(stream.Put(1, "before"));
  api::v1::PipelineResponse response;
  ASSERT_TRUE(stream.Read(&response));
  api::v1::PipelineRequest large;
  *large.mutable_put_item() = PutOf(ItemOfBytes(40 << 20));
  stream.Write(large);
  EXPECT_FALSE(stream.Read(&response));
  EXPECT_EQ(stream.Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(IsThere("before"));
}

TEST_F(PipelineTest, AThrottledOperationIsAnAnswerLikeOthers) {
  Create(R"({"TableName": "slow", "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
      "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "BillingMode": "PROVISIONED",
      "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}})");
  const auto pipeline = Open();
  std::atomic<int> done = 0;
  std::atomic<int> throttled = 0;
  std::atomic<int> others = 0;
  // More than the saved capacity of three hundred seconds.
  for (int i = 0; i < 600; ++i) {
    auto put = PutOf(Key(Cat("item-", i)));
    put.set_table_name("slow");
    pipeline->Ask(put, [&](const auto& answer) {
      if (answer.ok()) {
        ++done;
      } else if (client::ErrorName(answer.status()) == "ProvisionedThroughputExceededException" &&
                 client::IsTransient(answer.status()) && client::CertainlyNotApplied(answer.status())) {
        ++throttled;
      } else {
        ++others;
      }
    });
  }
  pipeline->WaitUntilIdle();
  EXPECT_GE(done, 300);
  EXPECT_GT(throttled, 0);
  EXPECT_EQ(others, 0);
  EXPECT_TRUE(pipeline->Ask(GetOf("a")).get().ok());
  EXPECT_TRUE(pipeline->Close().ok());
}

// The answers take a hundred times the memory that the daemon buffers for one stream, so the last requests start only
// when answers are read.
TEST_F(PipelineTest, AClientThatDoesNotReadHoldsUpItselfOnly) {
  constexpr uint64_t kGets = 1500;
  Put("things",
      client::ItemBuilder().Set("id", client::S("large")).Set("text", client::S(std::string(300'000, 'x'))).Build());
  RawStream stream(daemon().address());
  std::atomic<bool> all_written = false;
  std::thread writer([&] {
    for (uint64_t id = 1; id <= kGets; ++id) ASSERT_TRUE(stream.Get(id, "large"));
    ASSERT_TRUE(stream.Put(kGets + 1, "marker"));
    ASSERT_TRUE(stream.HalfClose());
    all_written = true;
  });
  for (int i = 0; i < 200; ++i) {
    Put("things", Key(Cat("others-", i)));
    ASSERT_FALSE(IsThere("marker"));
  }
  std::set<uint64_t> answered;
  api::v1::PipelineResponse response;
  while (stream.Read(&response)) EXPECT_TRUE(answered.insert(response.id()).second);
  writer.join();
  EXPECT_TRUE(all_written);
  EXPECT_EQ(answered.size(), kGets + 1);
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_TRUE(IsThere("marker"));
}

TEST_F(PipelineTest, ACancelledStreamEndsWithAnswersUnread) {
  Put("things",
      client::ItemBuilder().Set("id", client::S("large")).Set("text", client::S(std::string(300'000, 'x'))).Build());
  {
    RawStream stream(daemon().address());
    for (uint64_t id = 1; id <= 300; ++id) ASSERT_TRUE(stream.Get(id, "large"));
    stream.context().TryCancel();
    EXPECT_EQ(stream.Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  EXPECT_TRUE(Open()->Ask(GetOf("large")).get().ok());
  EXPECT_EQ(daemon().Stop(), 0);
}

// A client that does not read gets the usual drain time, and no more.
TEST_F(PipelineTest, AStoppingDaemonDoesNotWaitForThoseWhoDoNotRead) {
  Put("things",
      client::ItemBuilder().Set("id", client::S("large")).Set("text", client::S(std::string(300'000, 'x'))).Build());
  RawStream stream(daemon().address());
  for (uint64_t id = 1; id <= 200; ++id) ASSERT_TRUE(stream.Get(id, "large"));
  EXPECT_EQ(daemon().Stop(), 0);
  // Answers already sent arrive, then the connection is closed.
  api::v1::PipelineResponse response;
  int answered = 0;
  while (stream.Read(&response)) ++answered;
  EXPECT_LT(answered, 200);
  EXPECT_FALSE(stream.Finish().ok());
}

// Each round cancels after two more answers, while puts wait for their commit.
TEST_F(PipelineTest, StreamsMayBeCancelledAtAnyTime) {
  constexpr int kPuts = 100;
  for (int round = 0; round <= kPuts / 2; ++round) {
    absl::Mutex mutex;
    int answered = 0;
    {
      const auto pipeline = Open();
      for (int i = 0; i < kPuts; ++i) {
        pipeline->Ask(PutOf(Key(Cat(round, "-", i))), [&](const auto&) {
          absl::MutexLock lock(&mutex);
          ++answered;
        });
      }
      const auto enough = [&] { return answered >= 2 * round; };
      absl::MutexLock lock(&mutex);
      ASSERT_TRUE(mutex.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(60))) << answered;
    }
    // The destructor of a Pipeline waits for its callbacks.
    absl::MutexLock lock(&mutex);
    ASSERT_EQ(answered, kPuts);
  }
  EXPECT_TRUE(Open()->Ask(GetOf("a")).get().ok());
  EXPECT_EQ(daemon().Stop(), 0);
}

TEST_F(PipelineTest, TheLifetimeEndsAStreamAndWhatWaitsInIt) {
  PipelineOptions options;
  options.lifetime = absl::Milliseconds(200);
  const auto pipeline = Open(options);
  absl::Status last;
  while (last.ok()) last = pipeline->Ask(GetOf("a")).get().status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(last)) << last;
  EXPECT_TRUE(absl::IsDeadlineExceeded(pipeline->Close()));
}

TEST_F(PipelineTest, WhatTheKilledDaemonHadAcknowledgedIsThere) {
  const auto pipeline = Open();
  absl::Mutex mutex;
  std::set<std::string> acknowledged;
  std::vector<absl::Status> failures;
  std::atomic<int> asked = 0;
  std::thread asker([&] {
    // Asks until the stream breaks.
    while (pipeline->status().ok()) {
      const std::string id = Cat("item-", asked++);
      pipeline->Ask(PutOf(Key(id)), [&, id](auto answer) {
        absl::MutexLock lock(&mutex);
        if (answer.ok()) {
          acknowledged.insert(id);
        } else {
          failures.push_back(answer.status());
        }
      });
    }
  });
  {
    const auto enough = [&] { return acknowledged.size() >= 1000; };
    absl::MutexLock lock(&mutex);
    mutex.Await(absl::Condition(&enough));
  }
  daemon().Kill();
  asker.join();
  EXPECT_TRUE(absl::IsUnavailable(pipeline->Close()));
  EXPECT_EQ(acknowledged.size() + failures.size(), static_cast<size_t>(asked));
  for (const absl::Status& failure : failures) EXPECT_TRUE(absl::IsUnavailable(failure)) << failure;

  daemon().Restart();
  for (const std::string& id : acknowledged) ASSERT_TRUE(IsThere(id)) << id;
}

TEST_F(PipelineTest, AStoppingDaemonAnswersWhatItHasRead) {
  const auto pipeline = Open();
  const auto idle = Open();
  absl::Mutex mutex;
  std::map<std::string, absl::Status> answers;
  std::atomic<int> asked = 0;
  std::thread asker([&] {
    while (pipeline->status().ok()) {
      const std::string id = Cat("item-", asked++);
      pipeline->Ask(PutOf(Key(id)), [&, id](auto answer) {
        absl::MutexLock lock(&mutex);
        answers[id] = answer.status();
      });
    }
  });
  {
    const auto enough = [&] { return answers.size() >= 1000; };
    absl::MutexLock lock(&mutex);
    mutex.Await(absl::Condition(&enough));
  }
  EXPECT_EQ(daemon().Stop(), 0);
  asker.join();
  EXPECT_TRUE(absl::IsUnavailable(pipeline->Close()));
  EXPECT_EQ(client::ErrorName(idle->Close()), "ServiceUnavailable");
  EXPECT_EQ(answers.size(), static_cast<size_t>(asked));

  daemon().Restart();
  size_t refused = 0;
  for (const auto& [id, status] : answers) {
    if (status.ok()) {
      ASSERT_TRUE(IsThere(id)) << id;
    } else {
      ++refused;
      // If the daemon closes the connection while more is sent, it may break before the last answers are read. Then the
      // error does not come from the daemon, and the outcome of unanswered requests is unknown.
      if (client::ErrorName(status).empty()) continue;
      // The daemon did not read this request.
      ASSERT_FALSE(IsThere(id)) << id << ": " << status;
    }
  }
  EXPECT_LE(refused, PipelineOptions().in_flight_max + 1);
}

}  // namespace armature::test::pipeline_test
