// Memory of answers, which operations take before they make them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/items/message_memory.h"
#include "engine/partiql/statements.h"
#include "storage/base/held_memory.h"
#include "storage/base/strings.h"
#include "tests/unit/engine/items/group_test_util.h"

namespace armature::engine::answer_memory_test {

using codec::S;

constexpr char kTable[] = "things";
constexpr int kItems = 10;
constexpr int64_t kItemBytes = 100'000;

// Lends a number of bytes.
class Lender final : public MemoryLender {
 public:
  explicit Lender(int64_t bytes) : left_(bytes) {}
  bool TryTake(const MemoryClient&, size_t bytes) override {
    if (left_.fetch_sub(static_cast<int64_t>(bytes)) >= static_cast<int64_t>(bytes)) return true;
    left_.fetch_add(static_cast<int64_t>(bytes));
    return false;
  }
  void Take(const MemoryClient&, size_t bytes) override { left_.fetch_sub(static_cast<int64_t>(bytes)); }
  void Return(const MemoryClient&, size_t bytes) override { left_.fetch_add(static_cast<int64_t>(bytes)); }
  int64_t left() const { return left_.load(); }
  // True when all has been returned, which may be after the answer.
  bool IsWhole(int64_t bytes) const {
    const absl::Time give_up = absl::Now() + kPatience;
    while (left() != bytes && absl::Now() < give_up) std::this_thread::yield();
    return left() == bytes;
  }

 private:
  std::atomic<int64_t> left_;
};

class AnswerMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(engine_.CreateTable(PlainTable(kTable)).ok());
    for (int i = 0; i < kItems; ++i) ASSERT_TRUE(engine_.Put(WriteTo(kTable, Large(i, 'x'))).ok());
  }
  static std::string Large(int i, char filling) {
    return PlainItem("pk", std::to_string(i), {{"text", S(std::string(kItemBytes, filling))}});
  }
  static std::vector<std::string> Keys() {
    std::vector<std::string> keys;
    for (int i = 0; i < kItems; ++i) keys.push_back(PlainItem("pk", std::to_string(i)));
    return keys;
  }
  static RequestContext With(Lender* lender) {
    RequestContext context;
    context.memory = {lender};
    return context;
  }
  static std::string NameOf(const absl::Status& status) { return std::string(ErrorNameOf(status)); }

  TestEngine engine_;
};

TEST_F(AnswerMemoryTest, ABatchOfReadsLeavesOutWhatHasNoMemory) {
  // Four items, each as it was read and as the answer.
  Lender lender(2 * 4 * (kItemBytes + 100));
  {
    const auto result = Ask(&*engine_, &Engine::BatchGetItem, BatchOfKeys(kTable, Keys()), With(&lender));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->tables[0].items.size(), 4u);
    ASSERT_EQ(result->unprocessed.size(), 1u);
    EXPECT_EQ(result->unprocessed[0].key_wires->size(), 6u);
    EXPECT_LT(lender.left(), 2000);
  }
  EXPECT_TRUE(lender.IsWhole(2 * 4 * (kItemBytes + 100)));
  Lender none(0);
  const auto refused = Ask(&*engine_, &Engine::BatchGetItem, BatchOfKeys(kTable, Keys()), With(&none));
  EXPECT_EQ(NameOf(refused.status()), "ServiceUnavailable");
}

TEST_F(AnswerMemoryTest, ATransactionOfReadsHasAllItemsOrNone) {
  Lender lender(2 * 4 * (kItemBytes + 100));
  const auto result = TransactRead(engine_, ReadOf(kTable, Keys()), With(&lender));
  EXPECT_EQ(NameOf(result.status()), "ServiceUnavailable");
  EXPECT_TRUE(lender.IsWhole(2 * 4 * (kItemBytes + 100)));
}

TEST_F(AnswerMemoryTest, ItemsOfACancellationTakeMemory) {
  std::vector<TransactAction> actions;
  for (const std::string& key : Keys()) {
    actions.push_back(ActionOf(WriteKind::kConditionCheck, kTable, key, "attribute_not_exists(pk)"));
    actions.back().write.return_values_on_condition_check_failure = "ALL_OLD";
  }
  Lender little(4 * kItemBytes);
  EXPECT_EQ(NameOf(Transact(engine_, TransactionOf(actions), With(&little)).status()), "ServiceUnavailable");
  EXPECT_TRUE(little.IsWhole(4 * kItemBytes));
  Lender enough(4 * kItems * kItemBytes);
  EXPECT_EQ(NameOf(Transact(engine_, TransactionOf(actions), With(&enough)).status()), "TransactionCanceledException");
  EXPECT_TRUE(enough.IsWhole(4 * kItems * kItemBytes));
}

