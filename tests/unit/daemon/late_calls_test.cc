#include "daemon/grpc/late_calls.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "engine/request_queue.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/api_error.h"
#include "storage/base/time_histogram.h"
#include "storage/base/timer_queue.h"

namespace armature::daemon::late_calls_test {

constexpr int64_t kMs = 1'000'000;
constexpr int kParked = 40;
constexpr int kBurst = 20;
constexpr int kConnections = 100;

class LateCallsTest : public testing::Test {
 protected:
  ~LateCallsTest() override { late_.Close(absl::UnavailableError("the test ends")); }

  bool MustWait(CallBurst* burst, LateCalls::Age age) {
    return late_.MustWait(burst, now_ns_, bytes_, age,
                          [this](uint64_t most) { return ++looks_, std::min(unread_, connections_ * most); });
  }
  // Reads `calls` calls evenly in `ms`, in bursts of kBurst on one connection after the other, whose last bytes came
  // `age_ms` before a burst is read, and just now during the rest of it. Returns the number of those that must wait,
  // which it does not park.
  int Read(int calls, int64_t ms, std::optional<int64_t> age_ms) {
    int waiting = 0;
    for (int i = 0; i < calls; ++i) {
      now_ns_ += ms * kMs / calls;
      next_ = (next_ + 1) % (kBurst * kConnections);
      bool is_first = next_ % kBurst == 0;
      const auto age = [&] {
        return std::exchange(is_first, false) || !age_ms.has_value() ? age_ms : std::optional<int64_t>(0);
      };
      if (MustWait(&bursts_[static_cast<size_t>(next_ / kBurst)], age)) ++waiting;
    }
    return waiting;
  }
  void Overload() {
    ASSERT_GT(Read(8000, 400, 100), 0);
    Park();
    ASSERT_TRUE(late_.is_overloaded());
    ASSERT_EQ(crowds_, 1);
  }
  void Park() {
    late_.Park([this] { Count(&ran_), Count(&left_); },
               [this](const absl::Status& status) {
                 if (status == engine::TooManyWaitError()) Count(&refused_);
                 Count(&ended_), Count(&left_);
               });
  }
  void Count(int* counter) {
    const absl::MutexLock lock(&mutex_);
    ++*counter;
  }
  int Get(const int* counter) {
    const absl::MutexLock lock(&mutex_);
    return *counter;
  }
  // True once the timer has seen the time as it is now.
  bool HasTicked() const { return seen_ns_ == now_ns_; }
  // Waits until the timer has brought the counter to `value`. Time stands still meanwhile.
  bool Reaches(const int* counter, int value) {
    const auto has_reached = [&] { return *counter >= value; };
    const absl::MutexLock lock(&mutex_);
    return mutex_.AwaitWithTimeout(absl::Condition(&has_reached), absl::Seconds(20));
  }

