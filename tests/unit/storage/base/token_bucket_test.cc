#include "storage/base/token_bucket.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace armature::token_bucket_test {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kStartNs = 1000 * kSecondNs;
constexpr TokenBucket::Rate kRate = {.burst = 3, .per_second = 2};

TEST(TokenBucket, AllowsABurstAndThenARate) {
  TokenBucket bucket(kRate, kStartNs);
  EXPECT_TRUE(bucket.Take(kRate, kStartNs, 3));
  EXPECT_FALSE(bucket.Take(kRate, kStartNs));
  EXPECT_FALSE(bucket.Take(kRate, kStartNs + kSecondNs / 4));
  EXPECT_TRUE(bucket.Take(kRate, kStartNs + kSecondNs / 2));
  EXPECT_FALSE(bucket.Take(kRate, kStartNs + kSecondNs / 2));
  // No more than the burst comes back.
  EXPECT_TRUE(bucket.Take(kRate, kStartNs + 100 * kSecondNs, 3));
  EXPECT_FALSE(bucket.Take(kRate, kStartNs + 100 * kSecondNs));
}

TEST(TokenBucket, TokensAreTakenWithoutALookAtTheClockOnlyIfTheyAreThere) {
  TokenBucket bucket(kRate, kStartNs);
  EXPECT_TRUE(bucket.TakeFilled(2));
  EXPECT_FALSE(bucket.TakeFilled(2));
  EXPECT_TRUE(bucket.TakeFilled(1));
  EXPECT_FALSE(bucket.TakeFilled(1));
  EXPECT_TRUE(bucket.Take(kRate, kStartNs + kSecondNs, 2));
}

TEST(TokenBucket, ReturnedTokensDoNotExceedTheBurst) {
  TokenBucket bucket(kRate, kStartNs);
  EXPECT_TRUE(bucket.Take(kRate, kStartNs, 2));
  bucket.Return(kRate);
  EXPECT_FALSE(bucket.IsFull(kRate, kStartNs));
  bucket.Return(kRate, 100);
  EXPECT_TRUE(bucket.IsFull(kRate, kStartNs));
  EXPECT_FALSE(bucket.Take(kRate, kStartNs, 4));
}

TEST(TokenBucket, AClockThatIsSetBackBringsNothing) {
  TokenBucket bucket(kRate, kStartNs);
  EXPECT_TRUE(bucket.Take(kRate, kStartNs, 3));
  EXPECT_FALSE(bucket.Take(kRate, kStartNs - 100 * kSecondNs));
  EXPECT_TRUE(bucket.Take(kRate, kStartNs - 99 * kSecondNs, 2));
}

}  // namespace armature::token_bucket_test
