#include "daemon/auth/policy.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include "storage/base/api_error.h"
#include "tests/support/matches_pattern.h"

namespace armature::daemon::policy_test {

bool Allows(const Policy& policy, std::string_view operation, std::string_view table) {
  access::LazyFacts facts(access::NoFacts);
  return policy.Evaluate({operation, table}, &facts) == access::Verdict::kAllowed;
}

TEST(Policy, PatternsMatchWholeTexts) {
  const struct {
    std::string_view pattern;
    std::string_view text;
    bool matches;
  } kCases[] = {
      {"orders", "orders", true},
      {"orders", "orders2", false},
      {"orders", "order", false},
      {"orders", "Orders", false},
      {"logs-*", "logs-", true},
      {"logs-*", "logs-2025", true},
      {"logs-*", "xlogs-2025", false},
      {"*", "", true},
      {"*", "anything", true},
      {"**", "a", true},
      {"?", "", false},
      {"?", "a", true},
      {"?", "ab", false},
      {"a?c", "abc", true},
      {"*-eu", "x-eu-eu", true},
      {"*-eu", "x-eu-us", false},
      {"a*b*c", "a-b-b-c", true},
      {"a*b*c", "a-c-b", false},
      {"*a*a*a*", "aa", false},
      {"", "", true},
      {"", "a", false},
      {"Get*", "GetItem", true},
  };
  for (const auto& c : kCases)
    EXPECT_EQ(access::MatchesPattern(c.pattern, c.text), c.matches) << c.pattern << " " << c.text;
}

TEST(Policy, ArnsAreReducedToTheTableName) {
  const struct {
    std::string_view given;
    std::string_view name;
  } kCases[] = {
      {"orders", "orders"},
      {"", ""},
      {"arn:aws:dynamodb:local:000000000000:table/orders", "orders"},
      {"arn:aws-cn:dynamodb:eu-central-1:123:table/orders/index/by-date", "orders"},
      {"arn:aws:dynamodb:::table/orders/stream/2025-11-04T12:00:00.000", "orders"},
      {"arn:aws:dynamodb:local:000000000000:table/", ""},
      {"arn:aws:s3:local:000000000000:table/orders", "arn:aws:s3:local:000000000000:table/orders"},
      {"arn:aws:dynamodb:local:000000000000:tables/orders", "arn:aws:dynamodb:local:000000000000:tables/orders"},
      {"arn:aws:dynamodb:local:table/orders", "arn:aws:dynamodb:local:table/orders"},
  };
  for (const auto& c : kCases) EXPECT_EQ(TableNameOf(c.given), c.name) << c.given;
}

Policy ReadsOfOrders() { return {{{{"GetItem", "Query*"}, {"orders", "logs-*"}}}, false}; }

TEST(Policy, WhatIsNotAllowedIsDenied) {
  const Policy policy = ReadsOfOrders();
  const struct {
    std::string_view operation;
    std::string_view table;
    bool allowed;
  } kCases[] = {
      {"GetItem", "orders", true},
      {"Query", "orders", true},
      {"GetItem", "logs-2025", true},
      {"GetItem", "arn:aws:dynamodb:local:000000000000:table/orders", true},
      {"GetItem", "arn:aws:dynamodb:local:000000000000:table/orders/index/i", true},
      {"GetItem", "arn:aws:dynamodb:local:000000000000:table/secrets", false},
      {"GetItem", "secrets", false},
      {"GetItem", "order", false},
      {"GetItem", "", false},
      {"PutItem", "orders", false},
      {"getitem", "orders", false},
      {"ListTables", "", false},
      {"", "orders", false},
      {"admin:GetServerInfo", "", false},
      {"admin:GetItem", "orders", false},
  };
  for (const auto& c : kCases) EXPECT_EQ(Allows(policy, c.operation, c.table), c.allowed) << c.operation << c.table;
}

TEST(Policy, EntriesDoNotMix) {
  const Policy policy{{{{"GetItem"}, {"a"}}, {{"PutItem"}, {"b"}}}, false};
  EXPECT_TRUE(Allows(policy, "GetItem", "a"));
  EXPECT_TRUE(Allows(policy, "PutItem", "b"));
  EXPECT_FALSE(Allows(policy, "PutItem", "a"));
  EXPECT_FALSE(Allows(policy, "GetItem", "b"));
}

TEST(Policy, AnOperationAboutNoTableNeedsAllTables) {
  EXPECT_TRUE(Allows(Policy{{{{"ListTables"}, {"*"}}}, false}, "ListTables", ""));
  EXPECT_FALSE(Allows(Policy{{{{"ListTables"}, {"?*", "**"}}}, false}, "ListTables", ""));
}

TEST(Policy, OnlyAdminReachesTheAdminService) {
  const Policy all{{{{"*"}, {"*"}}}, false};
  EXPECT_FALSE(Allows(all, "admin:GetServerInfo", ""));
  const Policy admin{{}, true};
  EXPECT_TRUE(Allows(admin, "admin:GetServerInfo", ""));
  EXPECT_TRUE(Allows(admin, "admin:GetIndexStatus", "orders"));
  EXPECT_FALSE(Allows(admin, "GetItem", "orders"));
  EXPECT_FALSE(Allows(admin, "ListTables", ""));
}

// A condition that holds for the leading key t1.
access::Conditions ForTenant() {
  simdjson::dom::parser parser;
  const simdjson::padded_string json(std::string(R"({"StringEquals": {"dynamodb:LeadingKeys": "t1"}})"));
  absl::StatusOr<access::Conditions> made = access::Conditions::Parse(parser.parse(json).value(), "");
  EXPECT_TRUE(made.ok());
  return *std::move(made);
}

access::Verdict Evaluate(const Policy& policy, std::string_view operation, std::string_view index,
                         std::string_view leading) {
  const auto source = [leading]() -> absl::StatusOr<access::Facts> {
    access::Facts facts;
    if (!leading.empty()) facts[access::ConditionKey::kLeadingKeys] = {std::string(leading)};
    return facts;
  };
  access::LazyFacts facts(source);
  return policy.Evaluate({operation, "orders", index, source}, &facts);
}

TEST(Policy, ADenialOverridesWhatIsAllowed) {
  const Policy policy{{{{"*"}, {"*"}}}, false, {{{"Delete*"}, {"orders"}}, {{"GetItem"}, {"*"}, ForTenant()}}};
  EXPECT_EQ(Evaluate(policy, "PutItem", "", "t1"), access::Verdict::kAllowed);
  EXPECT_EQ(Evaluate(policy, "DeleteItem", "", "t2"), access::Verdict::kDenied);
  EXPECT_EQ(Evaluate(policy, "GetItem", "", "t1"), access::Verdict::kDenied);
  EXPECT_EQ(Evaluate(policy, "GetItem", "", "t2"), access::Verdict::kAllowed);
  EXPECT_EQ(Evaluate({{}, false, {{{"DeleteTable"}, {"x"}}}}, "GetItem", "", ""), access::Verdict::kSilent);
}

TEST(Policy, AnEntryThatAllowsByAConditionMustNameTheIndex) {
  const struct {
    std::vector<std::string> tables;
    bool has_condition;
    std::string_view index;
    bool allows;
    bool denies;
  } kCases[] = {
      {{"orders"}, false, "by_date", true, true},
      {{"orders"}, true, "", true, true},
      {{"orders"}, true, "by_date", false, true},
      {{"orders/index/by_date"}, true, "by_date", true, true},
      {{"orders/index/by_date"}, true, "", false, false},
      {{"orders/index/by_*"}, true, "by_date", true, true},
      {{"orders/index/other"}, true, "by_date", false, false},
      {{"orders*"}, true, "by_date", true, true},
      {{"orders/index/by_date"}, false, "by_date", true, true},
      {{"*"}, true, "by_date", true, true},
  };
  for (const auto& c : kCases) {
    Policy::Entry entry{{"Query"}, c.tables};
    if (c.has_condition) entry.condition = ForTenant();
    const Policy allow{{entry}, false};
    const Policy deny{{}, false, {entry}};
    EXPECT_EQ(Evaluate(allow, "Query", c.index, "t1") == access::Verdict::kAllowed, c.allows) << c.tables[0] << c.index;
    EXPECT_EQ(Evaluate(deny, "Query", c.index, "t1") == access::Verdict::kDenied, c.denies) << c.tables[0] << c.index;
  }
}

TEST(PolicyAccess, ADenialSaysWhoWhatAndWhere) {
  const auto log = std::make_shared<FailureLog>();
  const PolicyAccess access("AKAPP", std::make_shared<const Policy>(ReadsOfOrders()), log);
  EXPECT_EQ(access.principal(), "AKAPP");
  EXPECT_TRUE(access.Check({"GetItem", "orders"}).ok());
  EXPECT_EQ(log->count(AuthFailure::kAccessDenied), 0u);
  const struct {
    std::string_view operation;
    std::string_view table;
    std::string_view text;
  } kCases[] = {
      {"PutItem", "orders", "dynamodb:PutItem on resource: arn:aws:dynamodb:local:000000000000:table/orders"},
      {"PutItem", "arn:aws:dynamodb:x:1:table/orders/index/i",
       "dynamodb:PutItem on resource: arn:aws:dynamodb:local:000000000000:table/orders"},
      {"ListTables", "", "dynamodb:ListTables on resource: *"},
      {"admin:GetServerInfo", "", "admin:GetServerInfo on resource: *"},
  };
  for (const auto& c : kCases) {
    const auto error = GetApiError(access.Check({c.operation, c.table}));
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->type, ApiErrorType::kAccessDenied);
    EXPECT_EQ(error->message, "User: AKAPP is not authorized to perform: " + std::string(c.text));
  }
  EXPECT_EQ(log->count(AuthFailure::kAccessDenied), 4u);
}

}  // namespace armature::daemon::policy_test
