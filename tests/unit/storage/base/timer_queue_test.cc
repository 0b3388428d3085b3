#include "storage/base/timer_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "storage/base/monotonic_wait.h"
#include "tests/support/wall_clock.h"

namespace armature::timer_queue_test {

TEST(TimerQueue, RunsCallbacksByTimeAndNotBefore) {
  const absl::Time start = absl::Now();
  std::vector<int> ran;  // used by the queue's thread only, until `done`
  absl::Notification done;
  TimerQueue queue;
  queue.At(Deadline::After(absl::Milliseconds(60)), [&] {
    ran.push_back(3);
    done.Notify();
  });
  queue.At(Deadline::After(absl::Milliseconds(20)), [&] { ran.push_back(1); });
  queue.At(Deadline::After(absl::Milliseconds(40)), [&] { ran.push_back(2); });
  done.WaitForNotification();
  EXPECT_GE(absl::Now(), start + absl::Milliseconds(60));
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
}

TEST(TimerQueue, RunsWhatIsOverdueInOrderOfArrivalAtOneTime) {
  const Deadline past = Deadline::After(absl::ZeroDuration());
  std::vector<int> ran;
  absl::Notification hold;
  absl::Notification done;
  TimerQueue queue;
  queue.At(Deadline::Passed(), [&] { hold.WaitForNotification(); });
  for (int i = 0; i < 10; ++i) queue.At(past, [&ran, i] { ran.push_back(i); });
  queue.At(past, [&] { done.Notify(); });
  hold.Notify();
  done.WaitForNotification();
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(TimerQueue, CancelForgetsOnlyWhatHasNotStarted) {
  std::atomic<bool> cancelled_ran = false;
  absl::Notification done;
  TimerQueue queue;
  const Deadline later = Deadline::After(absl::Milliseconds(20));
  const TimerQueue::TimerId cancelled = queue.At(later, [&] { cancelled_ran = true; });
  EXPECT_TRUE(queue.Cancel(cancelled));
  EXPECT_FALSE(queue.Cancel(cancelled)) << "only once";
  const TimerQueue::TimerId running = queue.At(later, [&] { done.Notify(); });
  done.WaitForNotification();
  EXPECT_FALSE(queue.Cancel(running)) << "it has started";
  EXPECT_FALSE(cancelled_ran);
  EXPECT_FALSE(queue.Cancel(12345)) << "never was";
}

TEST(TimerQueue, RunsInTimeWhenTheClockIsSetBack) {
  std::promise<void> ran;
  TimerQueue queue;
  queue.At(Deadline::After(absl::Milliseconds(50)), [&] { ran.set_value(); });
  const test::WallClockSet set_back(-absl::Hours(1));
  EXPECT_EQ(ran.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST(TimerQueue, DoesNotRunEarlyWhenTheClockIsSetForward) {
  std::promise<void> ran;
  TimerQueue queue;
  const TimerQueue::TimerId early = queue.At(Deadline::After(absl::Hours(1)), [] {});
  const test::WallClockSet set_forward(absl::Hours(2));
  queue.At(Deadline::Passed(), [&] { ran.set_value(); });
  ran.get_future().wait();
  EXPECT_TRUE(queue.Cancel(early)) << "it has not run, although another ran after it was due by the clock";
}

TEST(StopSignal, APauseIsAsLongAsItSaysWhenTheClockIsSet) {
  StopSignal signal;
  const int64_t start_ns = MonotonicNs();
  const test::WallClockSet set_forward(absl::Hours(1));
  EXPECT_FALSE(signal.WaitFor(absl::Milliseconds(5)));
  EXPECT_GE(MonotonicNs() - start_ns, 5'000'000);
}

TEST(StopSignal, EndsPausesNowAndLater) {
  StopSignal signal;
  std::thread waiter([&] { EXPECT_TRUE(signal.WaitFor(absl::InfiniteDuration())); });
  signal.Stop();
  waiter.join();
  EXPECT_TRUE(signal.is_stopped());
  EXPECT_TRUE(signal.WaitFor(absl::InfiniteDuration()));
}

TEST(TimerQueue, CallbacksMayAddTimers) {
  absl::Notification done;
  TimerQueue queue;
  queue.At(Deadline::Passed(), [&] { queue.At(Deadline::Passed(), [&] { done.Notify(); }); });
  done.WaitForNotification();
}

TEST(TimerQueue, DestructorDropsWhatHasNotCome) {
  std::atomic<bool> ran = false;
  {
    TimerQueue queue;
    queue.At(Deadline::Never(), [&] { ran = true; });
    queue.At(Deadline::After(absl::Hours(1)), [&] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

}  // namespace armature::timer_queue_test
