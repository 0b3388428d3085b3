// An engine that is destroyed with requests in progress: each is answered once, and no continuation outlives the
// engine.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "storage/base/strings.h"
#include "tests/unit/engine/items/group_test_util.h"

namespace armature::engine::shutdown_test {

using codec::N;

constexpr char kTable[] = "things";
constexpr int kWrites = 300;

WriteRequest CountRequest(std::string_view key) {
  WriteRequest request = WriteTo(kTable, PlainItem(key, "1"));
  request.expressions.update = "ADD n :one";
  request.expressions.values_wire = codec::Item({{":one", N("1")}});
  return request;
}

std::string CountOf(TestEngine& engine, std::string_view key) {
  const absl::StatusOr<GetItemResult> got = engine.Get(GetFrom(kTable, PlainItem(key, "1")));
  if (!got.ok()) return got.status().ToString();
  const auto value = got->item.has_value() ? model::ItemView(got->item->view()).Find("n") : std::nullopt;
  return value.has_value() ? std::string(value->scalar()) : "0";
}

// Destroys the engine, and returns the number of successful answers. All must be there.
template <class T>
int AnsweredAtTheEnd(TestEngine& engine, std::vector<Answer<T>>& answers) {
  engine.StopEngine();
  int succeeded = 0;
  for (Answer<T>& answer : answers) {
    EXPECT_TRUE(answer.IsThere()) << "no answer when the engine had ended";
    const absl::StatusOr<T> result = answer.Take();
    succeeded += result.ok() ? 1 : 0;
    if (!result.ok()) {
      EXPECT_EQ(ErrorNameOf(result.status()), "ServiceUnavailable") << result.status();
    }
  }
  return succeeded;
}

TEST(Shutdown, WritesOfAHotRowEndBeforeTheEngine) {
  for (int round = 0; round < 3; ++round) {
    TestEngine engine(store::Durability::kSync);
    ASSERT_TRUE(engine.CreateTable(PlainTable(kTable)).ok());
    std::vector<Answer<WriteResult>> answers(kWrites);
    for (Answer<WriteResult>& answer : answers) engine->UpdateItem({}, CountRequest("hot"), answer.Catch());
    const int succeeded = AnsweredAtTheEnd(engine, answers);
    engine.Reopen();
    EXPECT_EQ(CountOf(engine, "hot"), std::to_string(succeeded));
  }
}

TEST(Shutdown, TransactionsAndBatchesEndBeforeTheEngine) {
  TestEngine engine(store::Durability::kSync);
  ASSERT_TRUE(engine.CreateTable(PlainTable(kTable)).ok());
  std::vector<Answer<TransactWriteResult>> transactions(kWrites);
  std::vector<Answer<TransactGetResult>> reads(kWrites);
  std::vector<Answer<BatchWriteResult>> batches(kWrites);
  const auto count_in = [](std::string_view key) {
    return ActionOf(WriteKind::kUpdate, kTable, PlainItem(key, "1"), "", "ADD n :one", codec::Item({{":one", N("1")}}));
  };
  for (size_t i = 0; i < kWrites; ++i) {
    engine->TransactWriteItems({}, TransactionOf({count_in("a"), count_in("b")}), transactions[i].Catch());
    engine->TransactGetItems({}, ReadOf(kTable, {PlainItem("a", "1"), PlainItem("b", "1")}), reads[i].Catch());
    engine->BatchWriteItem({}, BatchOf(kTable, {PutOf(PlainItem("c", std::to_string(i)))}), batches[i].Catch());
  }
  const int succeeded = AnsweredAtTheEnd(engine, transactions);
  for (const auto& read : reads) EXPECT_TRUE(read.IsThere());
  for (const auto& batch : batches) EXPECT_TRUE(batch.IsThere());
  engine.Reopen();
  EXPECT_EQ(CountOf(engine, "a"), std::to_string(succeeded));
  EXPECT_EQ(CountOf(engine, "b"), std::to_string(succeeded));
}

TEST(Shutdown, AReadThatWaitsForAnIndexEndsBeforeTheEngine) {
  EngineOptions options;
  options.apply_changes = false;
  TestEngine engine(store::Durability::kOs, options);
  model::TableDefinition indexed = PlainTable(kTable);
  indexed.attribute_definitions.push_back({"g", "S"});
  indexed.global_indexes = {IndexOf("ByG", {{"g", "HASH"}}, "ALL")};
  ASSERT_TRUE(engine.CreateTable(indexed).ok());
  const auto written = engine.Put(WriteTo(kTable, PlainItem("a", "1", {{"g", codec::S("g")}})));
  ASSERT_TRUE(written.ok()) << written.status();
  ReadRequest scan;
  scan.table_name = kTable;
  scan.index_name = "ByG";
  scan.at_least_sequence = written->change_sequence;
  ItemCollector page;
  std::vector<Answer<ReadResult>> answers(1);
  engine->Scan({}, scan, &page, answers[0].Catch());
  EXPECT_FALSE(answers[0].IsThere());
  EXPECT_EQ(AnsweredAtTheEnd(engine, answers), 0);
}

}  // namespace armature::engine::shutdown_test
