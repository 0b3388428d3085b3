#include "daemon/http/ready_queue.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "daemon/http/http_server.h"
#include "gtest/gtest.h"
#include "storage/base/time_histogram.h"
#include "tests/support/raw_http_client.h"
#include "tests/unit/daemon/http/handlers.h"

namespace armature::daemon::ready_queue_test {

using Queue = ReadyQueue<const int*>;
constexpr int64_t kMs = 1'000'000;
// Connections that came at 0 have waited for longer than the patience.
constexpr int64_t kLate = 2 * Queue::kWindowNs;
static_assert(kLate > Queue::kPatienceNs);

class ReadyQueueTest : public testing::Test {
 protected:
  ReadyQueueTest() {
    for (int i = 0; i < static_cast<int>(numbers_.size()); ++i) numbers_[static_cast<size_t>(i)] = i;
    for (int i = 0; i < 10; ++i) queue_.Served(64, 64 * kMs / 10);
  }
  void Add(size_t from, size_t to, int64_t now_ns) {
    for (size_t i = from; i < to; ++i) queue_.Add(&numbers_[i], now_ns);
    queue_.Look(now_ns, /*held_up=*/false);
  }

  std::vector<int> numbers_ = std::vector<int>(2000);
  Queue queue_;  // each connection takes 0.1 ms
};

TEST_F(ReadyQueueTest, ServesInOrderWhileFewAreReady) {
  Add(0, Queue::kCrowd, 0);
  EXPECT_FALSE(queue_.is_overloaded());
  for (int i = 0; i < static_cast<int>(Queue::kCrowd); ++i) EXPECT_EQ(*queue_.TakeNext(1000 * kMs), i);
  EXPECT_EQ(queue_.TakeNext(0), nullptr);
}

TEST_F(ReadyQueueTest, ServesTheNewestFirstDuringAnOverload) {
  Add(0, 199, 0);  // 19.9 ms of work
  ASSERT_FALSE(queue_.is_overloaded());
  Add(199, 300, 0);
  ASSERT_TRUE(queue_.is_overloaded());
  EXPECT_EQ(*queue_.TakeNext(kMs), 299);
  Add(300, 301, kMs);
  EXPECT_EQ(*queue_.TakeNext(kMs), 300);
  EXPECT_EQ(*queue_.TakeNext(kMs), 298);
  while (queue_.TakeNext(kMs) != nullptr) continue;
  EXPECT_FALSE(queue_.is_overloaded());
}

TEST_F(ReadyQueueTest, ServesLateConnectionsOnlyWhenThereIsTime) {
  Add(0, 1000, 0);
  EXPECT_NE(queue_.TakeNext(Queue::kPatienceNs), nullptr);
  queue_.Look(kLate - Queue::kWindowNs, /*held_up=*/true);
  // The loop was busy in the window.
  queue_.Served(80, 8 * kMs);
  queue_.Look(kLate, /*held_up=*/false);
  EXPECT_EQ(queue_.TakeNext(kLate), nullptr);
  // It has nothing to do in the next one.
  queue_.Look(kLate + Queue::kWindowNs, /*held_up=*/false);
  size_t served = 0;
  while (queue_.TakeNext(kLate + Queue::kWindowNs) != nullptr) ++served;
  EXPECT_EQ(served, Queue::kLateServedFirst);
  queue_.Look(kLate + 2 * Queue::kWindowNs, /*held_up=*/false);
  while (queue_.TakeNext(kLate + 2 * Queue::kWindowNs) != nullptr) ++served;
  EXPECT_EQ(served, 3 * Queue::kLateServedFirst);
  // A busy window takes half of the pace.
  queue_.Served(80, 8 * kMs);
  queue_.Look(kLate + 3 * Queue::kWindowNs, /*held_up=*/false);
  while (queue_.TakeNext(kLate + 3 * Queue::kWindowNs) != nullptr) ++served;
  EXPECT_EQ(served, 4 * Queue::kLateServedFirst);
}

TEST_F(ReadyQueueTest, LateConnectionsWaitWhileOthersAreHeldUp) {
  Add(0, 1000, 0);
  // The loop has nothing to do.
  int64_t now_ns = kLate;
  for (int window = 0; window < 4; ++window, now_ns += Queue::kWindowNs) {
    queue_.Look(now_ns, /*held_up=*/true);
    EXPECT_EQ(queue_.TakeNext(now_ns), nullptr);
  }
  queue_.Look(now_ns, /*held_up=*/false);
  EXPECT_NE(queue_.TakeNext(now_ns), nullptr);
}

// A pause of 30 ms leaves 300 requests in the queue of a loop that is otherwise busy for 60 % of the time. They are all
// served soon; none is refused.
TEST_F(ReadyQueueTest, APauseAtModerateLoadIsOverSoon) {
  Add(0, 300, 0);
  ASSERT_TRUE(queue_.is_overloaded());
  int64_t now_ns = 30 * kMs;
  for (; queue_.is_overloaded() && now_ns < 1000 * kMs; now_ns += Queue::kWindowNs) {
    queue_.Served(60, 6 * kMs);
    queue_.Look(now_ns, /*held_up=*/false);
    while (queue_.TakeNext(now_ns) != nullptr) continue;
    EXPECT_EQ(queue_.TakeLate(now_ns), nullptr);
  }
  EXPECT_LE(now_ns, 120 * kMs);
}

TEST_F(ReadyQueueTest, LateConnectionsLeaveTheOldestFirstAtAnEvenPace) {
  Add(0, 1000, 0);
  EXPECT_EQ(queue_.TakeLate(99 * kMs), nullptr);
  int refused = 0;
  for (int64_t now_ns = 100 * kMs; now_ns < 1100 * kMs; now_ns += kMs) {
    const int* const late = queue_.TakeLate(now_ns);
    if (late == nullptr) continue;
    EXPECT_EQ(*late, refused++);
  }
  EXPECT_NEAR(refused, 250, 5);
  // Nobody waits for longer than four seconds.
  while (queue_.TakeLate(Queue::kRefusedAfterNs) != nullptr) ++refused;
  EXPECT_EQ(refused, 1000);
  EXPECT_FALSE(queue_.is_overloaded());
}

// One loop, whose handler takes a millisecond for each request: 200 connections that always have a request are an
// overload. Some are refused, and all are served.
TEST(HttpTurns, AllConnectionsAreServedAndSomeRequestsRefusedDuringAnOverload) {
  std::atomic<int> late = 0;
  InlineHandler handler([&late](const HttpRequest& request) {
    const int64_t end_ns = MonotonicNs() + (request.is_late ? 0 : kMs);
    while (MonotonicNs() < end_ns) continue;
    if (request.is_late) ++late;
    return HttpResponse{.headers = {}, .body = request.is_late ? "late" : "served"};
  });
  const auto server = Serve(&handler, {.io_threads = 1});
  constexpr size_t kConnections = 200;
  std::vector<std::unique_ptr<test::RawHttpClient>> clients;
  for (size_t i = 0; i < kConnections; ++i) clients.push_back(std::make_unique<test::RawHttpClient>(server->address()));
  std::vector<pollfd> sockets;
  for (const auto& client : clients) {
    sockets.push_back({.fd = client->socket(), .events = POLLIN, .revents = 0});
    client->Send(test::Post("x"));
  }
  std::vector<size_t> served(kConnections, 0);
  const int64_t give_up_ns = MonotonicNs() + 60'000 * kMs;
  const auto is_over = [&] { return late > 20 && *std::min_element(served.begin(), served.end()) > 0; };
  while (!is_over() && MonotonicNs() < give_up_ns) {
    poll(sockets.data(), sockets.size(), 100);
    for (size_t i = 0; i < kConnections; ++i) {
      if ((sockets[i].revents & POLLIN) == 0) continue;
      if (clients[i]->Read().body == "served") ++served[i];
      clients[i]->Send(test::Post("x"));
    }
  }
  EXPECT_GT(server->late_requests(), 20u);
  EXPECT_TRUE(is_over()) << late << " late, " << *std::min_element(served.begin(), served.end()) << " at least served";
}

}  // namespace armature::daemon::ready_queue_test
