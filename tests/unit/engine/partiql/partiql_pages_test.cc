// Pages of statements that read several partitions, and the items in answers of batches of writes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/partiql/statements.h"
#include "storage/codec/item_codec.h"
#include "storage/model/limits.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::partiql_pages_test {

using codec::N;
using codec::S;

constexpr size_t kItemBytesMax = 310'000;

// A bound on the memory of answers.
class BoundedLender final : public MemoryLender {
 public:
  explicit BoundedLender(int64_t bytes) : left_(bytes) {}
  bool TryTake(const MemoryClient&, size_t bytes) override {
    if (left_.fetch_sub(static_cast<int64_t>(bytes)) >= static_cast<int64_t>(bytes)) return true;
    left_.fetch_add(static_cast<int64_t>(bytes));
    return false;
  }
  void Take(const MemoryClient&, size_t bytes) override { left_.fetch_sub(static_cast<int64_t>(bytes)); }
  void Return(const MemoryClient&, size_t bytes) override { left_.fetch_add(static_cast<int64_t>(bytes)); }

 private:
  std::atomic<int64_t> left_;
};

class PartiqlPagesTest : public testing::Test {
 protected:
  struct Walk {
    std::vector<std::string> items;
    std::vector<size_t> counts;  // of the items of each page
    std::vector<size_t> bytes;   // of these items
  };

  void SetUp() override { ASSERT_TRUE(engine_.CreateTable(PlainTable("tab")).ok()); }

  void Put(const std::string& item) { ASSERT_TRUE(engine_.Put(WriteTo("tab", item)).ok()); }
  // All pages of a statement.
  Walk WalkOver(const StatementRequest& statement, std::optional<int64_t> limit = std::nullopt) {
    Walk walk;
    std::optional<std::string> token;
    do {
      ExecuteStatementRequest request;
      request.statement = statement;
      request.limit = limit;
      request.next_token = std::move(token);
      Answer<ExecuteStatementResult> answer;
      ExecuteStatement(&*engine_, {}, {}, std::move(request), answer.Catch());
      absl::StatusOr<ExecuteStatementResult> page = answer.Take();
      EXPECT_TRUE(page.ok()) << *statement.statement << ": " << page.status();
      if (!page.ok()) return walk;
      walk.counts.push_back(page->items.size());
      walk.bytes.push_back(0);
      for (std::string& item : page->items) {
        walk.bytes.back() += item.size();
        walk.items.push_back(std::move(item));
      }
      token = std::move(page->next_token);
    } while (token.has_value());
    return walk;
  }
  absl::StatusOr<BatchStatementResult> Batch(const std::vector<std::string>& texts, MemorySource memory = {}) {
    BatchStatementRequest request;
    request.statements.emplace();
    for (const std::string& text : texts) {
      StatementRequest& statement = request.statements->emplace_back();
      statement.statement = text;
      statement.return_values_on_condition_check_failure = "ALL_OLD";
    }
    RequestContext context;
    context.memory = memory;
    Answer<BatchStatementResult> answer;
    BatchExecuteStatement(&*engine_, context, {}, std::move(request), answer.Catch());
    return answer.Take();
  }
  static StatementRequest Request(std::string text, std::vector<std::string> parameters = {}) {
    StatementRequest request;
    request.statement = std::move(text);
    if (!parameters.empty()) request.parameters = std::move(parameters);
    return request;
  }

  TestEngine engine_;
};

