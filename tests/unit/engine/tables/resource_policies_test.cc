// Policies of resources: properties that conformance cases cannot show, because they have one caller and no clock.

#include "engine/tables/resource_policies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "storage/model/table_name.h"
#include "tests/support/wall_clock.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::resource_policies_test {

std::string Document(std::string_view effect, std::string_view more = "") {
  return Cat(R"({"Statement": {"Effect": ")", effect, R"(", "Principal": "*", "Action": "*", "Resource": "*")", more,
             "}}");
}

model::TableDefinition TableNamed(const std::string& name) {
  model::TableDefinition definition;
  definition.table_name = name;
  definition.billing_mode = "PAY_PER_REQUEST";
  definition.attribute_definitions = {{"p", "S"}};
  definition.key_schema = {{"p", "HASH"}};
  definition.stream = model::StreamDefinition{true, "KEYS_ONLY"};
  return definition;
}

class ResourcePoliciesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(engine_.CreateTable(TableNamed("Cats")).ok()); }

  std::string Put(std::string_view document, std::optional<std::string> expected = {}) {
    PutResourcePolicyRequest request;
    request.resource_arn = arn_;
    request.policy = std::string(document);
    request.expected_revision_id = std::move(expected);
    const absl::StatusOr<std::string> revision = PutResourcePolicy(engine_->database(), request);
    return revision.ok() ? *revision : std::string(revision.status().message());
  }
  // Puts a policy as a request does.
  void PutByEngine(std::string_view document) {
    PutResourcePolicyRequest request;
    request.resource_arn = arn_;
    request.policy = std::string(document);
    Answer<std::string> answer;
    engine_->PutResourcePolicy(std::move(request), answer.Catch());
    const absl::StatusOr<std::string> put = answer.Take();
    ASSERT_TRUE(put.ok()) << put.status();
  }
  // The verdict on a request by the policy that is found for a name.
  access::Verdict Evaluate(std::string_view name, std::string_view operation) {
    const auto policy = engine_->FindResourcePolicy(name);
    access::LazyFacts facts(access::NoFacts);
    return policy == nullptr ? access::Verdict::kSilent : policy->Evaluate("AKAPP", {operation, name}, &facts);
  }
  std::string StreamArn() {
    const std::string label = engine_.Describe("Cats")->descriptor.LatestStreamLabel();
    return model::StreamArn("Cats", label);
  }

  TestEngine engine_;
  const std::string arn_ = model::TableArn("Cats");
};

TEST_F(ResourcePoliciesTest, RevisionsSortByTimeThoughTheClockIsSetBack) {
  std::vector<std::string> revisions = {Put(Document("Allow"))};
  {
    const test::WallClockSet set_back(-absl::Hours(1));
    for (int i = 0; i < 12; ++i) revisions.push_back(Put(Document(i % 2 == 0 ? "Deny" : "Allow")));
  }
  revisions.push_back(Put(Document("Deny")));
  EXPECT_TRUE(std::is_sorted(revisions.begin(), revisions.end()));
  EXPECT_EQ(std::adjacent_find(revisions.begin(), revisions.end()), revisions.end()) << "each is new";
}

TEST_F(ResourcePoliciesTest, SurviveARestart) {
  const std::string revision = Put(Document("Deny"));
  engine_.Reopen();
  EXPECT_EQ(Put(Document("Deny")), revision) << "the same document keeps its revision";
  EXPECT_EQ(Evaluate("Cats", "GetItem"), access::Verdict::kDenied);
}

TEST_F(ResourcePoliciesTest, AreFoundByEveryNameOfTheirResource) {
  Put(Document("Deny"));
  PutResourcePolicyRequest of_stream;
  of_stream.resource_arn = StreamArn();
  of_stream.policy = Document("Allow");
  ASSERT_TRUE(PutResourcePolicy(engine_->database(), of_stream).ok());
  EXPECT_EQ(Evaluate("Cats", "GetItem"), access::Verdict::kDenied);
  EXPECT_EQ(Evaluate(arn_, "GetItem"), access::Verdict::kDenied);
  EXPECT_EQ(Evaluate(StreamArn(), "GetRecords"), access::Verdict::kAllowed);
  EXPECT_EQ(Evaluate(StreamArn() + "|1|AAAA", "GetRecords"), access::Verdict::kAllowed) << "a shard iterator";
  for (const std::string& name :
       {std::string(), std::string("Dogs"), arn_ + "/backup/01489602797149-73d8d5bc", StreamArn() + "0"}) {
    EXPECT_EQ(engine_->FindResourcePolicy(name), nullptr) << name;
  }
  EXPECT_EQ(engine_->FindResourcePolicy("Cats"), engine_->FindResourcePolicy(arn_)) << "it is parsed once";
}

TEST_F(ResourcePoliciesTest, AChangeCountsFromTheNextRequest) {
  for (int i = 0; i < 3; ++i) {
    Put(Document("Deny"));
    EXPECT_EQ(Evaluate("Cats", "GetItem"), access::Verdict::kDenied);
    Put(Document("Allow"));
    EXPECT_EQ(Evaluate("Cats", "GetItem"), access::Verdict::kAllowed);
    ASSERT_TRUE(DeleteResourcePolicy(engine_->database(), {arn_, std::nullopt}).ok());
    EXPECT_EQ(engine_->FindResourcePolicy("Cats"), nullptr);
  }
}

