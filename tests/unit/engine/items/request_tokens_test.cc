#include "engine/items/request_tokens.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace armature::engine::request_tokens_test {

using Claimed = RequestTokens::Claimed;

TEST(RequestTokensTest, ARequestClaimsATokenUntilItIsReleased) {
  RequestTokens tokens;
  EXPECT_EQ(tokens.Claim("t", [] {}), Claimed::kYes);
  EXPECT_EQ(tokens.Claim("t", [] {}), Claimed::kInProgress);
  EXPECT_FALSE(tokens.ClaimForSweep("t"));
  EXPECT_TRUE(tokens.ReleaseSwept().empty());
  EXPECT_EQ(tokens.Claim("t", [] {}), Claimed::kInProgress) << "the sweep has not claimed it";
  tokens.Release("t");
  EXPECT_EQ(tokens.Claim("t", [] {}), Claimed::kYes);
}

TEST(RequestTokensTest, ARequestWaitsForTheSweepOfItsToken) {
  RequestTokens tokens;
  EXPECT_TRUE(tokens.ClaimForSweep("t"));
  std::vector<int> called;
  EXPECT_EQ(tokens.Claim("t", [&] { called.push_back(1); }), Claimed::kLater);
  EXPECT_EQ(tokens.Claim("t", [&] { called.push_back(2); }), Claimed::kLater);
  EXPECT_EQ(tokens.Claim("other", [] {}), Claimed::kYes);
  std::vector<RequestTokens::Then> waiting = tokens.ReleaseSwept();
  EXPECT_EQ(tokens.Claim("t", [] {}), Claimed::kYes);
  EXPECT_TRUE(called.empty());
  for (RequestTokens::Then& then : waiting) std::move(then)();
  EXPECT_EQ(called, (std::vector<int>{1, 2}));
  EXPECT_TRUE(tokens.ReleaseSwept().empty());
}

}  // namespace armature::engine::request_tokens_test
