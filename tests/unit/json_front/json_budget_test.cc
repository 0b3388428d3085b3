// The JSON front and the memory budget.

#include <string>

#include "daemon/net/memory_budget.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/json_front/json_front_fixture.h"

namespace armature::daemon::json_front_test {
namespace {

using JsonBudgetTest = JsonFrontTest;

TEST_F(JsonBudgetTest, InflatedBodiesCountAgainstTheBudget) {
  MemoryBudget budget(8 << 20, 8 << 20);
  options_.budget = &budget;
  HttpRequest request = PutItem(Gzip(std::string(16 << 20, ' ')));
  Set(&request, "content-encoding", "gzip");
  EXPECT_EQ(Answer(request).status, 503);
  EXPECT_EQ(budget.held(), 0u);
  request.body = Gzip(std::string(3 << 20, ' '));
  size_t held = 0;
  operations_.on_call = [&] { held = budget.held_by(request.client); };
  EXPECT_EQ(Answer(request).status, 200);
  EXPECT_GE(held, 3u << 20);
  EXPECT_EQ(budget.held(), 0u);
}

TEST_F(JsonBudgetTest, ReadsWithLargeAnswersDoNotRunWithoutRoom) {
  MemoryBudget budget(8 << 20, 4 << 20);
  options_.budget = &budget;
  HttpRequest request = PutItem("{}");
  Set(&request, "x-amz-target", "DynamoDB_20120810.Scan");
  budget.Add(request.client, (3 << 20) + 1);
  EXPECT_EQ(Answer(request).status, 503);
  EXPECT_THAT(operations_.seen(), testing::IsEmpty());
  EXPECT_EQ(Answer(PutItem("{}")).status, 200) << "its answer is small";
  budget.Remove(request.client, 1);
  EXPECT_EQ(Answer(request).status, 200);
}

}  // namespace
}  // namespace armature::daemon::json_front_test
