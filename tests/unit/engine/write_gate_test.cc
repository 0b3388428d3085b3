#include "engine/write_gate.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "engine/parts.h"
#include "gtest/gtest.h"
#include "storage/base/api_error.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::write_gate_test {

constexpr size_t kCrowd = WriteGate::kCrowd;

class WriteGateTest : public testing::Test {
 protected:
  WriteGateTest() {
    engine_.StopEngine();
    parts_ = std::make_unique<Parts>(&engine_.database(), EngineOptions());
  }
  ~WriteGateTest() override { parts_->write_gate.Close(ServiceUnavailableError("over")); }

  WriteGate& gate() { return parts_->write_gate; }
  void Commit(size_t writes) {
    for (size_t i = 0; i < writes; ++i) gate().CommitBegins();
  }
  void EndCommits(size_t writes) {
    for (size_t i = 0; i < writes; ++i) gate().CommitEnds();
  }

  TestEngine engine_{store::Durability::kOs};
  std::unique_ptr<Parts> parts_;
};

TEST_F(WriteGateTest, ManyWritesAtOnceAreNoOverload) {
  Commit(kCrowd - 1);
  EXPECT_TRUE(gate().MayBegin());
  Commit(1);
  EXPECT_FALSE(gate().MayBegin());
  EndCommits(1);
  EXPECT_TRUE(gate().MayBegin()) << "nothing was parked";
}

TEST_F(WriteGateTest, NewWritesAreServedUpToTheLimitWhileOthersAreParked) {
  Commit(kCrowd);
  absl::Notification ran;
  gate().Park([&] { ran.Notify(); }, [](const absl::Status&) { FAIL(); });
  EndCommits(kCrowd - WriteGate::kWritesMin);
  EXPECT_FALSE(gate().MayBegin());
  EndCommits(1);
  EXPECT_TRUE(gate().MayBegin());
  // It runs although new writes could take all room: no more are parked.
  ran.WaitForNotification();
  EndCommits(WriteGate::kWritesMin - 1);
}

TEST_F(WriteGateTest, ParkedWritesDoNotRunWhileTheDiskHangs) {
  Commit(WriteGate::kWritesMin);
  absl::Notification ran;
  gate().Park([&] { ran.Notify(); }, [](const absl::Status&) { FAIL(); });
  EXPECT_FALSE(ran.WaitForNotificationWithTimeout(absl::Milliseconds(400))) << "else it runs after 150 ms";
  EndCommits(1);
  ran.WaitForNotification();
  EndCommits(WriteGate::kWritesMin - 1);
}

TEST_F(WriteGateTest, InACrowdWritesAreServedUpToTheLimit) {
  Commit(WriteGate::kWritesMin);
  EXPECT_TRUE(gate().MayBegin());
  gate().CrowdBegins();
  EXPECT_FALSE(gate().MayBegin());
  EXPECT_FALSE(gate().is_overloaded()) << "nothing is parked";
  EndCommits(1);
  EXPECT_TRUE(gate().MayBegin());
  Commit(1);
  gate().CrowdEnds();
  EXPECT_TRUE(gate().MayBegin());
  EndCommits(WriteGate::kWritesMin);
}

TEST_F(WriteGateTest, TheLimitGrowsWithTheRateAndTheTimeOfTheDisk) {
  constexpr int64_t kSecond = 1'000'000'000;
  constexpr int kMin = WriteGate::kWritesMin;
  const auto limit = [](uint64_t batches, uint64_t units, double busy_seconds) {
    return static_cast<int>(
        WriteGate::LimitFor({kSecond, batches, units, static_cast<uint64_t>(busy_seconds * kSecond)}));
  };
  EXPECT_EQ(limit(1000, 20'000, 0.3), kMin) << "the disk takes 0.2 ms of a batch";
  // The disk is always busy, with 10 ms for a batch: a batch has 100 writes.
  EXPECT_NEAR(limit(100, 10'000, 1), 400, 40);
  EXPECT_NEAR(limit(100, 40'000, 1), 1600, 350);
  EXPECT_EQ(limit(1, 100'000, 1), int{WriteGate::kWritesMax});
  EXPECT_EQ(limit(1000, 100'000, 0.1), kMin) << "all of it is work of the processor";
  // An hour with little to do, in which a batch took 10 ms and had 100 writes.
  EXPECT_NEAR(static_cast<int>(WriteGate::LimitFor({3600 * kSecond, 100, 10'000, kSecond})), 400, 40);
  // A batch that took half a second, most of it before.
  EXPECT_LE(WriteGate::LimitFor({kSecond / 10, 10, 1000, kSecond / 2}), 400);
}

TEST_F(WriteGateTest, TooManyParkedWritesRefuseTheOldest) {
  absl::Notification refused;
  gate().Park([] { FAIL(); },
              [&](const absl::Status& status) {
                EXPECT_EQ(GetApiError(status)->type, ApiErrorType::kThrottling);
                refused.Notify();
              });
  for (size_t i = 0; i < WriteGate::kParkedMax; ++i) gate().Park([] {}, [](const absl::Status&) {});
  refused.WaitForNotification();
  EXPECT_GE(gate().refused(), 1u);
}

TEST_F(WriteGateTest, CloseRefusesWhatIsParkedAndWhatComesLater) {
  std::atomic<int> refused = 0;
  const auto count = [&](const absl::Status& status) {
    EXPECT_EQ(status.message(), "over");
    ++refused;
  };
  gate().Park([] { FAIL(); }, count);
  gate().Close(ServiceUnavailableError("over"));
  gate().Park([] { FAIL(); }, count);
  EXPECT_EQ(refused, 2);
  EXPECT_EQ(gate().parked(), 0u);
}

}  // namespace armature::engine::write_gate_test
