#include "daemon/grpc/answer_relay.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace armature::daemon::answer_relay_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kMany = AnswerRelay::kCallsMin;

class FakeCall final : public RelayedCall {
 public:
  FakeCall(std::string name, std::vector<std::string>* log) : name_(std::move(name)), log_(log) {}
  void WakeForEnd() override { log_->push_back("wake " + name_); }
  void EndNow() override {
    log_->push_back("end " + name_);
    ended_on_grpc_thread_ = OnGrpcThread::IsHere();
  }
  bool ended_on_grpc_thread() const { return ended_on_grpc_thread_; }

 private:
  const std::string name_;
  std::vector<std::string>* const log_;
  bool ended_on_grpc_thread_ = false;
};

class AnswerRelayTest : public testing::Test {
 protected:
  AnswerRelay relay_;
  std::vector<std::string> log_;
  FakeCall a_{"a", &log_};
  FakeCall b_{"b", &log_};
  FakeCall c_{"c", &log_};
};

TEST_F(AnswerRelayTest, EndsAllCallsAfterOneWakeAndTheWokenOneLast) {
  EXPECT_TRUE(relay_.Take(&a_, kMany));
  EXPECT_TRUE(relay_.Take(&b_, kMany));
  EXPECT_TRUE(relay_.Take(&c_, kMany));
  EXPECT_THAT(log_, ElementsAre("wake a"));
  relay_.Run(&a_);
  EXPECT_THAT(log_, ElementsAre("wake a", "end b", "end c", "end a"));
  EXPECT_TRUE(c_.ended_on_grpc_thread());
  EXPECT_FALSE(OnGrpcThread::IsHere());
}

TEST_F(AnswerRelayTest, WakesAgainAfterARun) {
  EXPECT_TRUE(relay_.Take(&a_, kMany));
  relay_.Run(&a_);
  log_.clear();
  EXPECT_TRUE(relay_.Take(&b_, kMany));
  EXPECT_TRUE(relay_.Take(&c_, kMany));
  EXPECT_THAT(log_, ElementsAre("wake b"));
  relay_.Run(&b_);
  EXPECT_THAT(log_, ElementsAre("wake b", "end c", "end b"));
}

TEST_F(AnswerRelayTest, LeavesTheEndToTheCallerIfFewCallsAreInProgress) {
  EXPECT_FALSE(relay_.Take(&a_, kMany - 1));
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(AnswerRelayTest, AThreadIsOneOfGrpcsUntilTheOuterMarkEnds) {
  {
    const OnGrpcThread outer;
    { const OnGrpcThread inner; }
    EXPECT_TRUE(OnGrpcThread::IsHere());
  }
  EXPECT_FALSE(OnGrpcThread::IsHere());
}

}  // namespace armature::daemon::answer_relay_test