TEST_F(ResourcePoliciesTest, ADocumentThatCannotBeReadDeniesAllButItsChange) {
  const auto damaged = engine_->database()->tables().Update("Cats", [](model::TableDescriptor* table) {
    table->settings.resource_policy = {R"({"Statement": "of a later version"})", "1"};
    return absl::OkStatus();
  });
  ASSERT_TRUE(damaged.ok() && damaged->has_value());
  EXPECT_EQ(Evaluate("Cats", "GetItem"), access::Verdict::kDenied);
  EXPECT_EQ(Evaluate("Cats", "DeleteResourcePolicy"), access::Verdict::kSilent);
}

// A condition with `patterns` patterns.
std::string Like(int patterns) {
  std::string list;
  for (int i = 0; i < patterns; ++i) list += Cat(i == 0 ? "" : ", ", "\"", i, "*?x*\"");
  return Cat(R"(, "Condition": {"StringLike": {"dynamodb:LeadingKeys": [)", list, "]}}");
}

TEST_F(ResourcePoliciesTest, TheWeightIsThatOfThePoliciesThatThereAre) {
  EXPECT_EQ(engine_->PolicyWeightMax().values, 0);
  PutByEngine(Document("Deny", Like(100)));
  const size_t weight = engine_->PolicyWeightMax().values;
  EXPECT_GE(weight, 100 * 2) << "before the first request: it was parsed when it was put";
  engine_.Reopen();
  EXPECT_EQ(engine_->PolicyWeightMax().values, weight) << "it was parsed at the start";
  PutByEngine(Document("Deny", Like(10)));
  EXPECT_LT(engine_->PolicyWeightMax().values, weight / 5);
  Answer<std::string> deleted;
  engine_->DeleteResourcePolicy({arn_, std::nullopt}, deleted.Catch());
  ASSERT_TRUE(deleted.Take().ok());
  EXPECT_EQ(engine_->PolicyWeightMax().values, 0);
  EXPECT_EQ(engine_->PolicyWeightMax().names, 0);
}

TEST_F(ResourcePoliciesTest, PoliciesThatAreReplacedOrGoneTakeNoMemory) {
  PutByEngine(Document("Allow"));
  const std::weak_ptr<const access::ResourcePolicy> first = engine_->FindResourcePolicy("Cats");
  ASSERT_FALSE(first.expired());
  PutByEngine(Document("Deny"));
  EXPECT_TRUE(first.expired()) << "it was replaced";
  const std::weak_ptr<const access::ResourcePolicy> second = engine_->FindResourcePolicy("Cats");
  ASSERT_FALSE(second.expired());
  ASSERT_TRUE(engine_.DeleteTable("Cats").ok());
  EXPECT_TRUE(TestEngine::WaitUntil([&] { return second.expired(); }).ok()) << "its table is gone";
}

TEST_F(ResourcePoliciesTest, TheMemoryOfAllPoliciesIsBounded) {
  ResourcePolicies all(engine_->database());
  Put(Document("Deny", Like(300)));
  all.Refresh();
  const size_t one = all.bytes();
  EXPECT_GT(one, 300 * sizeof(access::Pattern));

  PutResourcePolicyRequest of_stream;
  of_stream.resource_arn = StreamArn();
  of_stream.policy = Document("Allow", Like(300));
  ASSERT_TRUE(PutResourcePolicy(engine_->database(), of_stream).ok());
  ResourcePolicies few(engine_->database(), one + one / 2);
  few.Refresh();
  EXPECT_LE(few.bytes(), one + one / 2);
  all.Refresh();
  EXPECT_EQ(few.weight_max().values, all.weight_max().values) << "also with one that is given up";
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(few.Find("Cats"), nullptr);
    EXPECT_NE(few.Find(StreamArn()), nullptr);
    EXPECT_LE(few.bytes(), one + one / 2);
  }
  ASSERT_TRUE(DeleteResourcePolicy(engine_->database(), {arn_, std::nullopt}).ok());
  few.Refresh();
  EXPECT_NE(few.Find(StreamArn()), nullptr);
}

TEST_F(ResourcePoliciesTest, PoliciesInUseStayParsed) {
  Put(Document("Deny", Like(300)));
  ResourcePolicies policies(engine_->database());
  policies.Refresh();
  const size_t one = policies.bytes();
  PutResourcePolicyRequest of_stream;
  of_stream.resource_arn = StreamArn();
  of_stream.policy = Document("Allow", Like(300));
  ASSERT_TRUE(PutResourcePolicy(engine_->database(), of_stream).ok());
  model::TableDefinition dogs = TableNamed("Dogs");
  dogs.resource_policy = Document("Deny", Like(300));
  ASSERT_TRUE(engine_.CreateTable(dogs).ok());
  // Room for two of three.
  ResourcePolicies few(engine_->database(), 2 * one + one / 2);
  const std::weak_ptr<const access::ResourcePolicy> cats = few.Find("Cats");
  const std::weak_ptr<const access::ResourcePolicy> stream = few.Find(StreamArn());
  ASSERT_FALSE(cats.expired() || stream.expired());
  few.Find("Cats");
  EXPECT_NE(few.Find("Dogs"), nullptr);
  EXPECT_FALSE(cats.expired());
  EXPECT_TRUE(stream.expired()) << "it was not used the longest";
}

// A client that expects the revision that it has read never overwrites the change of another one.
TEST_F(ResourcePoliciesTest, OneOfSeveralCallersWithTheSameExpectationWins) {
  constexpr int kCallers = 4;
  const std::string first = Put(Document("Allow"));
  std::atomic<int> winners = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      const std::string document = Document("Deny", Cat(R"(, "Sid": "caller)", caller, "\""));
      if (Put(document, first).find("not found") == std::string::npos) ++winners;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(winners, 1);
}

}  // namespace armature::engine::resource_policies_test
