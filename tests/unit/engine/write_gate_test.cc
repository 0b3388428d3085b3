#include "engine/write_gate.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "engine/parts.h"
#include "gtest/gtest.h"
#include "storage/base/api_error.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::write_gate_test {

constexpr size_t kCrowd = WriteGate::kCrowdFactor * WriteGate::kWrites;

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
  EndCommits(kCrowd - WriteGate::kWrites);
  EXPECT_FALSE(gate().MayBegin());
  EndCommits(1);
  EXPECT_TRUE(gate().MayBegin());
  // It runs although new writes could take all room: no more are parked.
  ran.WaitForNotification();
  EndCommits(WriteGate::kWrites - 1);
}

TEST_F(WriteGateTest, InACrowdWritesAreServedUpToTheLimit) {
  Commit(WriteGate::kWrites);
  EXPECT_TRUE(gate().MayBegin());
  gate().CrowdBegins();
  EXPECT_FALSE(gate().MayBegin());
  EXPECT_FALSE(gate().is_overloaded()) << "nothing is parked";
  EndCommits(1);
  EXPECT_TRUE(gate().MayBegin());
  Commit(1);
  gate().CrowdEnds();
  EXPECT_TRUE(gate().MayBegin());
  EndCommits(WriteGate::kWrites);
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
