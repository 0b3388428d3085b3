#include "engine/access/resource_policy.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "absl/strings/str_replace.h"
#include "storage/base/strings.h"
#include "tests/support/matches_pattern.h"

namespace armature::access::resource_policy_test {

constexpr std::string_view kTableArn = "arn:aws:dynamodb:local:000000000000:table/orders";

// $T stands for the ARN of the table.
std::string Expand(std::string_view text) { return absl::StrReplaceAll(Av(text), {{"$T", Av(kTableArn)}}); }

absl::StatusOr<std::shared_ptr<const ResourcePolicy>> Parse(std::string_view text, std::string_view stream = "") {
  const auto is_action = [](std::string_view pattern) {
    for (const std::string_view action : {"GetItem", "PutItem", "Query", "DescribeTable", "PutResourcePolicy"}) {
      if (MatchesPattern(pattern, action)) return true;
    }
    return false;
  };
  return ResourcePolicy::Parse(Expand(text), {"orders", stream}, is_action);
}

std::string Statement(std::string_view effect, std::string_view principal, std::string_view action,
                      std::string_view resource, std::string_view more = "") {
  return Cat(R"({"Effect": ")", effect, R"(", "Principal": )", principal, R"(, "Action": )", action,
             R"(, "Resource": )", resource, more, "}");
}

std::string Document(std::string_view statements) {
  return Cat(R"({"Version": "2012-10-17", "Statement": )", statements, "}");
}

Verdict Evaluate(std::string_view document, std::string_view principal, std::string_view operation,
                 std::string_view index = "", std::string_view leading = "") {
  const auto policy = Parse(document);
  EXPECT_TRUE(policy.ok()) << policy.status() << document;
  if (!policy.ok()) return Verdict::kSilent;
  const auto source = [leading]() -> absl::StatusOr<Facts> {
    Facts facts;
    if (!leading.empty()) facts[ConditionKey::kLeadingKeys] = {std::string(leading)};
    return facts;
  };
  LazyFacts facts(source);
  return (*policy)->Evaluate(principal, {operation, "orders", index, source}, &facts);
}

TEST(ResourcePolicy, StatementsApplyByPrincipalActionAndResource) {
  const std::string reads = Statement("Allow", R"({"AWS": ["AKAPP", "arn:aws:iam::000000000000:user/AKUSER"]})",
                                      R"(["dynamodb:GetItem", "dynamodb:Q*"])", R"(["$T", "$T/index/by_*"])");
  const struct {
    std::string statements;
    std::string_view principal;
    std::string_view operation;
    std::string_view index;
    Verdict verdict;
  } kCases[] = {
      {reads, "AKAPP", "GetItem", "", Verdict::kAllowed},
      {reads, "AKUSER", "GetItem", "", Verdict::kAllowed},
      {reads, "AKOTHER", "GetItem", "", Verdict::kSilent},
      {reads, "akapp", "GetItem", "", Verdict::kSilent},
      {reads, "AKAPP", "Query", "", Verdict::kAllowed},
      {reads, "AKAPP", "Query", "by_date", Verdict::kAllowed},
      {reads, "AKAPP", "Query", "other", Verdict::kSilent},
      {reads, "AKAPP", "PutItem", "", Verdict::kSilent},
      {Statement("Allow", R"("*")", R"("*")", R"("$T")"), "AKANY", "PutItem", "", Verdict::kAllowed},
      {Statement("Allow", R"("*")", R"("*")", R"("$T")"), "AKANY", "Query", "by_date", Verdict::kSilent},
      {Statement("Allow", R"({"AWS": "*"})", R"("dynamodb:*")", R"("*")"), "AKANY", "Query", "by_date",
       Verdict::kAllowed},
      {Statement("Allow", R"("*")", R"("*")", R"("$T/index/by_date")"), "AKANY", "Query", "", Verdict::kSilent},
      // A denial overrides, wherever it stands.
      {Cat("[", Statement("Deny", R"({"AWS": "AKAPP"})", R"("dynamodb:PutItem")", R"("*")"), ",",
           Statement("Allow", R"("*")", R"("*")", R"("*")"), "]"),
       "AKAPP", "PutItem", "", Verdict::kDenied},
      {Cat("[", Statement("Allow", R"("*")", R"("*")", R"("*")"), ",",
           Statement("Deny", R"({"AWS": "AKAPP"})", R"("dynamodb:PutItem")", R"("*")"), "]"),
       "AKAPP", "PutItem", "", Verdict::kDenied},
      {Cat("[", Statement("Allow", R"("*")", R"("*")", R"("*")"), ",",
           Statement("Deny", R"({"AWS": "AKAPP"})", R"("dynamodb:PutItem")", R"("*")"), "]"),
       "AKOTHER", "PutItem", "", Verdict::kAllowed},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Evaluate(Document(c.statements), c.principal, c.operation, c.index), c.verdict)
        << c.statements << " " << c.principal << " " << c.operation << " " << c.index;
  }
}

