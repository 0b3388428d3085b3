#include "engine/request_queue.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/api_error.h"

namespace armature::engine::request_queue_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;

// A queue with one thread and a clock of its own, on which each request takes `run_ms`.
class RequestQueueTest : public testing::Test {
 protected:
  // Puts the thread into a request, and returns what ends it.
  std::shared_ptr<absl::Notification> Block() {
    auto started = std::make_shared<absl::Notification>();
    auto end = std::make_shared<absl::Notification>();
    queue_.Run(
        [this, started, end] {
          started->Notify();
          end->WaitForNotification();
          clock_ns_ += run_ms_ * kMs;
        },
        [](const absl::Status&) { FAIL(); });
    started->WaitForNotification();
    return end;
  }
  void Ask(int number) {
    queue_.Run(
        [this, number] {
          {
            const absl::MutexLock lock(&mutex_);
            ran_.push_back(number);
          }
          clock_ns_ += run_ms_ * kMs;
        },
        [this, number](const absl::Status& status) {
          EXPECT_EQ(GetApiError(status)->type, ApiErrorType::kThrottling);
          const absl::MutexLock lock(&mutex_);
          refused_.push_back(number);
        });
  }
  // Makes the mean duration of requests `run_ms`.
  void Learn(int64_t run_ms) {
    run_ms_ = run_ms;
    for (int i = 0; i < 200; ++i) Block()->Notify();
  }

  std::atomic<int64_t> clock_ns_ = 0;
  std::atomic<int64_t> run_ms_ = 1;
  absl::Mutex mutex_;
  std::vector<int> ran_ ABSL_GUARDED_BY(mutex_);
  std::vector<int> refused_ ABSL_GUARDED_BY(mutex_);
  RequestQueue queue_{"queue", 1, 2000, [this] { return clock_ns_.load(); }};
};

TEST_F(RequestQueueTest, ServesInOrderOfArrivalWhileTheQueueIsShort) {
  Learn(100);
  const auto end = Block();
  for (int i = 0; i < static_cast<int>(RequestQueue::kShortQueue); ++i) Ask(i);
  clock_ns_ += 1000 * kMs;  // they wait for long, because the requests are long
  end->Notify();
  queue_.Stop();
  const absl::MutexLock lock(&mutex_);
  EXPECT_TRUE(std::is_sorted(ran_.begin(), ran_.end()));
  EXPECT_EQ(ran_.size(), RequestQueue::kShortQueue);
  EXPECT_THAT(refused_, IsEmpty());
}

TEST_F(RequestQueueTest, ServesTheNewestAndRefusesTheLateWhileOverloaded) {
  Learn(1);
  const auto end = Block();
  // 150 ms of work for one thread.
  for (int i = 0; i < 150; ++i) Ask(i);
  end->Notify();
  queue_.Stop();
  const absl::MutexLock lock(&mutex_);
  EXPECT_EQ(ran_.front(), 149);
  EXPECT_TRUE(std::is_sorted(ran_.rbegin(), ran_.rend())) << "the newest first";
  EXPECT_EQ(ran_.size() + refused_.size(), 150u);
  EXPECT_NEAR(static_cast<double>(ran_.size()), 100, 3) << "until the others had waited for 100 ms";
  EXPECT_TRUE(std::is_sorted(refused_.begin(), refused_.end()));
  EXPECT_EQ(queue_.refused(), refused_.size());
}

TEST_F(RequestQueueTest, RefusalsArePacedWhileThereAreRequestsToRun) {
  Learn(1);
  constexpr int kRuns = 240;
  absl::Notification is_over;
  std::atomic<int> runs = 0;
  uint64_t paced = 0;
  // Each request takes 1 ms, in which five others arrive.
  std::function<void()> serve = [&] {
    clock_ns_ += kMs;
    if (++runs > kRuns) return;
    if (runs == kRuns) {
      paced = queue_.refused();
      is_over.Notify();
      return;
    }
    for (int i = 0; i < 5; ++i) queue_.Run([&] { serve(); }, [](const absl::Status&) {});
  };
  const auto end = Block();
  for (int i = 0; i < 150; ++i) queue_.Run([&] { serve(); }, [](const absl::Status&) {});
  end->Notify();
  is_over.WaitForNotification();
  queue_.Stop();
  // In the last 140 ms, hundreds have waited for more than 100 ms.
  EXPECT_GT(paced, 100u);
  EXPECT_LE(paced, 140u + 20);
  EXPECT_GT(queue_.refused(), 700u) << "at once, when there is nothing to run";
}

TEST_F(RequestQueueTest, TheOldestMakesRoomDuringAnOverload) {
  Learn(1);
  const auto end = Block();
  absl::Notification is_overloaded;
  absl::Notification go_on;
  for (int i = 0; i < 1999; ++i) Ask(i);
  queue_.Run(
      [&] {
        is_overloaded.Notify();
        go_on.WaitForNotification();
      },
      [](const absl::Status&) { FAIL(); });
  end->Notify();
  is_overloaded.WaitForNotification();
  Ask(1999);
  Ask(2000);
  {
    const absl::MutexLock lock(&mutex_);
    EXPECT_THAT(refused_, ElementsAre(0));
  }
  go_on.Notify();
  queue_.Stop();
  const absl::MutexLock lock(&mutex_);
  EXPECT_EQ(ran_.front(), 2000);
}

TEST_F(RequestQueueTest, AnOverloadEndsWithAnEmptyQueue) {
  Learn(1);
  auto end = Block();
  for (int i = 0; i < 150; ++i) Ask(i);
  end->Notify();
  while (queue_.length() > 0) {
  }
  end = Block();
  {
    const absl::MutexLock lock(&mutex_);
    ran_.clear();
  }
  for (int i = 0; i < 3; ++i) Ask(i);
  end->Notify();
  queue_.Stop();
  const absl::MutexLock lock(&mutex_);
  EXPECT_THAT(ran_, ElementsAre(0, 1, 2));
}

TEST_F(RequestQueueTest, RefusesOnTheCallersThreadWhenItIsFull) {
  const auto end = Block();
  for (int i = 0; i < 2001; ++i) Ask(i);
  {
    const absl::MutexLock lock(&mutex_);
    EXPECT_THAT(refused_, ElementsAre(2000));
  }
  end->Notify();
  queue_.Stop();
}

}  // namespace armature::engine::request_queue_test