  std::atomic<int64_t> now_ns_ = 1000 * kMs;
  std::atomic<int64_t> seen_ns_ = 0;
  absl::Mutex mutex_;
  std::vector<CallBurst> bursts_ = std::vector<CallBurst>(kConnections);
  int next_ = -1;
  size_t bytes_ = 100;   // of a call
  uint64_t unread_ = 0;  // bytes in the sockets
  uint64_t connections_ = 100;
  int looks_ = 0;  // at them
  int ran_ = 0;
  int refused_ = 0;  // because too many waited
  int ended_ = 0;    // without being run
  int left_ = 0;     // in one way or the other
  std::atomic<bool> is_busy_ = false;
  std::atomic<int> crowds_ = 0;
  std::atomic<int> begun_ = 0;
  std::atomic<bool> is_closed_ = false;
  std::atomic<int> asked_after_close_ = 0;
  LateCalls late_{[this](bool crowded) { crowds_ += crowded ? 1 : -1, begun_ += crowded ? 1 : 0; },
                  [this] { return asked_after_close_ += is_closed_ ? 1 : 0, false; },
                  [this] { return seen_ns_ = now_ns_.load(); }, [this] { return is_busy_.load(); }};
};

TEST_F(LateCallsTest, CallsThatAreAllLateForAWhileAreAnOverload) {
  EXPECT_EQ(Read(980, 49, 100), 0);
  EXPECT_GT(Read(490, 24, 100), 0);
}

TEST_F(LateCallsTest, CallsInTheSocketsAreAnOverloadAsSoonAsABurstIsLate) {
  unread_ = LateCalls::kCrowd * (bytes_ + LateCalls::kHeadBytes);
  EXPECT_EQ(Read(20 * kBurst, 100, LateCalls::kLateMs), 0);
  EXPECT_EQ(Read(2 * kBurst, 9, LateCalls::kLateMs + 1), 0);
  EXPECT_GT(Read(2 * kBurst, 9, LateCalls::kLateMs + 1), 0) << "as many wait as before";
}

TEST_F(LateCallsTest, AFewConnectionsThatAreNotReadAreNoCrowd) {
  unread_ = 1 << 30;
  connections_ = 3;
  EXPECT_EQ(Read(200 * kBurst, 1000, LateCalls::kLateMs + 1), 0);
}

TEST_F(LateCallsTest, CallsInTheSocketsThatBecomeFewerAreWhatAPauseHasLeft) {
  unread_ = 4 * LateCalls::kCrowd * (bytes_ + LateCalls::kHeadBytes);
  for (; unread_ > 0; unread_ -= std::min<uint64_t>(unread_, 5000)) {
    ASSERT_EQ(Read(10 * kBurst, 10, LateCalls::kOverloadMs), 0);
  }
}

TEST_F(LateCallsTest, FewerCallsInTheSocketsAreNone) {
  unread_ = LateCalls::kCrowd * (bytes_ + LateCalls::kHeadBytes) - 1;
  EXPECT_EQ(Read(200 * kBurst, 1000, LateCalls::kLateMs + 1), 0);
  EXPECT_GE(looks_, 50);
  EXPECT_LE(looks_, 100);
}

TEST_F(LateCallsTest, TheBytesOfAFewLargeCallsAreNoCrowd) {
  unread_ = LateCalls::kCrowd * (bytes_ + LateCalls::kHeadBytes);
  bytes_ = 16 << 10;
  EXPECT_EQ(Read(20 * kBurst, 1000, LateCalls::kLateMs + 1), 0);
}

TEST_F(LateCallsTest, AShortPauseIsNone) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Read(800, 40, 40), 0);
    EXPECT_EQ(Read(3000, 150, 0), 0);
  }
}

TEST_F(LateCallsTest, FewCallsAreNoneHoweverLate) {
  // Batches: 40 wait, each takes 2 ms.
  EXPECT_EQ(Read(4000, 8000, 80), 0);
}

