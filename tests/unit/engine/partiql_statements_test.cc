// The way of statements to their execution: authorised, then planned, in turns on the pool of plans.

#include "engine/partiql/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::partiql_statements_test {

using testing::Each;
using testing::SizeIs;

StatementRequest Request(std::string text) {
  StatementRequest request;
  request.statement = std::move(text);
  return request;
}

std::string ThisThread() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

class PartiqlStatementsTest : public testing::Test {
 protected:
  PartiqlStatementsTest() : engine_(store::Durability::kOs) {
    EXPECT_TRUE(engine_.CreateTable(PlainTable("tab")).ok());
    options_.gate = [this](const NeededRight& right) {
      threads_.push_back(ThisThread());
      return is_denied_ ? AccessDeniedError("me", "PartiQLSelect", "tab") : right.facts(engine_.database()).status();
    };
  }

  absl::Status Execute(const std::string& text) {
    Answer<ExecuteStatementResult> answer;
    ExecuteStatementRequest request;
    request.statement = Request(text);
    ExecuteStatement(&*engine_, {}, options_, std::move(request), answer.Catch());
    return answer.Take().status();
  }
  absl::StatusOr<BatchStatementResult> Batch(std::vector<StatementRequest> statements) {
    Answer<BatchStatementResult> answer;
    BatchStatementRequest request;
    request.statements = std::move(statements);
    BatchExecuteStatement(&*engine_, {}, options_, std::move(request), answer.Catch());
    return answer.Take();
  }
  absl::StatusOr<TransactStatementsResult> Transact(std::vector<StatementRequest> statements) {
    Answer<TransactStatementsResult> answer;
    TransactStatementsRequest request;
    request.statements = std::move(statements);
    ExecuteTransaction(&*engine_, {}, options_, std::move(request), answer.Catch());
    return answer.Take();
  }
  uint64_t plans() { return engine_->stats().plans; }

  TestEngine engine_;
  StatementOptions options_;
  bool is_denied_ = false;
  std::vector<std::string> threads_;  // of the calls of the gate
};

TEST_F(PartiqlStatementsTest, ADeniedStatementIsNotPlanned) {
  is_denied_ = true;
  for (const char* const text : {"SELECT * FROM tab WHERE pk = 'a'", "INSERT INTO tab VALUE {'pk': 'a', 'sk': 1}",
                                 "SELECT * FROM tab.absent", "SELECT * FROM absent"}) {
    EXPECT_EQ(GetApiError(Execute(text))->type, ApiErrorType::kAccessDenied) << text;
    const absl::StatusOr<BatchStatementResult> batch = Batch({Request(text)});
    ASSERT_TRUE(batch.ok());
    EXPECT_EQ(StatementErrorCode(batch->responses[0].error), "AccessDenied") << text;
  }
  EXPECT_EQ(GetApiError(Transact({Request("SELECT * FROM tab WHERE pk = 'a' AND sk = 1")}).status())->type,
            ApiErrorType::kAccessDenied);
  EXPECT_EQ(plans(), 0u);
  EXPECT_THAT(threads_, SizeIs(9));
}

TEST_F(PartiqlStatementsTest, APlanIsMadeOnceForTheGateAndTheExecution) {
  EXPECT_TRUE(Execute("SELECT * FROM tab WHERE pk = 'a'").ok());
  EXPECT_EQ(plans(), 1u);
  EXPECT_TRUE(Batch({Request("SELECT * FROM tab WHERE pk = 'a' AND sk = 1"),
                     Request("SELECT * FROM tab WHERE pk = 'a' AND sk = 2")})
                  .ok());
  EXPECT_EQ(plans(), 3u);
}

TEST_F(PartiqlStatementsTest, PlansAreMadeOnTheirPool) {
  EXPECT_TRUE(Execute("INSERT INTO tab VALUE {'pk': 'a', 'sk': 1}").ok());
  EXPECT_TRUE(Batch({Request("SELECT * FROM tab WHERE pk = 'a' AND sk = 1")}).ok());
  EXPECT_TRUE(Transact({Request("SELECT * FROM tab WHERE pk = 'a' AND sk = 1")}).ok());
  EXPECT_THAT(threads_, SizeIs(3));
  EXPECT_THAT(threads_, Each("arm-plans"));
}

TEST_F(PartiqlStatementsTest, LongTransactionsArePlannedInTurns) {
  std::vector<StatementRequest> statements;
  for (int i = 0; i < 100; ++i) {
    statements.push_back(Request(Cat("SELECT n FROM tab WHERE pk = 'a' AND sk = ", i, std::string(8000, ' '))));
  }
  const absl::StatusOr<TransactStatementsResult> result = Transact(std::move(statements));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->items, SizeIs(100));
  EXPECT_EQ(plans(), 100u);
}

TEST_F(PartiqlStatementsTest, AStatementWhoseClientHasGoneIsNotPlanned) {
  RequestContext context;
  context.cancelled = [] { return true; };
  Answer<ExecuteStatementResult> answer;
  ExecuteStatementRequest request;
  request.statement = Request("SELECT * FROM tab");
  ExecuteStatement(&*engine_, context, options_, std::move(request), answer.Catch());
  EXPECT_TRUE(absl::IsCancelled(answer.Take().status()));
  EXPECT_THAT(threads_, SizeIs(0));
}

}  // namespace armature::engine::partiql_statements_test
