#include "storage/store/catalog/capacity_bucket.h"

#include <gtest/gtest.h>

#include <vector>

namespace armature::store::capacity_bucket_test {

constexpr int64_t kSecond = 1'000'000'000;

// Charges `units` at `second` with `rate`, and expects the given wait.
struct Step {
  double second;
  double rate;
  double units;
  int64_t wait_ms;
};

TEST(CapacityBucketTest, FollowsTheRate) {
  const struct {
    const char* name;
    std::vector<Step> steps;
  } cases[] = {
      {"starts with five minutes saved", {{0, 2, 599, 0}, {0, 2, 1, 1}}},
      {"a large operation overdraws", {{0, 1, 350, 50'001}, {50, 1, 0, 1}, {50.1, 1, 0, 0}}},
      {"saves no more than five minutes", {{0, 1, 0, 0}, {10'000, 1, 301, 1001}}},
      {"fills in part", {{0, 10, 3000, 1}, {0.5, 10, 5, 1}, {1, 10, 4, 0}}},
      {"a lower rate holds at once, for what is saved too", {{0, 100, 1, 0}, {0, 1, 300, 1}}},
      {"a higher rate makes up for a debt sooner", {{0, 1, 400, 100'001}, {0, 100, 0, 1001}}},
      {"a clock that lies back adds nothing", {{100, 1, 300, 1}, {50, 1, 0, 1}, {101, 1, 0, 0}}},
  };
  for (const auto& c : cases) {
    CapacityBucket bucket;
    for (const Step& step : c.steps) {
      const auto now = static_cast<int64_t>(step.second * kSecond);
      bucket.Charge(step.units, step.rate, now);
      EXPECT_EQ(bucket.WaitMs(step.rate, now), step.wait_ms) << c.name << " at " << step.second;
    }
  }
}

}  // namespace armature::store::capacity_bucket_test