TEST(ResourcePolicy, ConditionsRestrictStatements) {
  const std::string own = Document(Statement("Allow", R"("*")", R"("*")", R"("*")",
                                             R"(, "Condition": {"StringEquals": {"dynamodb:LeadingKeys": "t1"}})"));
  EXPECT_EQ(Evaluate(own, "AKAPP", "GetItem", "", "t1"), Verdict::kAllowed);
  EXPECT_EQ(Evaluate(own, "AKAPP", "GetItem", "", "t2"), Verdict::kSilent);
  EXPECT_EQ(Evaluate(own, "AKAPP", "DescribeTable"), Verdict::kSilent);
  const std::string others = Document(Statement(
      "Deny", R"("*")", R"("*")", R"("*")", R"(, "Condition": {"StringNotEquals": {"dynamodb:LeadingKeys": "t1"}})"));
  EXPECT_EQ(Evaluate(others, "AKAPP", "GetItem", "", "t1"), Verdict::kSilent);
  EXPECT_EQ(Evaluate(others, "AKAPP", "GetItem", "", "t2"), Verdict::kDenied);
  EXPECT_EQ(Evaluate(others, "AKAPP", "Scan"), Verdict::kDenied);
}

TEST(ResourcePolicy, ThatCannotBeReadLeavesOperationsOnPoliciesOnly) {
  const std::shared_ptr<const ResourcePolicy> policy = ResourcePolicy::Unreadable();
  LazyFacts facts(NoFacts);
  EXPECT_EQ(policy->Evaluate("AKAPP", {"GetItem", "orders"}, &facts), Verdict::kDenied);
  for (const std::string_view operation : {"GetResourcePolicy", "PutResourcePolicy", "DeleteResourcePolicy"}) {
    EXPECT_EQ(policy->Evaluate("AKAPP", {operation, "orders"}, &facts), Verdict::kSilent) << operation;
  }
}

TEST(ResourcePolicy, OfAStreamNamesTheStream) {
  const std::string label = "2025-11-04T12:00:00.000";
  const auto parse = [&label](std::string_view resource) {
    return Parse(Document(Statement("Allow", R"("*")", R"("*")", Cat("\"", resource, "\""))), label).ok();
  };
  EXPECT_TRUE(parse(Cat("$T/stream/", label)));
  EXPECT_TRUE(parse("*"));
  EXPECT_FALSE(parse("$T"));
  EXPECT_FALSE(parse("$T/stream/2025-11-04T12:00:00.001"));
  EXPECT_FALSE(parse(Cat("$T/stream/", label, "/index/i")));
}

