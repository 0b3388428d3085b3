// Random conditions as texts, through lexer, parser, binder and evaluator, compared with an evaluator that works on
// plain data. ARMATURE_TEST_SEED sets the seed, ARMATURE_TEST_RUNS the number of conditions.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "engine/expr/binder.h"
#include "engine/expr/condition_eval.h"
#include "tests/support/rounds.h"
#include "tests/unit/engine/expr/plain_condition.h"

namespace armature::expr::differential_test {

using testing::ConditionMaker;
using testing::ConditionWriter;
using testing::Item;
using testing::PlainCondition;
using testing::PlainItem;
using testing::Random;
using testing::Request;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Differential, ConditionsMeanWhatTheGrammarSays) {
  constexpr uint64_t kRuns = test::Rounds(200'000);
  constexpr ExpressionKind kKinds[] = {ExpressionKind::kCondition, ExpressionKind::kFilter};
  const uint64_t runs = FromEnvironment("ARMATURE_TEST_RUNS", kRuns);
  Random random(FromEnvironment("ARMATURE_TEST_SEED", 20'220'101));
  uint64_t met = 0;
  for (uint64_t run = 0; run < runs; ++run) {
    const PlainItem item = testing::RandomItem(&random);
    const PlainCondition condition = ConditionMaker(item, &random).Make(3);
    ConditionWriter writer(&random);
    const std::string text = writer.Write(condition);
    Request request;
    for (const auto& [key, name] : writer.names()) request.WithName(key, name);
    for (const auto& [key, wire] : writer.values()) request.WithValue(key, wire);
    const bool as_filter = random.OneIn(2);
    request.With(kKinds[as_filter ? 1 : 0], text);
    const absl::StatusOr<BoundExpressions> bound = request.Bind(kKinds);
    ASSERT_TRUE(bound.ok()) << text << "\n" << bound.status() << "\nrun " << run;
    const std::string bytes = Item(testing::ToWires(item));
    const bool wanted = testing::Meets(item, condition);
    const bool found = Evaluate(as_filter ? *bound->filter : *bound->condition, model::ItemView(bytes));
    ASSERT_EQ(found, wanted) << text << "\nrun " << run;
    met += wanted ? 1 : 0;
  }
  // If nearly all conditions had one result, the test would prove nothing.
  EXPECT_GT(met, runs / 5);
  EXPECT_LT(met, runs - runs / 5);
}

}  // namespace armature::expr::differential_test
