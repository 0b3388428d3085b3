#include "engine/expr/parse_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "engine/expr/condition_eval.h"
#include "engine/expr/parser.h"
#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::expr::parse_cache_test {

ParseCache::Tree Parsed(std::string_view text) {
  FaultLog faults;
  return *ParseCondition(ExpressionKind::kFilter, text, &faults);
}

TEST(ParseCache, FindsWhatWasInsertedUnderItsKindOnly) {
  ParseCache cache(1 << 20);
  EXPECT_EQ(cache.Find(ExpressionKind::kFilter, "a = :a"), nullptr);
  cache.Insert(ExpressionKind::kFilter, "a = :a", Parsed("a = :a"));
  EXPECT_NE(cache.Find(ExpressionKind::kFilter, "a = :a"), nullptr);
  EXPECT_EQ(cache.Find(ExpressionKind::kCondition, "a = :a"), nullptr);
  EXPECT_EQ(cache.Find(ExpressionKind::kFilter, "a = :b"), nullptr);
}

TEST(ParseCache, TheLeastRecentlyUsedGoesFirst) {
  ParseCache cache(64 << 10);
  const auto text = [](int i) { return "attribute_" + std::to_string(i) + " = :a"; };
  constexpr int kMany = 1000;
  for (int i = 0; i < kMany; ++i) {
    cache.Insert(ExpressionKind::kFilter, text(i), Parsed(text(i)));
    EXPECT_NE(cache.Find(ExpressionKind::kFilter, text(0)), nullptr) << "in use all the time, gone after " << i;
  }
  EXPECT_LT(cache.size(), 100u);
  EXPECT_GT(cache.size(), 20u);
  EXPECT_EQ(cache.Find(ExpressionKind::kFilter, text(1)), nullptr);
}

TEST(ParseCache, WhatIsTooLargeForAShardIsNotKept) {
  ParseCache cache(8 << 10);
  const std::string large = "a = :a" + std::string(2000, ' ');
  cache.Insert(ExpressionKind::kFilter, large, Parsed(large));
  EXPECT_EQ(cache.size(), 0u);
}

TEST(ParseCache, ThreadsShareIt) {
  ParseCache cache(32 << 10);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::string text = "a" + std::to_string((i * 7 + t) % 50) + " = :a";
        if (cache.Find(ExpressionKind::kFilter, text) == nullptr) {
          cache.Insert(ExpressionKind::kFilter, text, Parsed(text));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(cache.size(), 0u);
}

// Binding fills in names and values. The cached tree must stay as parsed.
TEST(ParseCache, ABoundCopyLeavesTheCachedTreeAlone) {
  ParseCache cache(1 << 20);
  const std::string text = "NOT (#n = :v OR contains(m.l[0], :v)) AND size(#n) BETWEEN :v AND :v";
  ExpressionTexts expressions;
  expressions.filter = text;
  for (const char* name : {"first", "second"}) {
    Placeholders placeholders;
    placeholders.names.emplace();
    (*placeholders.names)["#n"] = name;
    const std::string values = testing::Item({{":v", testing::N("1")}});
    placeholders.values = model::ItemView(values);
    const auto bound = BindExpressions(expressions, placeholders, kScanKinds, &cache);
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_EQ(cache.size(), 1u);
    const std::string item = testing::Item({{"first", testing::N("2")}, {"second", testing::S("x")}});
    EXPECT_EQ(Evaluate(*bound->filter, model::ItemView(item)), std::string_view(name) == "second");
  }
}

TEST(ParseCache, ATextWithFaultsIsToldEachTime) {
  ParseCache cache(1 << 20);
  ExpressionTexts expressions;
  expressions.filter = "((a = b))";
  const absl::Status first = BindExpressions(expressions, {}, kScanKinds, &cache).status();
  EXPECT_FALSE(first.ok());
  EXPECT_EQ(BindExpressions(expressions, {}, kScanKinds, &cache).status(), first);
  EXPECT_EQ(cache.size(), 0u);
}

}  // namespace armature::expr::parse_cache_test
