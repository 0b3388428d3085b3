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
#include "tests/unit/engine/group_test_util.h"

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

TEST(MessageMemory, CountsTheValues) {
  EXPECT_GE(MessageMemory(PlainItem("a", "b")), 2 * 160u);
  EXPECT_LT(MessageMemory(PlainItem("a", "b")), 600u);
}

}  // namespace armature::engine::answer_memory_test