TEST_F(PartiqlPagesTest, APageOfSeveralPartitionsEndsWhenAMegabyteIsRead) {
  std::vector<std::string> expected;
  std::string keys;
  for (int partition = 0; partition < 8; ++partition) {
    keys += Cat(keys.empty() ? "'" : ", '", partition, "'");
    for (int i = 0; i < 3; ++i) {
      expected.push_back(PlainItem(Cat(partition), Cat(i), {{"text", S(std::string(300'000, 'x'))}}));
      Put(expected.back());
    }
  }
  const Walk all = WalkOver(Request(Cat("SELECT * FROM tab WHERE pk IN [", keys, "]")));
  EXPECT_THAT(all.items, testing::SizeIs(expected.size()));
  for (const size_t bytes : all.bytes) EXPECT_LE(bytes, model::kPageMaxBytes + kItemBytesMax);
  // Also when almost nothing of what is read is answered.
  const Walk none = WalkOver(Request(Cat("SELECT * FROM tab WHERE pk IN [", keys, "] AND begins_with(text, 'y')")));
  EXPECT_THAT(none.items, testing::IsEmpty());
  EXPECT_GE(none.counts.size(), 24 * 300'000 / (model::kPageMaxBytes + kItemBytesMax));
  EXPECT_EQ(WalkOver(Request(Cat("SELECT sk FROM tab WHERE pk IN [", keys, "]"))).counts.size(), none.counts.size());
}

TEST_F(PartiqlPagesTest, APageOfSeveralPartitionsEndsWhenItsFilterHasWorkedMuch) {
  constexpr int kPartitions = 6;
  constexpr int kItems = 60;
  for (int partition = 0; partition < kPartitions; ++partition) {
    for (int i = 0; i < kItems; ++i) Put(PlainItem(Cat(partition), Cat(i), {{"x", S("x")}}));
  }
  // The constant counts as a whole, and what is sought is at its beginning.
  const size_t constant_bytes = 1'900'000;
  const Walk walk = WalkOver(Request("SELECT sk FROM tab WHERE pk IN ['0', '1', '2', '3', '4', '5'] AND contains(?, x)",
                                     {S(std::string(constant_bytes, 'x'))}));
  EXPECT_THAT(walk.items, testing::SizeIs(kPartitions * kItems));
  const size_t budget = size_t{144} << 20;
  EXPECT_GE(walk.counts.size(), 2u);
  for (const size_t count : walk.counts) EXPECT_LE(count, budget / constant_bytes + 1);
}

// A random table, and the items that statements select of it in their order.
class PartiqlPagesModelTest : public PartiqlPagesTest {
 protected:
  static constexpr int kPartitions = 6;

  void Fill() {
    for (int partition = 0; partition < kPartitions; ++partition) {
      const int count = Random(0, 12);
      for (int i = 0; i < count; ++i) {
        const int sk = Random(0, 40);
        const size_t bytes = Random(0, 2) == 0 ? static_cast<size_t>(Random(100'000, 300'000)) : 10;
        const std::string item =
            PlainItem(Cat(partition), Cat(sk), {{"n", N(Cat(Random(0, 1)))}, {"text", S(std::string(bytes, 'x'))}});
        Put(item);
        items_[partition][sk] = item;
      }
    }
  }
  // A statement, and its items.
  std::pair<std::string, std::vector<std::string>> Choose() {
    std::vector<int> partitions(kPartitions);
    for (int i = 0; i < kPartitions; ++i) partitions[i] = i;
    std::shuffle(partitions.begin(), partitions.end(), random_);
    partitions.resize(static_cast<size_t>(Random(2, kPartitions)));
    std::string text = "SELECT * FROM tab WHERE pk IN [";
    for (const int partition : partitions) text += Cat(text.ends_with("[") ? "'" : ", '", partition, "'");
    text += "]";
    const int sk_max = Random(0, 1) == 0 ? 100 : Random(0, 40);
    if (sk_max < 100) text += Cat(" AND sk < ", sk_max);
    const bool is_filtered = Random(0, 1) == 0;
    if (is_filtered) text += " AND n = 1";
    const int order = Random(0, 2);  // none, ascending, descending
    const bool is_backward = Random(0, 1) == 0;
    if (order > 0) {
      text += Cat(" ORDER BY pk ", order == 1 ? "ASC" : "DESC", ", sk ", is_backward ? "DESC" : "ASC");
      std::sort(partitions.begin(), partitions.end());
      if (order == 2) std::reverse(partitions.begin(), partitions.end());
    }
    std::vector<std::string> expected;
    for (const int partition : partitions) {
      std::vector<std::string> found;
      for (const auto& [sk, item] : items_[partition]) {
        const bool is_one = item.find(codec::Item({{"n", N("1")}})) != std::string::npos;
        if (sk < sk_max && (!is_filtered || is_one)) found.push_back(item);
      }
      if (order > 0 && is_backward) std::reverse(found.begin(), found.end());
      expected.insert(expected.end(), found.begin(), found.end());
    }
    return {text, expected};
  }
  int Random(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }

 private:
  std::mt19937 random_{20'261'130};
  std::map<int, std::map<int, std::string>> items_;  // by partition and sort key
};

// As answers show them: attributes by name.
std::vector<std::string> Canonical(const std::vector<std::string>& items) {
  std::vector<std::string> all;
  for (const std::string& item : items) all.push_back(codec::CanonicalizeItem(item)->bytes);
  return all;
}

TEST_F(PartiqlPagesModelTest, PagesAreTheItemsOfTheStatementInOrder) {
  Fill();
  for (int round = 0; round < 60; ++round) {
    const auto [text, expected] = Choose();
    const std::optional<int64_t> limit = Random(0, 1) == 0 ? std::nullopt : std::optional<int64_t>(Random(1, 20));
    const Walk walk = WalkOver(Request(text), limit);
    EXPECT_EQ(walk.items.size(), expected.size()) << text;
    EXPECT_TRUE(walk.items == Canonical(expected)) << text << ", limit " << limit.value_or(0);
    for (const size_t bytes : walk.bytes) EXPECT_LE(bytes, model::kPageMaxBytes + kItemBytesMax) << text;
    for (const size_t count : walk.counts) EXPECT_LE(static_cast<int64_t>(count), limit.value_or(INT64_MAX)) << text;
  }
}

// Items that are small by the rules, and of 13 MB with their numbers written out.
class PartiqlBatchAnswerTest : public PartiqlPagesTest {
 protected:
  static constexpr int kItems = 5;
  static constexpr size_t kAnswerMaxBytes = model::kTransactMaxWireBytes;

  void SetUp() override {
    PartiqlPagesTest::SetUp();
    const std::string numbers = codec::L(std::vector<std::string>(100'000, N("1e125")));
    for (int i = 0; i < kItems; ++i) Put(PlainItem("a", Cat(i), {{"n", numbers}}));
  }
  static std::vector<std::string> Statements(const std::string& before, const std::string& behind) {
    std::vector<std::string> all;
    for (int i = 0; i < kItems; ++i) all.push_back(Cat(before, " WHERE pk = 'a' AND sk = ", i, behind));
    return all;
  }
};

TEST_F(PartiqlBatchAnswerTest, ItemsOfDoneWritesAreLeftOutBeyondTheLimit) {
  const auto batch = Batch(Statements("UPDATE tab SET v = 1", " RETURNING ALL NEW *"));
  ASSERT_TRUE(batch.ok()) << batch.status();
  size_t bytes = 0;
  for (const BatchStatementResult::Response& each : batch->responses) {
    EXPECT_TRUE(each.error.ok()) << each.error;
    EXPECT_EQ(each.table_name, "tab");
    bytes += each.item.value_or("").size();
  }
  EXPECT_GT(bytes, kAnswerMaxBytes / 2);
  EXPECT_LE(bytes, kAnswerMaxBytes);
}

TEST_F(PartiqlBatchAnswerTest, FailedConditionsAreReportedWithTheItemsThatFindRoom) {
  const auto batch = Batch(Statements("UPDATE tab SET v = 1", " AND v = 5"));
  ASSERT_TRUE(batch.ok()) << batch.status();
  size_t bytes = 0;
  for (const BatchStatementResult::Response& each : batch->responses) {
    EXPECT_EQ(StatementErrorCode(each.error), "ConditionalCheckFailed");
    bytes += GetApiError(each.error)->item.size();
  }
  EXPECT_GT(bytes, kAnswerMaxBytes / 2);
  EXPECT_LE(bytes, kAnswerMaxBytes);
}

TEST_F(PartiqlBatchAnswerTest, WithoutMemoryAnItemIsLeftOutAndNothingFails) {
  BoundedLender none(0);
  const auto failed = Batch(Statements("DELETE FROM tab", " AND v = 5"), {&none, {}});
  ASSERT_TRUE(failed.ok()) << failed.status();
  for (const BatchStatementResult::Response& each : failed->responses) {
    EXPECT_EQ(StatementErrorCode(each.error), "ConditionalCheckFailed");
    EXPECT_EQ(GetApiError(each.error)->item, "");
  }
  const auto done = Batch(Statements("DELETE FROM tab", " RETURNING ALL OLD *"), {&none, {}});
  ASSERT_TRUE(done.ok()) << done.status();
  for (const BatchStatementResult::Response& each : done->responses) {
    EXPECT_TRUE(each.error.ok()) << each.error;
    EXPECT_FALSE(each.item.has_value());
  }
  EXPECT_THAT(WalkOver(Request("SELECT * FROM tab WHERE pk = 'a'")).items, testing::IsEmpty());
}

}  // namespace armature::engine::partiql_pages_test