TEST(ResourcePolicy, WhatIsNotEvaluatedIsRefused) {
  const std::string all = R"("*")";
  const auto with = [&](std::string_view principal, std::string_view action, std::string_view resource,
                        std::string_view more = "") {
    return Document(Statement("Allow", principal, action, resource, more));
  };
  const struct {
    std::string document;
    std::string_view fault;
  } kCases[] = {
      {"", "is not a JSON document"},
      {"{", "is not a JSON document"},
      {"[]", "must be an object"},
      {"{}", "Statement is missing"},
      {R"({"Statement": []})", "Statement is missing"},
      {R"({"Version": "2020-01-01", "Statement": []})", "Version: must be 2012-10-17 or 2008-10-17"},
      {R"({"Version": 1})", "Version: must be a string"},
      {R"({"Statements": []})", "Statements: is unknown"},
      {R"({"Statement": 1})", "Statement: must be an object"},
      {R"({"Statement": [{}]})", "Statement[0]: Effect is missing"},
      {R"({"Statement": {"Effect": "Allow"}})", "Statement: Principal is missing"},
      {R"({"Statement": {"Effect": "Allow", "Principal": "*"}})", "Statement: Action is missing"},
      {R"({"Statement": {"Effect": "Allow", "Principal": "*", "Action": "*"}})", "Statement: Resource is missing"},
      {Document(Statement("allow", all, all, all)), "Statement.Effect: must be Allow or Deny"},
      {with(R"("AKAPP")", all, all), "Statement.Principal: must be * or an object with AWS"},
      {with(R"({"Service": "x"})", all, all), "Statement.Principal.Service: is not supported"},
      {with(R"({"AWS": "arn:aws:iam::123456789012:root"})", all, all), "is no principal of this daemon"},
      {with(R"({"AWS": "arn:aws:iam::000000000000:role/x"})", all, all), "is no principal of this daemon"},
      {with(R"({"AWS": "AK*"})", all, all), "a principal is * or a name without wildcards"},
      {with(R"({"AWS": []})", all, all), "Principal is missing"},
      {with(R"({})", all, all), "Principal is missing"},
      {with(all, R"("GetItem")", all), "must be * or begin with dynamodb:"},
      {with(all, R"("dynamodb:getItem")", all), "matches no action of the API"},
      {with(all, R"("dynamodb:")", all), "matches no action of the API"},
      {with(all, R"([])", all), "Action is missing"},
      {with(all, all, R"("orders")"), "must be the ARN of the resource"},
      {with(all, all, R"("$T2")"), "must be the ARN of the resource"},
      {with(all, all, R"("arn:aws:dynamodb:local:000000000000:table/*")"), "must be the ARN of the resource"},
      {with(all, all, R"("$T/index/")"), "must be the ARN of the resource"},
      {with(all, all, R"("$T/stream/x")"), "must be the ARN of the resource"},
      {with(all, all, R"("arn:aws:s3:local:000000000000:table/orders")"), "must be the ARN of the resource"},
      {with(all, all, all, R"(, "NotAction": "*")"), "Statement.NotAction: is not supported"},
      {with(all, all, all, R"(, "Effect": "Deny")"), "Statement.Effect: is there twice"},
      {with(all, all, all, R"(, "Condition": {"IpAddress": {"aws:SourceIp": "::1"}})"),
       "Statement.Condition.IpAddress: is not a supported operator"},
      {with(all, all, all, R"(, "Sid": 1)"), "Statement.Sid: must be a string"},
      {std::string(ResourcePolicy::kBytesMax + 1, ' '), "is larger than 20480 bytes"},
      {std::string(5000, '['), "is not a JSON document"},
  };
  for (const auto& c : kCases) {
    const auto policy = Parse(c.document);
    ASSERT_FALSE(policy.ok()) << c.document;
    EXPECT_NE(policy.status().message().find(Av(c.fault)), absl::string_view::npos)
        << policy.status() << " of " << c.document.substr(0, 300);
  }
}

TEST(ResourcePolicy, StatementsAreBounded) {
  std::string many = "[";
  for (size_t i = 0; i <= ResourcePolicy::kStatementsMax; ++i) {
    many += Cat(i == 0 ? "" : ",", Statement("Allow", R"("*")", R"("*")", R"("*")"));
  }
  const auto policy = Parse(Document(many + "]"));
  ASSERT_FALSE(policy.ok());
  EXPECT_EQ(policy.status().message(), "Statement: has more than 100 elements");
}

}  // namespace armature::access::resource_policy_test
