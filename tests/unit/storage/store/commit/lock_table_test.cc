#include "storage/store/commit/lock_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "storage/base/api_error.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::store::lock_table_test {

// A row in the given stripe.
constexpr uint64_t Row(uint32_t stripe) { return uint64_t{stripe} << 32; }

class LockTableTest : public testing::Test {
 protected:
  // A continuation may still release its guard after the test has seen its result.
  ~LockTableTest() override { pool_.Stop(); }

  // Locks free rows at once.
  LockTable::Guard LockNow(const std::vector<uint64_t>& rows) {
    std::optional<LockTable::Guard> held;
    table_.AcquireAll(rows, Deadline::Never(),
                      [&](absl::StatusOr<LockTable::Guard> guard, uint32_t) { held = *std::move(guard); });
    EXPECT_TRUE(held.has_value());
    return *std::move(held);
  }

  ThreadPool pool_{"test", 4, 1000};
  TimerQueue timers_;
  LockTable table_{8, &pool_, &timers_};
};

TEST_F(LockTableTest, FreeRowIsLockedAtOnceOnTheCallersThread) {
  bool ran = false;
  const std::thread::id me = std::this_thread::get_id();
  table_.Acquire(Row(1), Deadline::Never(), [&](absl::StatusOr<LockTable::Guard> guard) {
    EXPECT_TRUE(guard.ok());
    EXPECT_EQ(std::this_thread::get_id(), me);
    ran = true;
  });
  EXPECT_TRUE(ran);
}

TEST_F(LockTableTest, ARequestWithoutRowsRunsAtOnce) {
  LockTable::Guard guard = LockNow({});
  EXPECT_EQ(table_.waiting(), 0u);
}

TEST_F(LockTableTest, LockedRowParksTheRequestWithoutBlocking) {
  LockTable::Guard first = LockNow({Row(1)});
  absl::Notification second;
  table_.Acquire(Row(1), Deadline::Never(), [&](absl::StatusOr<LockTable::Guard>) { second.Notify(); });
  EXPECT_EQ(table_.waiting(), 1u);
  EXPECT_FALSE(second.HasBeenNotified());
  // Another row can be locked.
  LockTable::Guard other = LockNow({Row(2)});
  first.Release();
  second.WaitForNotification();
  EXPECT_EQ(table_.waiting(), 0u);
}

