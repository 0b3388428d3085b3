// Expressions that read items again and again: they leave the caller's thread, end a page, or are refused.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/base/strings.h"
#include "tests/unit/engine/items/group_test_util.h"

namespace armature::engine::inline_work_test {

using codec::S;

constexpr char kTable[] = "things";

// Joins `count` copies of `term` by `separator`.
std::string Repeated(const std::string& term, const std::string& separator, int count) {
  std::string text = term;
  for (int i = 1; i < count; ++i) text += Cat(separator, term);
  return text;
}

class InlineWorkTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(engine_.CreateTable(PlainTable(kTable)).ok()); }

  void Fill(int items, size_t bytes) {
    for (int i = 0; i < items; ++i) {
      const std::string item = PlainItem("p", std::to_string(i), {{"x", S(std::string(bytes, 'x'))}});
      ASSERT_TRUE(engine_.Put(WriteTo(kTable, item)).ok());
    }
  }

  ReadRequest QueryOf(const std::string& filter, std::optional<int64_t> limit) {
    ReadRequest request;
    request.table_name = kTable;
    request.limit = limit;
    request.expressions.key_condition = "pk = :p";
    request.expressions.filter = filter;
    request.expressions.values_wire = codec::Item({{":p", S("p")}, {":y", S("y")}});
    return request;
  }

  TestEngine engine_;
};

TEST_F(InlineWorkTest, AFilterThatReadsMuchRunsOnThePool) {
  Fill(3, 300'000);
  const auto is_answered_here = [this](const std::string& filter) {
    std::thread::id thread;
    Answer<ReadResult> answer;
    ItemCollector collector;
    engine_->Query({}, QueryOf(filter, 3), &collector,
                   [&thread, done = answer.Catch()](absl::StatusOr<ReadResult> result) mutable {
                     thread = std::this_thread::get_id();
                     std::move(done)(std::move(result));
                   });
    const absl::StatusOr<ReadResult> result = answer.Take();
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->scanned_count, 3);
    EXPECT_EQ(result->count, 3);
    EXPECT_EQ(collector.items.size(), 3u);
    return thread == std::this_thread::get_id();
  };
  EXPECT_TRUE(is_answered_here("NOT contains(x, :y)"));
  EXPECT_FALSE(is_answered_here(Cat("NOT (", Repeated("contains(x, :y)", " OR ", 100), ")")));
}

TEST_F(InlineWorkTest, APageEndsBehindMuchWorkOfItsFilter) {
  constexpr int kItems = 100;
  Fill(kItems, 10'000);
  const std::string in = Cat("a IN (", Repeated("b", ",", 99), ")");
  ReadRequest request = QueryOf(Cat("x = :y OR ", Repeated(in, " OR ", 15)), std::nullopt);
  int pages = 0;
  int64_t scanned = 0;
  do {
    absl::StatusOr<Page> page = engine_.Query(request);
    ASSERT_TRUE(page.ok()) << page.status();
    scanned += page->result.scanned_count;
    request.exclusive_start_key_wire = page->result.last_evaluated_key;
    ++pages;
  } while (request.exclusive_start_key_wire.has_value());
  EXPECT_EQ(scanned, kItems);
  EXPECT_GT(pages, 3);
}

TEST_F(InlineWorkTest, ATransactionMayNotReadItsItemsTooOften) {
  Fill(20, 400'000);
  const std::string condition = Cat("NOT (", Repeated("contains(x, :y)", " OR ", 200), ")");
  const auto checks = [&condition](int count) {
    TransactWriteRequest request;
    for (int i = 0; i < count; ++i) {
      request.actions.push_back(ActionOf(WriteKind::kConditionCheck, kTable, PlainItem("p", std::to_string(i)),
                                         condition, "", codec::Item({{":y", S("y")}})));
    }
    return request;
  };
  EXPECT_EQ(Transact(engine_, checks(5)).status(), absl::OkStatus());
  const std::optional<ApiError> refused = GetApiError(Transact(engine_, checks(20)).status());
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->type, ApiErrorType::kValidation);
  EXPECT_TRUE(refused->message.starts_with("The conditions and updates of the transaction would read 1600"))
      << refused->message;
}

}  // namespace armature::engine::inline_work_test
