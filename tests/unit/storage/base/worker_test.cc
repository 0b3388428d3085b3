#include "storage/base/worker.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/time_histogram.h"
#include "tests/support/wall_clock.h"

namespace armature::worker_test {

using Next = Worker::Next;

// Turns from a list, one after another; the last one repeats.
class Turns {
 public:
  explicit Turns(std::vector<std::function<Next()>> turns) : turns_(std::move(turns)) {}
  Next operator()() {
    const size_t at = count_.fetch_add(1);
    return turns_[std::min(at, turns_.size() - 1)]();
  }
  size_t count() const { return count_.load(); }

 private:
  const std::vector<std::function<Next()>> turns_;
  std::atomic<size_t> count_ = 0;
};

TEST(Worker, RunsTurnsOnAThreadOfItsName) {
  std::string name(16, '\0');
  absl::Notification done;
  Turns turns({[] { return Next::AtOnce(); }, [] { return Next::AtOnce(); },
               [&] {
                 pthread_getname_np(pthread_self(), name.data(), name.size());
                 done.Notify();
                 return Next::Never();
               }});
  Worker worker("arm-tested", std::ref(turns));
  worker.Start();
  done.WaitForNotification();
  worker.Stop();
  EXPECT_STREQ(name.c_str(), "arm-tested");
  EXPECT_EQ(turns.count(), 3) << "none after the last one";
}

TEST(Worker, AWakeBeginsATurn) {
  absl::Notification begun;
  absl::Notification done;
  Turns turns({[&] {
                 begun.Notify();
                 return Next::WhenWoken();
               },
               [&] {
                 done.Notify();
                 return Next::WhenWoken();
               }});
  Worker worker("arm-tested", std::ref(turns));
  worker.Start();
  begun.WaitForNotification();
  worker.Wake();
  done.WaitForNotification();
}

TEST(Worker, AWakeDuringATurnBeginsAnother) {
  absl::Notification begun;
  absl::Notification woken;
  absl::Notification done;
  Turns turns({[&] {
                 begun.Notify();
                 woken.WaitForNotification();
                 return Next::WhenWoken();
               },
               [&] {
                 done.Notify();
                 return Next::WhenWoken();
               }});
  Worker worker("arm-tested", std::ref(turns));
  worker.Start();
  begun.WaitForNotification();
  worker.Wake();
  woken.Notify();
  done.WaitForNotification();
  worker.Stop();
  EXPECT_EQ(turns.count(), 2) << "one for the wake";
}

TEST(Worker, TheFirstTurnMayWaitForAWake) {
  absl::Notification done;
  std::atomic<bool> is_woken = false;
  Worker worker("arm-tested", [&] {
    EXPECT_TRUE(is_woken);
    done.Notify();
    return Next::Never();
  });
  worker.Start(Next::WhenWoken(absl::Hours(1)));
  is_woken = true;
  worker.Wake();
  done.WaitForNotification();
}

TEST(Worker, ARestEndsByItselfWhateverTheClockIsSetTo) {
  const test::WallClockSet set_back(-absl::Hours(1));
  absl::Notification done;
  int64_t rested_from_ns = 0;
  Turns turns({[&] {
                 rested_from_ns = MonotonicNs();
                 return Next::WhenWoken(absl::Milliseconds(20));
               },
               [&] {
                 EXPECT_GE(MonotonicNs() - rested_from_ns, 20'000'000);
                 done.Notify();
                 return Next::Never();
               }});
  Worker worker("arm-tested", std::ref(turns));
  worker.Start();
  done.WaitForNotification();
}

// A turn of at least `time`.
void Spend(absl::Duration time) {
  const int64_t until_ns = MonotonicAfter(time);
  while (MonotonicNs() < until_ns) {
  }
}

TEST(Worker, WakesDoNotShortenAShareOfTheTime) {
  absl::Notification done;
  int64_t rested_from_ns = 0;
  Turns turns({[&] {
                 Spend(absl::Milliseconds(10));
                 rested_from_ns = MonotonicNs();
                 return Next::Share(0.25, absl::Hours(1));
               },
               [&] {
                 EXPECT_GE(MonotonicNs() - rested_from_ns, 29'000'000) << "three times the turn";
                 done.Notify();
                 return Next::Never();
               }});
  Worker worker("arm-tested", std::ref(turns));
  worker.Start();
  while (!done.HasBeenNotified()) worker.Wake();
}

TEST(Worker, ARestForAShareOfTheTimeHasALimit) {
  absl::Notification done;
  Turns turns({[] {
                 Spend(absl::Milliseconds(1));
                 return Next::Share(1e-9, absl::Milliseconds(1));
               },
               [&] {
                 done.Notify();
                 return Next::Never();
               }});
  Worker worker("arm-tested", std::ref(turns));
  worker.Start();
  done.WaitForNotification();
}

TEST(Worker, AWakeBeforeAShareOfTheTimeCountsForTheRestAfterTheNextTurn) {
  absl::Notification done;
  Turns turns({[] { return Next::Share(0.5, absl::Milliseconds(1)); }, [] { return Next::WhenWoken(); },
               [&] {
                 done.Notify();
                 return Next::WhenWoken();
               }});
  Worker worker("arm-tested", std::ref(turns));
  worker.Wake();
  worker.Start();
  done.WaitForNotification();
}

TEST(Worker, AStopEndsEveryRest) {
  const std::vector<Next> rests = {Next::WhenWoken(), Next::WhenWoken(absl::Hours(1)),
                                   Next::Share(1e-9, absl::Hours(1)), Next::Never()};
  for (const Next& rest : rests) {
    absl::Notification begun;
    Worker worker("arm-tested", [&] {
      begun.Notify();
      Spend(absl::Milliseconds(5));
      return rest;
    });
    worker.Start();
    begun.WaitForNotification();
    worker.Stop();
    worker.Stop();
  }
}

TEST(Worker, AStopComesBeforeAWake) {
  absl::Notification begun;
  absl::Notification stopped;
  Turns turns({[&] {
    begun.Notify();
    stopped.WaitForNotification();
    return Next::WhenWoken();
  }});
  Worker worker("arm-tested", std::ref(turns));
  worker.Start();
  begun.WaitForNotification();
  worker.Wake();
  worker.RequestStop();
  stopped.Notify();
  worker.Stop();
  EXPECT_EQ(turns.count(), 1);
}

TEST(Worker, ATurnSeesTheStopAndMayAskForIt) {
  absl::Notification ended;
  Worker* self = nullptr;
  Turns turns({[&] {
    EXPECT_FALSE(self->is_stopping());
    self->RequestStop();
    EXPECT_TRUE(self->is_stopping());
    return Next::AtOnce();
  }});
  Worker worker("arm-tested", std::ref(turns), [&] { ended.Notify(); });
  self = &worker;
  worker.Start();
  ended.WaitForNotification();
  EXPECT_EQ(turns.count(), 1);
}

TEST(Worker, AStopWaitsForATurnThatHoldsIt) {
  absl::Notification begun;
  const Next held = Next::WhenWoken(absl::Milliseconds(1)).EvenIfStopped();
  Turns turns({[&] {
                 begun.Notify();
                 return held;
               },
               [&] { return held; }, [] { return Next::WhenWoken(); }});
  Worker worker("arm-tested", std::ref(turns));
  worker.Start();
  begun.WaitForNotification();
  worker.Stop();
  EXPECT_EQ(turns.count(), 3);
}

TEST(Worker, AHeldStopEndsByAWake) {
  absl::Notification begun;
  const Next held = Next::WhenWoken().EvenIfStopped();
  Turns turns({[&] {
                 begun.Notify();
                 return held;
               },
               [] { return Next::WhenWoken(); }});
  Worker worker("arm-tested", std::ref(turns));
  worker.Start();
  begun.WaitForNotification();
  worker.RequestStop();
  worker.Wake();
  worker.Stop();
  EXPECT_EQ(turns.count(), 2);
}

TEST(Worker, WaitsInATurnEndByAWakeATimeOrAStop) {
  absl::Notification begun;
  absl::Notification timed_out;
  Worker* self = nullptr;
  Turns turns({[&] {
                 EXPECT_FALSE(self->WaitForWake(MonotonicAfter(absl::Milliseconds(1))));
                 timed_out.Notify();
                 EXPECT_TRUE(self->WaitForWake(kMonotonicNever));
                 self->Wake();
                 EXPECT_FALSE(self->WaitForWake(MonotonicNs())) << "the time is over";
                 EXPECT_TRUE(self->WaitForWake(kMonotonicNever));
                 begun.Notify();
                 EXPECT_FALSE(self->WaitForWake(kMonotonicNever));
                 return Next::WhenWoken();
               },
               [] {
                 ADD_FAILURE() << "the wake was taken";
                 return Next::Never();
               }});
  Worker worker("arm-tested", std::ref(turns));
  self = &worker;
  worker.Start();
  timed_out.WaitForNotification();
  worker.Wake();
  begun.WaitForNotification();
  worker.Stop();
}

TEST(Worker, EndsOnItsThreadAfterTheLastTurn) {
  std::vector<std::string> ran;
  pthread_t turned = {};
  pthread_t ended = {};
  absl::Notification turned_once;
  {
    Worker worker(
        "arm-tested",
        [&] {
          ran.emplace_back("turn");
          turned = pthread_self();
          turned_once.Notify();
          return Next::Never();
        },
        [&] {
          ran.emplace_back("end");
          ended = pthread_self();
        });
    worker.Start();
    turned_once.WaitForNotification();
  }
  EXPECT_EQ(ran, (std::vector<std::string>{"turn", "end"}));
  EXPECT_TRUE(pthread_equal(turned, ended));
}

TEST(Worker, AStopBeforeTheStartLeavesNoTurnThatDoesNotHoldIt) {
  std::vector<std::string> ran;
  Worker worker(
      "arm-tested",
      [&] {
        ran.emplace_back("turn");
        return Next::Never();
      },
      [&] { ran.emplace_back("end"); });
  worker.Stop();
  worker.Start();
  worker.Stop();
  EXPECT_EQ(ran, (std::vector<std::string>{"end"}));
  worker.Start(Next::AtOnce().EvenIfStopped());
  worker.Stop();
  EXPECT_EQ(ran, (std::vector<std::string>{"end", "turn", "end"}));
  const Worker never_started("arm-tested", [] { return Next::Never(); });
}

}  // namespace armature::worker_test