TEST_F(LateCallsTest, ManyThatAreServedSoonAreNone) { EXPECT_EQ(Read(200'000, 2000, LateCalls::kOverloadMs - 1), 0); }

TEST_F(LateCallsTest, ConnectionsOfUnknownAgeAreNone) { EXPECT_EQ(Read(20'000, 1000, std::nullopt), 0); }

TEST_F(LateCallsTest, InAnOverloadThoseInTimeAreServed) {
  Overload();
  EXPECT_EQ(Read(4000, 40, 0), 0);
  EXPECT_EQ(Read(4000, 40, LateCalls::kLateMs), 0);
  EXPECT_EQ(Read(4000, 40, LateCalls::kLateMs + 1), 4000) << "the burst waits, although more arrives when it is read";
  EXPECT_EQ(Read(4000, 40, std::nullopt), 0);
}

TEST_F(LateCallsTest, InAnOverloadThatKeepsTheProcessorsBusyThoseWithinATickAreServed) {
  is_busy_ = true;
  Overload();
  EXPECT_EQ(Read(4000, 40, LateCalls::kLateBusyMs + 1), 0) << "that is not known yet";
  now_ns_ += engine::ParkedRequests::kWindowNs;
  while (!HasTicked()) std::this_thread::yield();
  EXPECT_EQ(Read(4000, 40, LateCalls::kLateBusyMs), 0);
  EXPECT_EQ(Read(4000, 40, LateCalls::kLateBusyMs + 1), 4000);
}

TEST_F(LateCallsTest, AConnectionWithoutPausesIsAskedAgainWhileItIsLate) {
  Overload();
  CallBurst burst;
  int64_t age_ms = 50;
  int asked = 0;
  const auto read = [&](int calls) {
    int waiting = 0;
    for (int i = 0; i < calls; ++i) {
      now_ns_ += kMs;
      const auto age = [&] { return ++asked, std::optional<int64_t>(age_ms); };
      if (MustWait(&burst, age)) ++waiting;
    }
    return waiting;
  };
  EXPECT_EQ(read(30), 30);
  EXPECT_LE(asked, 6);
  age_ms = 0;
  EXPECT_LE(read(30), 6);
  asked = 0;
  EXPECT_EQ(read(30), 0);
  EXPECT_EQ(asked, 0);
}

TEST_F(LateCallsTest, AnOverloadWithoutLateCallsEnds) {
  ASSERT_GT(Read(8000, 400, 100), 0);
  EXPECT_GE(begun_, 1) << "the timer may have ended it already";
  now_ns_ += LateCalls::kOverloadMinNs;
  while (crowds_ > 0) std::this_thread::yield();
  EXPECT_FALSE(late_.is_overloaded());
}

TEST_F(LateCallsTest, ParkedCallsAreRefusedAtAPace) {
  Overload();
  for (int i = 1; i < kParked; ++i) Park();
  EXPECT_EQ(late_.parked(), kParked);
  now_ns_ += engine::ParkedRequests::kRefusedNotBeforeNs;
  // One is parked for each that is refused: the overload goes on.
  const int64_t step_ns = engine::ParkedRequests::kRefusedAfterNs / kParked;
  for (int refused = 1; refused < kParked; ++refused) {
    now_ns_ += step_ns;
    ASSERT_TRUE(Reaches(&refused_, refused));
    Park();
  }
  EXPECT_EQ(Get(&ran_), 0);
  EXPECT_LE(Get(&refused_), kParked + 2);
  EXPECT_EQ(late_.refused(), static_cast<uint64_t>(Get(&refused_)));
  EXPECT_TRUE(late_.is_overloaded());
}

TEST_F(LateCallsTest, ParkedCallsRunWhenNoMoreAreParked) {
  Overload();
  for (int i = 1; i < kParked; ++i) Park();
  // The first window is that in which they were parked.
  for (int window = 0; window < 8; ++window) {
    now_ns_ += engine::ParkedRequests::kWindowNs;
    while (!HasTicked() && crowds_ > 0) std::this_thread::yield();
  }
  ASSERT_TRUE(Reaches(&left_, kParked));
  EXPECT_GE(Get(&ran_), kParked / 2) << "some are refused meanwhile, at the pace";
  while (crowds_ > 0) now_ns_ += kMs;
  EXPECT_FALSE(late_.is_overloaded());
  EXPECT_EQ(late_.parked(), 0U);
}

TEST_F(LateCallsTest, CloseRefusesAll) {
  Overload();
  for (int i = 1; i < kParked; ++i) Park();
  late_.Close(absl::UnavailableError("stopping"));
  EXPECT_EQ(Get(&ended_), kParked);
  EXPECT_EQ(Get(&refused_), 0);
  Park();
  EXPECT_EQ(Get(&ended_), kParked + 1);
  EXPECT_FALSE(late_.is_overloaded());
}

// The engine may be gone.
TEST_F(LateCallsTest, AsksNobodyAfterClose) {
  Overload();
  late_.Close(absl::UnavailableError("stopping"));
  is_closed_ = true;
  absl::Notification passed;
  TimerQueue timers;
  timers.AtMonotonic(MonotonicNs() + 10 * engine::ParkedRequests::kTickNs, [&passed] { passed.Notify(); });
  passed.WaitForNotification();
  EXPECT_EQ(asked_after_close_, 0);
}

}  // namespace armature::daemon::late_calls_test
