#include "engine/parked_requests.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace armature::engine::parked_requests_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;

class ParkedRequestsTest : public testing::Test {
 protected:
  void Park(int number) {
    std::optional<ParkedRequests::Request> loser =
        parked_.Park({[this, number] { ran_.push_back(number); },
                      [this, number](const auto&) { refused_.push_back(number); }, now_ns_});
    if (loser.has_value()) std::move(loser->refused)(absl::OkStatus());
  }
  // Lets the time pass by ticks, and ends what is due.
  void Pass(int64_t ms) {
    for (const int64_t end_ns = now_ns_ + ms * kMs; now_ns_ < end_ns;) {
      now_ns_ += ParkedRequests::kTickNs;
      ParkedRequests::Due due = parked_.TakeDue(now_ns_, may_run_);
      for (auto& each : due.refuse) std::move(each.refused)(absl::OkStatus());
      for (auto& each : due.run) std::move(each.run)();
      if (on_tick_) on_tick_(due.refuse.size());
    }
  }

  int64_t now_ns_ = 0;
  bool was_busy_ = false;
  bool may_run_ = true;
  ParkedRequests parked_{1000, [this] { return was_busy_; }};
  std::vector<int> ran_;
  std::vector<int> refused_;
  std::function<void(size_t refused)> on_tick_;
};

TEST_F(ParkedRequestsTest, RunTheNewestFirstWhenNoMoreArrive) {
  for (int i = 0; i < 200; ++i) Park(i);
  // The first window is that in which they came.
  Pass(148);
  EXPECT_THAT(ran_, IsEmpty());
  Pass(200);
  EXPECT_EQ(ran_.size() + refused_.size(), 200u);
  EXPECT_TRUE(std::is_sorted(ran_.rbegin(), ran_.rend()));
  EXPECT_GT(ran_.size(), 180u);
  EXPECT_TRUE(parked_.empty());
}

TEST_F(ParkedRequestsTest, RunHalfAsFastWhenTooManyArriveAgain) {
  for (int i = 0; i < 900; ++i) Park(i);
  Pass(280);
  const size_t ran = ran_.size();
  EXPECT_GT(ran, 60u);
  bool is_crowded = true;
  int next = 900;
  on_tick_ = [&](size_t refused) {
    for (size_t i = 0; is_crowded && i < refused; ++i) Park(next++);
  };
  Pass(300);
  const size_t ran_in_crowd = ran_.size() - ran;
  EXPECT_GT(ran_in_crowd, 0u);
  Pass(300);
  EXPECT_EQ(ran_.size() - ran, ran_in_crowd) << "none any more";
  is_crowded = false;
  Pass(600);
  EXPECT_TRUE(parked_.empty());
}

TEST_F(ParkedRequestsTest, WaitWhileTheProcessIsBusy) {
  for (int i = 0; i < 200; ++i) Park(i);
  was_busy_ = true;
  Pass(200);
  EXPECT_THAT(ran_, IsEmpty());
  was_busy_ = false;
  Pass(200);
  EXPECT_GT(ran_.size(), 20u);
}

TEST_F(ParkedRequestsTest, WaitWhileNoneCanBeServed) {
  for (int i = 0; i < 200; ++i) Park(i);
  may_run_ = false;
  Pass(1000);
  EXPECT_THAT(ran_, IsEmpty());
  EXPECT_LT(refused_.size(), 60u) << "the process is not busy with them";
  may_run_ = true;
  Pass(100);
  EXPECT_FALSE(ran_.empty());
}

TEST_F(ParkedRequestsTest, AreRefusedFasterWhenTheOverloadIsOverAndTheProcessBusyWithThem) {
  was_busy_ = true;
  for (int i = 0; i < 900; ++i) Park(i);
  Pass(200);
  EXPECT_LT(refused_.size(), 50u) << "a second would take 225";
  Pass(800);
  EXPECT_TRUE(parked_.empty());
  EXPECT_THAT(ran_, IsEmpty());
}

TEST_F(ParkedRequestsTest, AreRefusedAtTheSamePaceAgainWhenOthersTakeTheirPlace) {
  was_busy_ = true;
  for (int i = 0; i < 900; ++i) Park(i);
  int next = 900;
  on_tick_ = [&](size_t refused) {
    for (size_t i = 0; i < refused; ++i) Park(next++);
  };
  Pass(1000);
  on_tick_ = nullptr;
  Pass(350);
  on_tick_ = [&](size_t refused) {
    for (size_t i = 0; i < refused; ++i) Park(next++);
  };
  Pass(100);
  const size_t refused = refused_.size();
  Pass(400);
  EXPECT_LT(refused_.size() - refused, 130u);
}

TEST_F(ParkedRequestsTest, AreRefusedAtAnEvenPaceWhileOthersTakeTheirPlace) {
  for (int i = 0; i < 400; ++i) Park(i);
  int next = 400;
  on_tick_ = [&](size_t refused) {
    for (size_t i = 0; i < refused; ++i) Park(next++);
  };
  // Nothing is refused in the first 100 ms.
  Pass(40);
  on_tick_ = [&](size_t refused) {
    for (size_t i = 0; i < refused + 1; ++i) Park(next++);
  };
  const size_t refused_before = refused_.size();
  Pass(1000);
  const size_t refused = refused_.size() - refused_before;
  EXPECT_THAT(ran_, IsEmpty());
  EXPECT_GT(refused, 150u);
  EXPECT_LT(refused, 500u) << "a few hundred leave in two seconds";
  EXPECT_TRUE(std::is_sorted(refused_.begin(), refused_.end())) << "the oldest first";
}

TEST_F(ParkedRequestsTest, NoneWaitsForLong) {
  Park(1);
  on_tick_ = [&](size_t) { Park(2); };
  Pass(2000);
  ASSERT_FALSE(refused_.empty());
  EXPECT_EQ(refused_.front(), 1);
}

TEST_F(ParkedRequestsTest, TheOldestMakesRoom) {
  for (int i = 0; i < 1002; ++i) Park(i);
  EXPECT_THAT(refused_, ElementsAre(0, 1));
  EXPECT_EQ(parked_.size(), 1000u);
  EXPECT_EQ(parked_.TakeAll().size(), 1000u);
  EXPECT_TRUE(parked_.empty());
}

}  // namespace armature::engine::parked_requests_test