TEST_F(LockTableTest, WaitersContinueOneAfterAnotherInOrder) {
  constexpr int kWaiters = 3 * LockTable::kChainMax;
  LockTable::Guard held = LockNow({Row(1)});
  std::vector<int> order;  // guarded by the row lock
  int running = 0;
  absl::BlockingCounter left(kWaiters);
  for (int i = 0; i < kWaiters; ++i) {
    table_.Acquire(Row(1), Deadline::Never(), [&, i](absl::StatusOr<LockTable::Guard> guard) {
      EXPECT_EQ(running++, 0) << "nested";
      order.push_back(i);
      --running;
      guard->Release();
      left.DecrementCount();
    });
  }
  held.Release();
  left.Wait();
  std::vector<int> expected(kWaiters);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_F(LockTableTest, AReleaseToThePoolLetsTheNextWaiterContinueAtOnce) {
  LockTable::Guard held = LockNow({Row(1)});
  absl::Notification first_done;
  absl::Notification second_runs;
  table_.Acquire(Row(1), Deadline::Never(), [&](absl::StatusOr<LockTable::Guard> guard) {
    guard->Release(LockTable::NextWaiter::kOnPool);
    EXPECT_TRUE(second_runs.WaitForNotificationWithTimeout(absl::Seconds(30)));
    first_done.Notify();
  });
  table_.Acquire(Row(1), Deadline::Never(), [&](const absl::StatusOr<LockTable::Guard>&) { second_runs.Notify(); });
  held.Release();
  first_done.WaitForNotification();
}

// The chain of one stripe does not wait for the continuation of another one.
TEST_F(LockTableTest, ARequestThatReleasesTwoStripesContinuesTwoWaiters) {
  LockTable::Guard first = LockNow({Row(1), Row(2)});
  absl::BlockingCounter left(2);
  absl::Notification both_held;
  std::optional<LockTable::Guard> guards;
  table_.AcquireAll({Row(1), Row(2)}, Deadline::Never(), [&](absl::StatusOr<LockTable::Guard> guard, uint32_t) {
    guards = *std::move(guard);
    both_held.Notify();
  });
  for (const int row : {1, 2}) {
    table_.Acquire(Row(row), Deadline::Never(),
                   [&](const absl::StatusOr<LockTable::Guard>&) { left.DecrementCount(); });
  }
  first.Release();
  both_held.WaitForNotification();
  guards.reset();
  left.Wait();
}

TEST_F(LockTableTest, ARowIsContendedForSomeCommitsAfterAWait) {
  LockTable::Guard held = LockNow({Row(1)});
  EXPECT_FALSE(held.TakeEarlyRelease());
  absl::Notification passed;
  table_.Acquire(Row(1), Deadline::Never(), [&](const absl::StatusOr<LockTable::Guard>&) { passed.Notify(); });
  for (int i = 0; i < LockTable::kContendedReleases; ++i) EXPECT_TRUE(held.TakeEarlyRelease());
  EXPECT_FALSE(held.TakeEarlyRelease());
  held.Release();
  passed.WaitForNotification();
  EXPECT_FALSE(LockNow({Row(2)}).TakeEarlyRelease()) << "another stripe";
}

TEST_F(LockTableTest, WhatIsParkedIsBoundedInBytes) {
  LockTable::Guard held = LockNow({Row(1)});
  constexpr size_t kHalf = LockTable::kParkedBytesMax / 2;
  absl::BlockingCounter parked(2);
  for (int i = 0; i < 2; ++i) {
    table_.Acquire(
        Row(1), Deadline::Never(),
        [&](absl::StatusOr<LockTable::Guard> guard) {
          EXPECT_TRUE(guard.ok());
          parked.DecrementCount();
        },
        kHalf);
  }
  absl::Status refused;
  const auto one_more = [&](absl::StatusOr<LockTable::Guard> guard) { refused = guard.status(); };
  table_.Acquire(Row(1), Deadline::Never(), one_more, 1);
  EXPECT_EQ(GetApiError(refused)->type, ApiErrorType::kThrottling);
  held.Release();
  parked.Wait();
  EXPECT_EQ(table_.waiting(), 0u);
  // The memory limit has room again.
  LockTable::Guard again = LockNow({Row(2)});
  absl::Notification done;
  table_.Acquire(
      Row(2), Deadline::Never(), [&](absl::StatusOr<LockTable::Guard>) { done.Notify(); }, kHalf);
  EXPECT_EQ(table_.waiting(), 1u);
  again.Release();
  done.WaitForNotification();
}

// Processor time in which requests expire behind `before` others that do not.
double SecondsToExpire(size_t before) {
  constexpr int kExpiring = 4000;
  ThreadPool pool("test", 1, 1000);
  TimerQueue timers;
  LockTable table(1, &pool, &timers);
  std::optional<LockTable::Guard> held = table.TryAcquire(Row(0));
  absl::BlockingCounter left(static_cast<int>(before));
  for (size_t i = 0; i < before; ++i) {
    table.Acquire(Row(0), Deadline::Never(), [&](absl::StatusOr<LockTable::Guard>) { left.DecrementCount(); });
  }
  const std::clock_t begin = std::clock();
  absl::BlockingCounter expired(kExpiring);
  for (int i = 0; i < kExpiring; ++i) {
    table.Acquire(Row(0), Deadline::Passed(), [&](const absl::StatusOr<LockTable::Guard>& guard) {
      EXPECT_TRUE(absl::IsDeadlineExceeded(guard.status()));
      expired.DecrementCount();
    });
  }
  expired.Wait();
  const std::clock_t end = std::clock();
  held.reset();
  left.Wait();
  pool.Stop();
  return static_cast<double>(end - begin) / CLOCKS_PER_SEC;
}

TEST(LockTableWork, ExpiryDoesNotGrowWithTheWaiters) {
  double least_alone = 1e9;
  double least_behind = 1e9;
  for (int i = 0; i < 3; ++i) {
    least_alone = std::min(least_alone, SecondsToExpire(0));
    least_behind = std::min(least_behind, SecondsToExpire(12'000));
  }
  EXPECT_LT(least_behind, 4 * least_alone + 0.005);
}

TEST_F(LockTableTest, WaitersGoInTheOrderTheyCame) {
  constexpr int kWaiters = 100;
  LockTable::Guard held = LockNow({Row(3)});
  absl::Mutex mutex;
  std::vector<int> order;
  absl::BlockingCounter left(kWaiters);
  for (int i = 0; i < kWaiters; ++i) {
    table_.Acquire(Row(3), Deadline::Never(), [&, i](absl::StatusOr<LockTable::Guard> guard) {
      ASSERT_TRUE(guard.ok());
      {
        const absl::MutexLock lock(&mutex);
        order.push_back(i);
      }
      guard->Release();
      left.DecrementCount();
    });
  }
  EXPECT_EQ(table_.waiting(), size_t{kWaiters});
  held.Release();
  left.Wait();
  for (int i = 0; i < kWaiters; ++i) EXPECT_EQ(order[i], i);
}

TEST_F(LockTableTest, ExpiresAtTheDeadlineAndLeavesTheLockToOthers) {
  LockTable::Guard held = LockNow({Row(1)});
  absl::Notification expired;
  absl::Status status;
  table_.Acquire(Row(1), Deadline::After(absl::Milliseconds(5)), [&](absl::StatusOr<LockTable::Guard> guard) {
    status = guard.status();
    expired.Notify();
  });
  expired.WaitForNotification();
  ASSERT_TRUE(GetApiError(status).has_value());
  EXPECT_EQ(GetApiError(status)->type, ApiErrorType::kDeadlineExceeded);
  EXPECT_EQ(table_.waiting(), 0u);
  held.Release();
  LockNow({Row(1)});
}

TEST_F(LockTableTest, ExpiryGivesBackTheRowsThatWereHeldAlready) {
  LockTable::Guard held = LockNow({Row(2)});
  absl::Notification expired;
  table_.AcquireAll({Row(2), Row(1)}, Deadline::After(absl::Milliseconds(5)),
                    [&](absl::StatusOr<LockTable::Guard> guard, uint32_t) {
                      EXPECT_FALSE(guard.ok());
                      expired.Notify();
                    });
  expired.WaitForNotification();
  LockNow({Row(1)});
}

TEST_F(LockTableTest, CloseEndsAllThatWaitsAndGivesBackWhatItHeld) {
  LockTable::Guard held = LockNow({Row(2)});
  std::vector<absl::Status> ended;
  const auto note = [&ended](const absl::StatusOr<LockTable::Guard>& guard) { ended.push_back(guard.status()); };
  table_.Acquire(Row(2), Deadline::Never(), note);
  table_.AcquireAll({Row(1), Row(2)}, Deadline::Never(),
                    [&note](const absl::StatusOr<LockTable::Guard>& guard, uint32_t) { note(guard); });
  table_.Close(ServiceUnavailableError("closed"));
  ASSERT_EQ(ended.size(), 2u);
  LockNow({Row(1)});
  // A request that would have to wait ends at once, also with a row locked already.
  table_.Acquire(Row(2), Deadline::Never(), note);
  table_.AcquireAll({Row(1), Row(2)}, Deadline::Never(),
                    [&note](const absl::StatusOr<LockTable::Guard>& guard, uint32_t) { note(guard); });
  ASSERT_EQ(ended.size(), 4u);
  for (const absl::Status& status : ended) EXPECT_EQ(status.message(), "closed");
  EXPECT_EQ(table_.waiting(), 0u);
  held.Release();
  LockNow({Row(1), Row(2)});
}

TEST_F(LockTableTest, RepeatedRowsAreLockedOnce) {
  LockTable::Guard guard = LockNow({Row(5), Row(5), Row(1), Row(5)});
  guard.Release();
  LockNow({Row(1), Row(5)});
}

TEST_F(LockTableTest, GuardMovesAndIsReleasedOnAnotherThread) {
  LockTable::Guard guard = LockNow({Row(1), Row(2)});
  absl::Notification next;
  table_.Acquire(Row(2), Deadline::Never(), [&](absl::StatusOr<LockTable::Guard>) { next.Notify(); });
  std::thread([moved = std::move(guard)]() mutable { LockTable::Guard mine = std::move(moved); }).join();
  next.WaitForNotification();
  LockTable::Guard again = LockNow({Row(1)});
  again = LockTable::Guard();  // assignment releases
  LockNow({Row(1)});
}

TEST_F(LockTableTest, RowsOfOneTableAndKeyHashAlike) {
  EXPECT_EQ(table_.HashRow(1, "key"), table_.HashRow(1, "key"));
  EXPECT_NE(table_.HashRow(1, "key"), table_.HashRow(2, "key"));
  EXPECT_NE(table_.HashRow(1, "key"), table_.HashRow(1, "kez"));
}

TEST_F(LockTableTest, OverlappingRequestsOfManyThreadsExcludeEachOtherAndNeverDeadlock) {
  constexpr int kThreads = 16;
  constexpr int kRequests = 300;
  const uint64_t seed = PrintedTestSeed();
  std::atomic<int> holders[8] = {};
  std::atomic<int> overlaps = 0;
  std::atomic<int> expired = 0;
  absl::BlockingCounter left(kThreads * kRequests);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(seed + static_cast<uint64_t>(t));
      for (int i = 0; i < kRequests; ++i) {
        std::vector<uint64_t> rows;
        std::vector<uint32_t> stripes;
        for (uint32_t stripe = 0; stripe < 8; ++stripe) {
          if (random() % 3 == 0) stripes.push_back(stripe);
        }
        std::shuffle(stripes.begin(), stripes.end(), random);
        for (const uint32_t stripe : stripes) rows.push_back(Row(stripe));
        const Deadline deadline = random() % 10 == 0 ? Deadline::Passed() : Deadline::Never();
        table_.AcquireAll(rows, deadline, [&, stripes](absl::StatusOr<LockTable::Guard> guard, uint32_t) {
          if (guard.ok()) {
            for (const uint32_t stripe : stripes) overlaps += holders[stripe].fetch_add(1);
            std::this_thread::yield();
            for (const uint32_t stripe : stripes) holders[stripe].fetch_sub(1);
            guard->Release();
          } else {
            ++expired;
          }
          left.DecrementCount();
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  left.Wait();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(table_.waiting(), 0u);
  pool_.Stop();
}

class ConflictTest : public LockTableTest {
 protected:
  ~ConflictTest() override { pool_.Stop(); }

  // A request for one row lock, and its answer.
  struct Waiter {
    absl::Notification answered;
    absl::Status status;
    LockTable::Guard guard;
  };
  std::unique_ptr<Waiter> Ask(uint64_t row) {
    auto waiter = std::make_unique<Waiter>();
    impatient_.Acquire(row, Deadline::Never(), [raw = waiter.get()](absl::StatusOr<LockTable::Guard> guard) {
      raw->status = guard.status();
      if (guard.ok()) raw->guard = *std::move(guard);
      raw->answered.Notify();
    });
    return waiter;
  }
  LockTable::Guard HoldAll(const std::vector<uint64_t>& rows) {
    LockTable::Guard held;
    impatient_.AcquireAll(rows, Deadline::Never(),
                          [&held](absl::StatusOr<LockTable::Guard> guard, uint32_t) { held = *std::move(guard); });
    return held;
  }

  LockTable impatient_{8, &pool_, &timers_, absl::Milliseconds(2)};
};

TEST_F(ConflictTest, WhoWaitsForATransactionIsToldAfterAWhile) {
  LockTable::Guard held = HoldAll({Row(1), Row(2)});
  const auto waiter = Ask(Row(1));
  waiter->answered.WaitForNotification();
  EXPECT_EQ(GetApiError(waiter->status)->type, ApiErrorType::kTransactionConflict);
  EXPECT_EQ(impatient_.waiting(), 0u);
}

TEST_F(ConflictTest, WhoWaitsForAnotherSingleRequestGoesOnWaiting) {
  auto first = Ask(Row(1));
  ASSERT_TRUE(first->answered.HasBeenNotified());
  const auto second = Ask(Row(1));
  // Several times the longest wait for a transaction.
  for (int i = 0; i < 5; ++i) {
    LockTable::Guard transaction = HoldAll({Row(3)});
    Ask(Row(3))->answered.WaitForNotification();
  }
  EXPECT_FALSE(second->answered.HasBeenNotified());
  first->guard.Release();
  second->answered.WaitForNotification();
  EXPECT_TRUE(second->status.ok()) << second->status;
}

TEST_F(ConflictTest, ATransactionLearnsWhichRowWasNotToBeHad) {
  const auto single = Ask(Row(5));
  absl::Notification told;
  uint32_t missing = 0;
  impatient_.AcquireAll({Row(7), Row(5), Row(2)}, Deadline::After(absl::Milliseconds(2)),
                        [&](absl::StatusOr<LockTable::Guard> guard, uint32_t stripe) {
                          EXPECT_TRUE(absl::IsDeadlineExceeded(guard.status()));
                          missing = stripe;
                          told.Notify();
                        });
  told.WaitForNotification();
  EXPECT_EQ(missing, impatient_.StripeOf(Row(5)));
  // The failed transaction holds no locks.
  EXPECT_TRUE(Ask(Row(2))->answered.HasBeenNotified());
}

TEST_F(LockTableTest, TriesWithoutWaiting) {
  std::optional<LockTable::Guard> first = table_.TryAcquire(Row(1));
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(table_.TryAcquire(Row(1)).has_value());
  EXPECT_TRUE(table_.TryAcquire(Row(2)).has_value());
  first->Release();
  EXPECT_TRUE(table_.TryAcquire(Row(1)).has_value());
}

}  // namespace armature::store::lock_table_test