TEST_F(AnswerMemoryTest, AWriteThatReturnsAttributesIsRefusedBeforeItIsWritten) {
  Lender none(0);
  WriteRequest put = WriteTo(kTable, Large(0, 'y'));
  put.return_values = "ALL_OLD";
  EXPECT_EQ(NameOf(engine_.Put(put, With(&none)).status()), "ServiceUnavailable");
  const absl::StatusOr<GetItemResult> got = engine_.Get(GetFrom(kTable, PlainItem("pk", "0")));
  ASSERT_TRUE(got.ok() && got->item.has_value());
  EXPECT_THAT(std::string(got->item->view()), testing::HasSubstr("xxx"));
  // Without attributes the answer is small.
  put.return_values = "NONE";
  EXPECT_TRUE(engine_.Put(put, With(&none)).ok());
}

TEST_F(AnswerMemoryTest, StatementsTakeTheMemoryOfTheirMessage) {
  const auto select = [this](Lender* lender) {
    ExecuteStatementRequest request;
    request.statement.statement = "SELECT * FROM things";
    Answer<ExecuteStatementResult> answer;
    ExecuteStatement(&*engine_, With(lender), {}, request, answer.Catch());
    return answer.Take();
  };
  Lender little(4 * kItemBytes);
  EXPECT_EQ(NameOf(select(&little).status()), "ServiceUnavailable");
  EXPECT_TRUE(little.IsWhole(4 * kItemBytes));
  Lender enough(3 * kItems * kItemBytes);
  const absl::StatusOr<ExecuteStatementResult> result = select(&enough);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->items.size(), size_t{kItems});
  EXPECT_GE(result->memory.counted(), size_t{2 * kItems * kItemBytes});
}

TEST_F(AnswerMemoryTest, AttributesThatStatementsReturnCountAsAMessage) {
  constexpr size_t kValues = 10'000;
  const std::string item =
      PlainItem("many", "0", {{"list", codec::L(std::vector<std::string>(kValues, codec::N("1")))}});
  const auto put = [&] { ASSERT_TRUE(engine_.Put(WriteTo(kTable, item)).ok()); };
  StatementRequest statement;
  statement.statement = "DELETE FROM things WHERE pk = 'many' AND sk = 0 RETURNING ALL OLD *";
  Lender lender(1 << 30);
  put();
  {
    ExecuteStatementRequest request;
    request.statement = statement;
    Answer<ExecuteStatementResult> answer;
    ExecuteStatement(&*engine_, With(&lender), {}, std::move(request), answer.Catch());
    EXPECT_GE(answer.Take()->memory.counted(), 160 * kValues);
  }
  put();
  {
    BatchStatementRequest request;
    request.statements = {statement};
    Answer<BatchStatementResult> answer;
    BatchExecuteStatement(&*engine_, With(&lender), {}, std::move(request), answer.Catch());
    EXPECT_GE(answer.Take()->memory.counted(), 160 * kValues);
  }
  EXPECT_TRUE(lender.IsWhole(1 << 30));
}

TEST_F(AnswerMemoryTest, ItemsOfFailedStatementsTakeMemory) {
  BatchStatementRequest request;
  StatementRequest& statement = request.statements.emplace().emplace_back();
  statement.statement = "UPDATE things SET n = 1 WHERE pk = 'pk' AND sk = 0 AND n = 1";
  statement.return_values_on_condition_check_failure = "ALL_OLD";
  Lender lender(1 << 30);
  {
    Answer<BatchStatementResult> answer;
    BatchExecuteStatement(&*engine_, With(&lender), {}, std::move(request), answer.Catch());
    const absl::StatusOr<BatchStatementResult> result = answer.Take();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(NameOf(result->responses[0].error), "ConditionalCheckFailedException");
    EXPECT_GE(result->memory.counted(), size_t{2 * kItemBytes});
  }
  EXPECT_TRUE(lender.IsWhole(1 << 30));
}

// Statements that select each level of maps around one text: every level holds the text again.
class SelectedColumnsTest : public AnswerMemoryTest {
 protected:
  static constexpr size_t kLevels = 30;

  void SetUp() override {
    ASSERT_TRUE(engine_.CreateTable(PlainTable(kTable)).ok());
    std::string path;
    for (size_t i = 0; i < kLevels; ++i) {
      path += Cat(i == 0 ? "" : ".", "n", i);
      columns_ += Cat(i == 0 ? "" : ", ", path);
    }
  }
  void PutItems(int count, size_t text_bytes) {
    std::string value = S(std::string(text_bytes, 'x'));
    for (size_t i = kLevels; --i > 0;) value = codec::M({{Cat("n", i), value}});
    for (int i = 0; i < count; ++i) {
      const absl::Status put =
          engine_.Put(WriteTo(kTable, PlainItem("a", std::to_string(i), {{"n0", value}}))).status();
      ASSERT_TRUE(put.ok()) << put;
    }
  }
  StatementRequest Select(const std::string& where) const {
    StatementRequest request;
    request.statement = Cat("SELECT ", columns_, " FROM things WHERE pk = 'a'", where);
    return request;
  }
  StatementRequest SelectOne(int i) const { return Select(Cat(" AND sk = ", i)); }

