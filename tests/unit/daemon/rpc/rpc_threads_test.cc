// Calls that other threads answer, and servers that stop meanwhile.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/thread_pool.h"
#include "tests/unit/daemon/rpc/rpc_server.h"

namespace armature::daemon::rpc_threads_test {

using testing::ElementsAre;

// Has a pool answer the request with itself. Counts calls by their ends.
class PooledCall final : public RpcHandler {
 public:
  struct Counts {
    std::atomic<int> cancelled = 0;
    std::atomic<int> done = 0;
  };

  PooledCall(std::shared_ptr<RpcCall> call, ThreadPool* pool, Counts* counts)
      : call_(std::move(call)), pool_(pool), counts_(counts) {}

  void OnMessage(InMessage message) override {
    pool_->RunAdmitted([call = call_, bytes = std::move(message.bytes)]() mutable {
      call->Finish({.head = {}, .bytes = std::move(bytes)});
    });
  }
  void OnCancel() override { ++counts_->cancelled; }
  void OnDone() override { ++counts_->done; }

 private:
  const std::shared_ptr<RpcCall> call_;
  ThreadPool* const pool_;
  Counts* const counts_;
};

class RpcThreads : public testing::Test {
 protected:
  RpcThreads() {
    server_.front.Add("/pool", [this](const std::shared_ptr<RpcCall>& call) {
      call->set_handler(std::make_shared<PooledCall>(call, &pool_, &counts_));
      call->Read();
    });
  }

  PooledCall::Counts counts_;
  RpcServer server_;
  ThreadPool pool_{"answers", 4, 1};
};

TEST_F(RpcThreads, AnotherThreadWritesInOrder) {
  constexpr uint32_t kMessages = 3'000;
  RpcClient client(server_.Start());
  const int32_t stream = client.Call("/hold", "x");
  client.RoundTrip();
  TestCall& call = server_.call(0);
  std::string expected;
  for (uint32_t i = 0; i <= kMessages; ++i) expected += Framed(BigEndian(i, 4));
  std::thread writer([&] {
    for (uint32_t i = 0; i < kMessages; ++i) call.call->Write({.head = {}, .bytes = BigEndian(i, 4)});
    call.call->Finish({.head = {}, .bytes = BigEndian(kMessages, 4)}, {.code = RpcCode::kAborted});
  });
  EXPECT_EQ(client.StatusOf(stream), "10");
  writer.join();
  EXPECT_TRUE(client->answer(stream).data == expected);
}

TEST_F(RpcThreads, APoolAnswersTheCallsOfManyConnections) {
  constexpr int kClients = 4;
  constexpr int kCallsEach = 2'500;
  constexpr int kAtOnce = 90;
  const std::string address = server_.Start();
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      RpcClient client(address);
      std::vector<int32_t> streams;
      for (int i = 0; i < kCallsEach; ++i) {
        streams.push_back(client.Call("/pool", Cat(c, " ", i)));
        if (i < kAtOnce) continue;
        const int32_t oldest = streams[static_cast<size_t>(i - kAtOnce)];
        ASSERT_EQ(client.ResultOf(oldest), Cat("0, ", c, " ", i - kAtOnce));
        client->Forget(oldest);
      }
      for (int i = kCallsEach - kAtOnce; i < kCallsEach; ++i) {
        ASSERT_EQ(client.ResultOf(streams[static_cast<size_t>(i)]), Cat("0, ", c, " ", i));
      }
    });
  }
  for (std::thread& client : clients) client.join();
  test::WaitUntil([&] { return counts_.done == kClients * kCallsEach; });
  EXPECT_EQ(counts_.cancelled, 0);
}

TEST_F(RpcThreads, ResetsMeetAnswers) {
  constexpr int kRounds = 30;
  constexpr int kCalls = 30;
  RpcClient client(server_.Start());
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int32_t> streams;
    for (int i = 0; i < kCalls; ++i) streams.push_back(client.Call("/pool", "x"));
    client.Send();
    for (size_t i = 0; i < streams.size(); i += 2) client->Reset(streams[i]);
    for (const int32_t stream : streams) {
      client.Finish(stream);
      client->Forget(stream);
    }
  }
  test::WaitUntil([&] { return counts_.done == kRounds * kCalls; });
  EXPECT_LE(counts_.cancelled, kRounds * kCalls / 2);
  EXPECT_EQ(client.ResultOf(client.Call("/pool", "another")), "0, another");
}

