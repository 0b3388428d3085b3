#include "daemon/auth/long_requests.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>

#include "engine/access/pattern.h"

namespace armature::daemon::long_requests_test {

// A principal whose policy takes this work.
class WeighedAccess final : public Access {
 public:
  explicit WeighedAccess(access::MatchWeight weight) : weight_(weight) {}

  const std::string& principal() const override { return principal_; }
  absl::Status Check(const access::Request& /*request*/) const override { return absl::OkStatus(); }
  access::MatchWeight weight() const override { return weight_; }

 private:
  const std::string principal_ = "somebody";
  const access::MatchWeight weight_;
};

constexpr size_t kRequestBytes = 41 << 10;
constexpr auto kOne = LongRequests::Projection::kOfOneElement;

TEST(LongRequests, SizeAloneMakesARequestLong) {
  EXPECT_FALSE(LongRequests::IsLong(256 << 10, kOne, nullptr, {}));
  EXPECT_TRUE(LongRequests::IsLong((256 << 10) + 1, kOne, nullptr, {}));
}

TEST(LongRequests, PoliciesDoNotCountWithoutAuthentication) {
  EXPECT_FALSE(LongRequests::IsLong(kRequestBytes, kOne, nullptr, {.values = 1'000'000, .names = 1'000'000}));
}

TEST(LongRequests, EachByteIsComparedWithAllPatterns) {
  const WeighedAccess light({.values = 10});
  EXPECT_FALSE(LongRequests::IsLong(kRequestBytes, kOne, &light, {}));
  EXPECT_TRUE(LongRequests::IsLong(kRequestBytes, kOne, &light, {.values = 10}));
  const WeighedAccess heavy({.values = 20});
  EXPECT_TRUE(LongRequests::IsLong(kRequestBytes, kOne, &heavy, {}));
}

TEST(LongRequests, TheNamesOfEachElementAreComparedWithTheirPatterns) {
  const WeighedAccess access({.names = 2'000});
  EXPECT_FALSE(LongRequests::IsLong(30, kOne, &access, {}));
  EXPECT_TRUE(LongRequests::IsLong(1'600, kOne, &access, {})) << "up to a hundred elements";
  const WeighedAccess usual({.names = 50});
  EXPECT_FALSE(LongRequests::IsLong(200 << 10, kOne, &usual, {})) << "elements are bounded in number";
}

TEST(LongRequests, TheProjectionOfABatchIsComparedForEachKey) {
  const WeighedAccess access({.values = 5});
  EXPECT_FALSE(LongRequests::IsLong(96 << 10, kOne, &access, {}));
  EXPECT_TRUE(LongRequests::IsLong(96 << 10, LongRequests::ProjectionOf("BatchGetItem"), &access, {}));
  EXPECT_FALSE(LongRequests::IsLong(1 << 10, LongRequests::ProjectionOf("BatchGetItem"), &access, {}));
  EXPECT_EQ(LongRequests::ProjectionOf("GetItem"), kOne);
}

TEST(LongRequests, NamesThatNoResourceHasAreComparedInPart) {
  Policy policy;
  policy.deny.push_back({.operations = {"Query"}, .tables = {"*?ab*", "Cats/index/*?ab*"}});
  policy.allow = policy.deny;
  const std::string name(200'000, 'a');
  for (const access::Request& request : {access::Request{"Query", "Cats", name}, access::Request{"Query", name}}) {
    access::MatchWork work;
    access::LazyFacts facts(access::NoFacts, &work);
    EXPECT_EQ(policy.Evaluate(request, &facts), access::Verdict::kSilent);
    EXPECT_GT(work.left(), access::MatchWork::kStepsMax - 100'000);
  }
}

// The searches for parts with question marks take most of the time of a policy that has them.
TEST(LongRequests, QuestionMarksMakeAPatternHeavy) {
  Policy policy;
  std::string pattern = "*?";
  while (pattern.size() < 1'000) pattern += "ab";
  access::Patterns tables({pattern + "*", "*?a?b?c*"});
  policy.allow.push_back({.operations = {"GetItem"}, .tables = tables});
  EXPECT_GE(policy.weight().names, 1'000 / 64 + 7);
}

}  // namespace armature::daemon::long_requests_test
