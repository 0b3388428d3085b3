// Many operations that passed the capacity check and then waited must not overdraw the capacity together.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/strings.h"
#include "tests/unit/engine/items/group_test_util.h"

namespace armature::engine::overdraft_test {

using codec::N;
using codec::S;

constexpr char kTable[] = "things";
constexpr size_t kWaiting = 12;
// The table has saved three hundred units. A write of this item takes 301, a read 76, a transactional read 152.
constexpr size_t kLargeBytes = 300 * 1024;

class OverdraftTest : public testing::Test {
 protected:
  // With a stopped clock, consumed capacity is not refilled.
  static EngineOptions Options() {
    EngineOptions options;
    options.read_threads = 1;
    options.monotonic_ns = [] { return int64_t{0}; };
    options.transaction_wait = kPatience;
    return options;
  }

  void Create(int64_t reads, int64_t writes) {
    model::TableDefinition definition = PlainTable(kTable);
    definition.billing_mode = "PROVISIONED";
    definition.provisioned = model::Throughput{reads, writes};
    const absl::Status created = engine_.CreateTable(definition);
    ASSERT_TRUE(created.ok()) << created;
    const absl::Status put =
        engine_.Put(WriteTo(kTable, PlainItem("a", "1", {{"x", S(std::string(kLargeBytes, 'x'))}}))).status();
    ASSERT_TRUE(put.ok()) << put;
  }

  // A small write that holds its row lock until it is released.
  std::unique_ptr<HeldRequest<WriteResult>> HoldItem(std::string_view pk) {
    return std::make_unique<HeldRequest<WriteResult>>([this, pk = std::string(pk)](RequestContext context) {
      WriteRequest request = WriteTo(kTable, PlainItem(pk, "1"));
      request.expressions.condition = "n = :n";
      request.expressions.values_wire = codec::Item({{":n", N("1")}});
      return engine_.Put(std::move(request), std::move(context));
    });
  }

  // Number of answers without the error that the capacity is exceeded.
  template <class Result>
  static size_t Passed(std::vector<Answer<Result>>* answers) {
    size_t passed = 0;
    for (Answer<Result>& answer : *answers) {
      const absl::Status status = answer.Take().status();
      const std::string outcome = ReasonsOf(status);
      const bool refused = outcome.find("ProvisionedThroughputExceeded") != std::string::npos;
      EXPECT_TRUE(refused || status.ok() || outcome.find("ConditionalCheckFailed") != std::string::npos) << outcome;
      passed += refused ? 0 : 1;
    }
    return passed;
  }

  TestEngine engine_{store::Durability::kOs, Options()};
};

TEST_F(OverdraftTest, ScansThatWaitForAThread) {
  Create(1, 1000);
  ReadRequest scan;
  scan.table_name = kTable;
  scan.consistent_read = true;
  HeldRequest<Page> held([&](RequestContext context) { return engine_.Scan(scan, std::move(context)); });
  std::vector<Answer<ReadResult>> answers(kWaiting);
  std::vector<ItemCollector> pages(kWaiting);
  for (size_t i = 0; i < kWaiting; ++i) engine_->Scan({}, scan, &pages[i], answers[i].Catch());
  ASSERT_TRUE(held.Finish().ok());
  EXPECT_EQ(Passed(&answers), 3u) << "four with the one that held them up";
}

TEST_F(OverdraftTest, TransactionsThatReadAndWaitForTheirItems) {
  Create(1, 1000);
  const auto held = HoldItem("a");
  std::vector<Answer<TransactGetResult>> answers(kWaiting);
  for (Answer<TransactGetResult>& answer : answers) {
    engine_->TransactGetItems({}, ReadOf(kTable, {PlainItem("a", "1")}), answer.Catch());
  }
  EXPECT_EQ(ErrorNameOf(held->Finish().status()), "ConditionalCheckFailedException");
  EXPECT_EQ(Passed(&answers), 2u);
}

TEST_F(OverdraftTest, WritesThatWaitForTheirItemAndFail) {
  Create(1000, 2);
  const auto held = HoldItem("a");
  std::vector<Answer<WriteResult>> answers(kWaiting);
  for (Answer<WriteResult>& answer : answers) {
    WriteRequest request = WriteTo(kTable, PlainItem("a", "1"));
    request.expressions.condition = "attribute_not_exists(pk)";
    engine_->PutItem({}, std::move(request), answer.Catch());
  }
  EXPECT_EQ(ErrorNameOf(held->Finish().status()), "ConditionalCheckFailedException");
  EXPECT_EQ(Passed(&answers), 0u) << "it was used up by the first write, and by the one that held them up";
}

TEST_F(OverdraftTest, TransactionsThatWaitForTheirItemsAndFail) {
  Create(1000, 4);
  const auto held = HoldItem("a");
  std::vector<Answer<TransactWriteResult>> answers(kWaiting);
  for (Answer<TransactWriteResult>& answer : answers) {
    engine_->TransactWriteItems(
        {},
        TransactionOf({ActionOf(WriteKind::kConditionCheck, kTable, PlainItem("a", "1"), "attribute_not_exists(pk)")}),
        answer.Catch());
  }
  EXPECT_EQ(ErrorNameOf(held->Finish().status()), "ConditionalCheckFailedException");
  EXPECT_EQ(Passed(&answers), 1u);
}

TEST_F(OverdraftTest, RepeatsOfATransactionAreChargedAndNeverRefused) {
  Create(1, 1000);
  const TransactWriteRequest request = TransactionOf(
      {ActionOf(WriteKind::kPut, kTable, PlainItem("b", "1", {{"x", S(std::string(kLargeBytes, 'x'))}}))}, "token");
  ASSERT_TRUE(Transact(engine_, request).ok());
  // Each read takes 152 units of three hundred. The transaction is durable, so its repetition must not fail.
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Transact(engine_, request).ok()) << i;
  EXPECT_EQ(ErrorNameOf(engine_.Get(GetFrom(kTable, PlainItem("b", "1"))).status()),
            "ProvisionedThroughputExceededException");
}

TEST_F(OverdraftTest, ReadsOfOneItemThatWaitForAThread) {
  Create(1, 1000);
  engine_.Reopen();  // no row is in memory now
  ReadRequest scan;
  scan.table_name = kTable;
  HeldRequest<Page> held([&](RequestContext context) { return engine_.Scan(scan, std::move(context)); });
  std::vector<Answer<GetItemResult>> answers(kWaiting);
  for (Answer<GetItemResult>& answer : answers) {
    GetItemRequest get = GetFrom(kTable, PlainItem("a", "1"));
    get.consistent_read = true;
    engine_->GetItem({}, std::move(get), answer.Catch());
  }
  ASSERT_TRUE(held.Finish().ok());
  EXPECT_EQ(Passed(&answers), 4u) << "with the scan, whose 38 units come first";
}

}  // namespace armature::engine::overdraft_test
