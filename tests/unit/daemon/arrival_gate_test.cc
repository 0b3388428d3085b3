#include "daemon/grpc/arrival_gate.h"

#include <atomic>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "storage/base/api_error.h"

namespace armature::daemon::arrival_gate_test {

class ArrivalGateTest : public testing::Test {
 protected:
  ~ArrivalGateTest() override { gate_.Close(ServiceUnavailableError("over")); }

  // Lets `calls` arrive at once. Returns the number of those that may begin.
  size_t Arrive(ArrivalLane* lane, size_t calls) {
    size_t begun = 0;
    for (size_t i = 0; i < calls; ++i) begun += gate_.MayBegin(lane) ? 1 : 0;
    return begun;
  }
  void Read(ArrivalLane* lane, size_t calls) {
    for (size_t i = 0; i < calls; ++i) gate_.Arrived(lane);
  }

  std::vector<ArrivalLane> lanes_{32};
  std::atomic<int64_t> now_ns_ = ArrivalGate::kWindowNs;
  ArrivalGate gate_{[this] { return now_ns_.load(); }};
};

TEST_F(ArrivalGateTest, FewConnectionsWithManyCallsAreNoOverload) {
  for (int turn = 0; turn < 10; ++turn) {
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(Arrive(&lanes_[i], 256), 256u);
      Read(&lanes_[i], 256);
    }
  }
}

TEST_F(ArrivalGateTest, ManyCallsOneAfterAnotherAreNoOverload) {
  for (int turn = 0; turn < 1000; ++turn) {
    for (ArrivalLane& lane : lanes_) {
      EXPECT_EQ(Arrive(&lane, 4), 4u);
      Read(&lane, 4);
    }
  }
}

TEST_F(ArrivalGateTest, EachConnectionHasAPartDuringAnOverload) {
  size_t begun = 0;
  for (ArrivalLane& lane : lanes_) {
    const size_t now = Arrive(&lane, 200);
    Read(&lane, now);
    begun += now;
  }
  EXPECT_LT(begun, ArrivalGate::kCrowd + 1000);
  now_ns_ += ArrivalGate::kWindowNs;
  for (ArrivalLane& lane : lanes_) {
    EXPECT_LE(Arrive(&lane, 100), ArrivalGate::kServed / 5);
  }
  // A client with one call is served.
  ArrivalLane single;
  EXPECT_EQ(Arrive(&single, 1), 1u);
}

TEST_F(ArrivalGateTest, ParkedCallsRunWhenTheOverloadIsOver) {
  for (ArrivalLane& lane : lanes_) Read(&lane, Arrive(&lane, 200));
  absl::Notification ran;
  gate_.Park(
      &lanes_[0], [&] { ran.Notify(); }, [](const absl::Status&) { FAIL(); });
  EXPECT_EQ(gate_.parked(), 1u);
  // The time passes while the gate's thread works.
  for (int i = 0; i < 190 && !ran.WaitForNotificationWithTimeout(absl::Milliseconds(20)); ++i) now_ns_ += 10'000'000;
  ASSERT_TRUE(ran.HasBeenNotified());
  EXPECT_EQ(lanes_[0].arriving, 1u) << "it arrives";
  Read(&lanes_[0], 1);
  now_ns_ += 2 * ArrivalGate::kWindowNs;
  EXPECT_EQ(Arrive(&lanes_[0], 256), 256u);
}

TEST_F(ArrivalGateTest, ParkedCallsAreRefusedAfterTwoSeconds) {
  absl::Notification refused;
  gate_.Park(
      &lanes_[0], [] { FAIL(); },
      [&](const absl::Status& status) {
        EXPECT_EQ(GetApiError(status)->type, ApiErrorType::kThrottling);
        refused.Notify();
      });
  now_ns_ += 2'000'000'000;
  refused.WaitForNotification();
  EXPECT_EQ(gate_.refused(), 1u);
}

TEST_F(ArrivalGateTest, CloseRefusesWhatIsParkedAndWhatComesLater) {
  int refused = 0;
  const auto count = [&](const absl::Status& status) {
    EXPECT_EQ(status.message(), "over");
    ++refused;
  };
  gate_.Park(
      &lanes_[0], [] { FAIL(); }, count);
  gate_.Close(ServiceUnavailableError("over"));
  gate_.Park(
      &lanes_[0], [] { FAIL(); }, count);
  EXPECT_EQ(refused, 2);
}

}  // namespace armature::daemon::arrival_gate_test