  absl::StatusOr<ExecuteStatementResult> Execute(StatementRequest statement, Lender* lender) {
    ExecuteStatementRequest request;
    request.statement = std::move(statement);
    Answer<ExecuteStatementResult> answer;
    ExecuteStatement(&*engine_, With(lender), {}, std::move(request), answer.Catch());
    return answer.Take();
  }
  absl::StatusOr<BatchStatementResult> Batch(int count, Lender* lender) {
    BatchStatementRequest request;
    request.statements.emplace();
    for (int i = 0; i < count; ++i) request.statements->push_back(SelectOne(i));
    Answer<BatchStatementResult> answer;
    BatchExecuteStatement(&*engine_, With(lender), {}, std::move(request), answer.Catch());
    return answer.Take();
  }
  absl::StatusOr<TransactStatementsResult> Transact(int count, Lender* lender) {
    TransactStatementsRequest request;
    request.statements.emplace();
    for (int i = 0; i < count; ++i) request.statements->push_back(SelectOne(i));
    Answer<TransactStatementsResult> answer;
    ExecuteTransaction(&*engine_, With(lender), {}, std::move(request), answer.Catch());
    return answer.Take();
  }

 private:
  std::string columns_;
};

TEST_F(SelectedColumnsTest, TakeTheMemoryOfWhatIsSelected) {
  constexpr size_t kTextBytes = 10'000;
  constexpr size_t kSelected = kLevels * kTextBytes;
  PutItems(2, kTextBytes);
  // More than the items take.
  constexpr auto kLittle = static_cast<int64_t>(kSelected);
  Lender little(kLittle);
  EXPECT_EQ(NameOf(Execute(SelectOne(0), &little).status()), "ServiceUnavailable");
  EXPECT_EQ(NameOf(Execute(Select(""), &little).status()), "ServiceUnavailable");
  EXPECT_EQ(NameOf(Batch(2, &little)->responses[0].error), "ServiceUnavailable");
  EXPECT_EQ(NameOf(Transact(2, &little).status()), "ServiceUnavailable");
  EXPECT_TRUE(little.IsWhole(kLittle));
  Lender enough(1 << 30);
  EXPECT_GE(Execute(SelectOne(0), &enough)->memory.counted(), 2 * kSelected);
  EXPECT_GE(Execute(Select(""), &enough)->memory.counted(), 4 * kSelected);
  EXPECT_GE(Batch(2, &enough)->memory.counted(), 4 * kSelected);
  EXPECT_GE(Transact(2, &enough)->memory.counted(), 4 * kSelected);
  // A small part of an item takes little.
  StatementRequest part;
  part.statement = "SELECT n0.absent, sk FROM things WHERE pk = 'a' AND sk = 0";
  EXPECT_EQ(Execute(part, &enough)->memory.counted(), 0u);
  EXPECT_TRUE(enough.IsWhole(1 << 30));
}

TEST_F(SelectedColumnsTest, AreBoundedInOneAnswer) {
  // An answer has room for three of these items.
  PutItems(4, 350'000);
  Lender enough(1 << 30);
  EXPECT_TRUE(Execute(SelectOne(0), &enough).ok());
  EXPECT_TRUE(Execute(Select(""), &enough).ok());
  EXPECT_TRUE(Transact(3, &enough).ok());
  EXPECT_EQ(NameOf(Transact(4, &enough).status()), "ValidationException");
  {
    const absl::StatusOr<BatchStatementResult> batch = Batch(4, &enough);
    ASSERT_TRUE(batch.ok()) << batch.status();
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(batch->responses[i].item.has_value());
    EXPECT_FALSE(batch->responses[3].item.has_value());
    EXPECT_EQ(NameOf(batch->responses[3].error), "ValidationException");
  }
  // The numbers of an item take more in an answer.
  std::string value = codec::L(std::vector<std::string>(10'000, codec::N("1e125")));
  for (size_t i = kLevels; --i > 0;) value = codec::M({{Cat("n", i), value}});
  ASSERT_TRUE(engine_.Put(WriteTo(kTable, PlainItem("a", "0", {{"n0", value}}))).ok());
  EXPECT_EQ(NameOf(Execute(SelectOne(0), &enough).status()), "ValidationException");
  EXPECT_EQ(NameOf(Execute(Select(""), &enough).status()), "ValidationException");
  EXPECT_TRUE(enough.IsWhole(1 << 30));
}

TEST(MessageMemory, CountsTheValues) {
  EXPECT_GE(MessageMemory(PlainItem("a", "b")), 2 * 160u);
  EXPECT_LT(MessageMemory(PlainItem("a", "b")), 600u);
}

}  // namespace armature::engine::answer_memory_test
