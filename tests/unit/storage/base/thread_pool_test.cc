#include "storage/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"

namespace armature::thread_pool_test {

TEST(ThreadPool, RunsTasksInTheOrderTheyCame) {
  std::vector<int> ran;
  {
    ThreadPool pool("order", 1, 100);
    for (int i = 0; i < 100; ++i) {
      Task task = [&ran, i] { ran.push_back(i); };
      // The queue has room for all tasks, even if none has started.
      ASSERT_TRUE(pool.TryRun(task));
    }
  }
  ASSERT_EQ(ran.size(), 100u) << "the destructor runs what was accepted";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[static_cast<size_t>(i)], i);
}

TEST(ThreadPool, RefusesWhenTheQueueIsFullAndLeavesTheTask) {
  absl::Notification started;
  absl::Notification release;
  std::atomic<int> ran = 0;
  ThreadPool pool("full", 1, 2);
  Task blocker = [&] {
    started.Notify();
    release.WaitForNotification();
  };
  ASSERT_TRUE(pool.TryRun(blocker));
  started.WaitForNotification();
  Task first = [&ran] { ++ran; };
  Task second = [&ran] { ++ran; };
  Task third = [&ran] { ++ran; };
  EXPECT_TRUE(pool.TryRun(first));
  EXPECT_TRUE(pool.TryRun(second));
  EXPECT_EQ(pool.queue_length(), 2u);
  EXPECT_FALSE(pool.TryRun(third));
  ASSERT_TRUE(static_cast<bool>(third)) << "a refused task is the caller's";

  pool.RunAdmitted([&ran] { ran += 10; });
  EXPECT_EQ(pool.queue_length(), 3u) << "admitted work passes a full queue";
  release.Notify();
  pool.Stop();
  EXPECT_EQ(ran, 12);
}

TEST(ThreadPool, StoppedRefusesNewWorkAndRunsAdmittedWork) {
  ThreadPool pool("stopped", 2, 10);
  pool.Stop();
  pool.Stop();
  bool ran = false;
  Task task = [&ran] { ran = true; };
  EXPECT_FALSE(pool.TryRun(task));
  EXPECT_FALSE(ran);
  pool.RunAdmitted([&ran] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(ThreadPool, UsesAllItsThreads) {
  // Each task waits for the other: one thread could never finish.
  absl::Notification first_started;
  absl::Notification second_started;
  ThreadPool pool("pair", 2, 10);
  pool.RunAdmitted([&] {
    first_started.Notify();
    second_started.WaitForNotification();
  });
  pool.RunAdmitted([&] {
    second_started.Notify();
    first_started.WaitForNotification();
  });
  pool.Stop();
}

TEST(ThreadPool, RunsWhatManyThreadsGiveIt) {
  std::atomic<int> ran = 0;
  int refused = 0;
  {
    ThreadPool target("target", 2, 10'000);
    ThreadPool source("source", 4, 4);
    for (int i = 0; i < 4; ++i) {
      source.RunAdmitted([&] {
        for (int n = 0; n < 1000; ++n) target.RunAdmitted([&ran] { ++ran; });
      });
    }
    source.Stop();
    for (int n = 0; n < 1000; ++n) {
      Task task = [&ran] { ++ran; };
      refused += target.TryRun(task) ? 0 : 1;
    }
  }
  EXPECT_EQ(ran + refused, 5000);
}

TEST(UsableProcessors, AreThoseOfTheAffinity) {
  // A thread of its own, whose affinity ends with it.
  std::thread([] {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    EXPECT_EQ(UsableProcessors(), static_cast<size_t>(CPU_COUNT(&all)));
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
      if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(UsableProcessors(), 1U);
  }).join();
}

}  // namespace armature::thread_pool_test
