#include "storage/base/processor_use.h"

#include <atomic>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "storage/base/thread_pool.h"

namespace armature::processor_use_test {

TEST(ProcessorUse, IsBusyWithNearlyAllOfItsProcessors) {
  EXPECT_TRUE(ProcessorUse::IsBusy(1, 100, 100));
  EXPECT_TRUE(ProcessorUse::IsBusy(1, 100, 98));
  EXPECT_FALSE(ProcessorUse::IsBusy(1, 100, 90));
  EXPECT_TRUE(ProcessorUse::IsBusy(4, 100, 396));
  EXPECT_FALSE(ProcessorUse::IsBusy(4, 100, 380));
  EXPECT_FALSE(ProcessorUse::IsBusy(2, 100, 100));
}

TEST(ProcessorUse, TellsABusyProcessFromAnIdleOne) {
  ProcessorUse use;
  absl::Notification().WaitForNotificationWithTimeout(absl::Milliseconds(30));
  EXPECT_FALSE(use.WasBusy());
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4 * UsableProcessors(); ++i) {
    threads.emplace_back([&] {
      while (!is_over) continue;
    });
  }
  // Other programs may have the processors at times.
  const absl::Time give_up = absl::Now() + absl::Seconds(20);
  bool was_busy = false;
  while (!was_busy && absl::Now() < give_up) {
    std::this_thread::yield();
    was_busy = use.WasBusy();
  }
  is_over = true;
  for (std::thread& each : threads) each.join();
  EXPECT_TRUE(was_busy);
}

}  // namespace armature::processor_use_test
