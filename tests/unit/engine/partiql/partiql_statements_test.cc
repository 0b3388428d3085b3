// The way of statements to their execution: authorised, then planned, in turns on the pool of plans.

#include "engine/partiql/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "engine/partiql/statement_steps.h"
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
  explicit PartiqlStatementsTest(EngineOptions options = {}) : engine_(store::Durability::kOs, std::move(options)) {
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

// One thread plans. Another request is queued while the first statement of a transaction is planned.
class PartiqlTurnsTest : public PartiqlStatementsTest {
 protected:
  PartiqlTurnsTest() : PartiqlTurnsTest(std::make_shared<std::atomic<int64_t>>(1)) {}

  // The number of statements that were planned when the other request had its turn.
  size_t PlannedBeforeTheOther(std::vector<StatementRequest> statements, int64_t ns_for_each) {
    absl::Notification had_its_turn;
    size_t planned = 0;
    size_t planned_before = 0;
    options_.gate = [&](const NeededRight&) {
      if (planned++ == 0) {
        engine_->RunPlanner(
            [&] {
              planned_before = planned;
              had_its_turn.Notify();
            },
            [](const absl::Status& refused) { ADD_FAILURE() << refused; });
      }
      clock_ns_->fetch_add(ns_for_each);
      return absl::OkStatus();
    };
    const absl::StatusOr<TransactStatementsResult> result = Transact(std::move(statements));
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(had_its_turn.WaitForNotificationWithTimeout(kPatience));
    return planned_before;
  }
  static std::vector<StatementRequest> Statements(const std::string& behind) {
    std::vector<StatementRequest> statements;
    for (int i = 0; i < 100; ++i) {
      statements.push_back(Request(Cat("SELECT n FROM tab WHERE pk = 'a' AND sk = ", i, behind)));
    }
    return statements;
  }

 private:
  explicit PartiqlTurnsTest(const std::shared_ptr<std::atomic<int64_t>>& clock_ns)
      : PartiqlStatementsTest(OptionsWith(clock_ns)), clock_ns_(clock_ns) {}
  static EngineOptions OptionsWith(const std::shared_ptr<std::atomic<int64_t>>& clock_ns) {
    EngineOptions options;
    options.read_threads = 1;
    options.monotonic_ns = [clock_ns] { return clock_ns->load(); };
    return options;
  }

  const std::shared_ptr<std::atomic<int64_t>> clock_ns_;
};

TEST_F(PartiqlTurnsTest, ATurnEndsWhenItsStatementsAreLong) {
  constexpr size_t kBytes = 8000;
  EXPECT_LE(PlannedBeforeTheOther(Statements(std::string(kBytes, ' ')), 0),
            partiql::StatementSteps::kTurnBytes / kBytes + 1);
}

TEST_F(PartiqlTurnsTest, ATurnEndsWhenItsStatementsHaveTakenLong) {
  EXPECT_LE(PlannedBeforeTheOther(Statements(""), partiql::StatementSteps::kTurnNs / 4), 4u);
}

}  // namespace armature::engine::partiql_statements_test
