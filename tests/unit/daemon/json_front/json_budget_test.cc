// The JSON front and the memory budget.

#include <string>

#include "daemon/net/memory_budget.h"
#include "engine/operations.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/daemon/json_front/json_front_fixture.h"

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
  budget.Take(request.client, (3 << 20) + 1);
  EXPECT_EQ(Answer(request).status, 503);
  EXPECT_THAT(operations_.seen(), testing::IsEmpty());
  EXPECT_EQ(Answer(PutItem("{}")).status, 200) << "its answer is small";
  budget.Return(request.client, 1);
  EXPECT_EQ(Answer(request).status, 200);
}

TEST_F(JsonBudgetTest, EachOperationStatesItsAnswer) {
  MemoryBudget budget(8 << 20, 4 << 20);
  options_.budget = &budget;
  size_t large = 0;
  for (const engine::Operation& operation : engine::kOperations) {
    HttpRequest request = PutItem("{}");
    Set(&request, "x-amz-target", Cat("DynamoDB_20120810.", operation.name));
    budget.Take(request.client, (3 << 20) + 1);
    const bool is_large = engine::HasLargeAnswer(operation);
    EXPECT_EQ(Answer(request).status, is_large ? 503 : 200) << operation.name;
    budget.Return(request.client, (3 << 20) + 1);
    if (is_large) ++large;
  }
  EXPECT_EQ(operations_.seen().size(), engine::kOperations.size() - large);
  // Queries and scans, both kinds of batches and transactions, statements, records.
  EXPECT_EQ(large, 10u);
}

TEST_F(JsonBudgetTest, OneFormOfACompressedAnswerIsKept) {
  MemoryBudget budget(64 << 20, 64 << 20);
  options_.budget = &budget;
  operations_.answer_body = std::string(8 << 20, 'x');
  HttpRequest request = PutItem("{}");
  Set(&request, "accept-encoding", "gzip");
  const HttpResponse response = Answer(request);
  EXPECT_EQ(response.status, 200);
  EXPECT_LT(response.body.capacity(), 256u << 10);
  EXPECT_EQ(response.memory.counted(), response.memory.is_counted() ? budget.held() : 0);
  EXPECT_LT(budget.held(), 256u << 10);
}

TEST_F(JsonBudgetTest, AnAnswerIsSentAsItIsWithoutRoomForItsCompressedForm) {
  MemoryBudget budget(64 << 20, 64 << 20);
  options_.budget = &budget;
  std::string noise(1 << 20, ' ');
  uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>('0' + (state = state * 1664525 + 1013904223) % 71);
  operations_.answer_body = noise;
  HttpRequest request = PutItem("{}");
  Set(&request, "accept-encoding", "gzip");
  operations_.on_call = [&] { budget.Take(request.client, 56 << 20); };
  const HttpResponse response = Answer(request);
  EXPECT_TRUE(response.body == noise);
  budget.Return(request.client, 56 << 20);
}

}  // namespace
}  // namespace armature::daemon::json_front_test
