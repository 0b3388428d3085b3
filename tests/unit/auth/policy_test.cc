#include "daemon/auth/policy.h"

#include <gtest/gtest.h>

#include "storage/base/api_error.h"

namespace armature::daemon {
namespace {

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
  for (const auto& c : kCases) EXPECT_EQ(MatchesPattern(c.pattern, c.text), c.matches) << c.pattern << " " << c.text;
}

TEST(Policy, ManyStarsAreNotSlow) {
  std::string pattern;
  for (int i = 0; i < 127; ++i) pattern += "*a";
  EXPECT_FALSE(MatchesPattern(pattern, std::string(1024, 'b') + "c"));
  EXPECT_FALSE(MatchesPattern(pattern + "x", std::string(1024, 'a')));
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
  for (const auto& c : kCases) EXPECT_EQ(policy.Allows(c.operation, c.table), c.allowed) << c.operation << c.table;
}

TEST(Policy, EntriesDoNotMix) {
  const Policy policy{{{{"GetItem"}, {"a"}}, {{"PutItem"}, {"b"}}}, false};
  EXPECT_TRUE(policy.Allows("GetItem", "a"));
  EXPECT_TRUE(policy.Allows("PutItem", "b"));
  EXPECT_FALSE(policy.Allows("PutItem", "a"));
  EXPECT_FALSE(policy.Allows("GetItem", "b"));
}

TEST(Policy, AnOperationAboutNoTableNeedsAllTables) {
  EXPECT_TRUE((Policy{{{{"ListTables"}, {"*"}}}, false}).Allows("ListTables", ""));
  EXPECT_FALSE((Policy{{{{"ListTables"}, {"?*", "**"}}}, false}).Allows("ListTables", ""));
}

TEST(Policy, OnlyAdminReachesTheAdminService) {
  const Policy all{{{{"*"}, {"*"}}}, false};
  EXPECT_FALSE(all.Allows("admin:GetServerInfo", ""));
  const Policy admin{{}, true};
  EXPECT_TRUE(admin.Allows("admin:GetServerInfo", ""));
  EXPECT_TRUE(admin.Allows("admin:GetIndexStatus", "orders"));
  EXPECT_FALSE(admin.Allows("GetItem", "orders"));
  EXPECT_FALSE(admin.Allows("ListTables", ""));
}

TEST(PolicyAccess, ADenialSaysWhoWhatAndWhere) {
  const auto log = std::make_shared<FailureLog>();
  const PolicyAccess access("AKAPP", std::make_shared<const Policy>(ReadsOfOrders()), log);
  EXPECT_EQ(access.principal(), "AKAPP");
  EXPECT_TRUE(access.Check("GetItem", "orders").ok());
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
    const auto error = GetApiError(access.Check(c.operation, c.table));
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->type, ApiErrorType::kAccessDenied);
    EXPECT_EQ(error->message, "User: AKAPP is not authorized to perform: " + std::string(c.text));
  }
  EXPECT_EQ(log->count(AuthFailure::kAccessDenied), 4u);
}

}  // namespace
}  // namespace armature::daemon