TEST_F(RpcThreads, PostedWorkRunsOnTheLoop) {
  RpcClient client(server_.Start());
  const int32_t stream = client.Call("/hold", "x");
  client.RoundTrip();
  RpcCall& call = *server_.call(0).call;
  EXPECT_FALSE(call.IsOwnThread());
  std::thread([&] {
    for (int i = 0; i < 3; ++i) {
      call.Post([&call, i] {
        EXPECT_TRUE(call.IsOwnThread());
        call.Write({.head = {}, .bytes = Cat(i)});
        if (i == 2) call.Finish(RpcStatus());
      });
    }
  }).join();
  EXPECT_EQ(client.ResultOf(stream), "0, 0, 1, 2");
}

TEST_F(RpcThreads, ADrainLetsCallsFinish) {
  RpcClient client(server_.Start());
  const int32_t held = client.Call("/hold", "x");
  const int32_t open = client.Begin("/stream");
  client->Send(open, Framed("before"));
  client.RoundTrip();
  std::thread stopping([this] { server_.http->Stop(absl::InfiniteDuration()); });
  // The notice of the drain names no last stream, which comes after a round trip.
  ASSERT_TRUE(client.Await([&] { return client->goaways().size() == 2; }));
  EXPECT_EQ(client->goaways()[0].last_stream, INT32_MAX);
  EXPECT_EQ(client->goaways()[1].last_stream, open);
  client->Send(open, Framed("after"));
  client->End(open);
  EXPECT_EQ(client.ResultOf(open), "0, before, after");
  server_.call(0).call->Finish({.head = {}, .bytes = "answer"});
  EXPECT_EQ(client.ResultOf(held), "0, answer");
  client.AwaitEnd();
  stopping.join();
  for (const size_t i : {0, 1}) EXPECT_FALSE(server_.call(i).events.Has("cancel"));
}

TEST_F(RpcThreads, CallsMayOutliveTheServer) {
  constexpr size_t kCalls = 40;
  for (const bool is_before : {true, false}) {
    RpcClient client(server_.Start());
    for (size_t i = 0; i < kCalls; ++i) client.Call("/hold", "x");
    client.RoundTrip();
    absl::Notification answer;
    std::atomic<size_t> answered = 0;
    for (size_t i = 0; i < kCalls; ++i) {
      pool_.RunAdmitted([&, call = server_.call(i).call] {
        answer.WaitForNotification();
        call->Write({.head = {}, .bytes = std::string(100'000, 'w')});
        call->Post([call] { call->Write({.head = {}, .bytes = "posted"}); });
        call->Finish({.head = {}, .bytes = "last"});
        ++answered;
      });
    }
    if (is_before) answer.Notify();
    server_.http->Stop(absl::ZeroDuration());
    if (!is_before) answer.Notify();
    test::WaitUntil([&] { return answered == kCalls; });
    for (size_t i = 0; i < kCalls; ++i) {
      const TestCall& call = server_.call(i);
      if (!is_before) {
        EXPECT_THAT(call.events.all(), ElementsAre("message x", "end", "cancel", "done"));
        EXPECT_TRUE(call.call->is_cancelled());
      }
      EXPECT_EQ(call.events.all().back(), "done");
    }
    server_.Forget();
  }
}

TEST_F(RpcThreads, WorkForALoopThatHasEndedIsDropped) {
  auto token = std::make_shared<int>();
  const std::weak_ptr<int> observer = token;
  RpcClient client(server_.Start());
  client.Call("/hold", "x");
  client.RoundTrip();
  server_.http->Stop(absl::ZeroDuration());
  std::shared_ptr<RpcCall> call = server_.call(0).call;
  server_.Forget();
  // The work holds the call, which must not hold the work.
  call->Write({.head = {}, .bytes = "late"});
  call->Post([call, token = std::move(token)] { ADD_FAILURE() << "the loop has ended"; });
  const std::weak_ptr<RpcCall> released = call;
  call.reset();
  EXPECT_TRUE(observer.expired());
  EXPECT_TRUE(released.expired());
}

}  // namespace armature::daemon::rpc_threads_test
