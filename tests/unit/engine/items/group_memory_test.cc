// Memory that batches and transactions hold while they wait for their commit, and that tokens leave behind.

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/strings.h"
#include "tests/unit/engine/items/group_test_util.h"

namespace armature::engine::group_memory_test {

using codec::N;
using codec::S;

constexpr char kTable[] = "things";

// Bytes allocated by malloc. With another allocator, as in sanitized builds, the value is meaningless.
int64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

class WaitingImagesTest : public testing::Test {
 protected:
  static constexpr int kGroups = 5;
  static constexpr int kItems = 10;
  static constexpr int64_t kItemBytes = 100'000;

  static EngineOptions Options() {
    EngineOptions options;
    options.apply_changes = false;
    return options;
  }
  void SetUp() override {
    model::TableDefinition table = PlainTable(kTable);
    table.attribute_definitions.push_back({"l", "S"});
    table.attribute_definitions.push_back({"g", "S"});
    table.local_indexes = {IndexOf("ByL", {{"pk", "HASH"}, {"l", "RANGE"}}, "ALL")};
    table.global_indexes = {IndexOf("ByG", {{"g", "HASH"}}, "ALL")};
    ASSERT_TRUE(engine_.CreateTable(table).ok());
    for (int group = 0; group < kGroups; ++group) {
      for (int item = 0; item < kItems; ++item) {
        ASSERT_TRUE(engine_.Put(WriteTo(kTable, Item(group, item, 'a'))).ok());
      }
    }
    engine_.database().change_log().SetConsumer(&consumer_);
    engine_->PutItem({}, WriteTo(kTable, PlainItem("first", "1", {{"g", S("g")}})), first_.Catch());
    consumer_.stuck.WaitForNotification();
  }
  static std::string Item(int group, int item, char filling) {
    return PlainItem(Cat("pk", group), std::to_string(item),
                     {{"l", S("l")}, {"x", S(std::string(kItemBytes, filling))}});
  }
  // Memory held by all waiting groups, as a multiple of the bytes of their items.
  template <class Result, class Start>
  double HeldBy(Start start) {
    std::vector<Answer<Result>> answers(kGroups);
    const int64_t before = HeapBytes();
    for (int group = 0; group < kGroups; ++group) start(group, answers[static_cast<size_t>(group)].Catch());
    const int64_t held = HeapBytes() - before;
    for (const Answer<Result>& answer : answers) EXPECT_FALSE(answer.IsThere());
    consumer_.release.Notify();
    for (Answer<Result>& answer : answers) {
      const absl::Status status = answer.Take().status();
      EXPECT_TRUE(status.ok()) << status;
    }
    EXPECT_TRUE(first_.Take().ok());
    engine_.database().change_log().SetConsumer(nullptr);
    return static_cast<double>(held) / (kGroups * kItems * kItemBytes);
  }

  StuckConsumer consumer_;
  Answer<WriteResult> first_;
  TestEngine engine_{store::Durability::kOs, Options()};
};

// The item as stored, and a write unit with a row and a local entry, whose buffer may be twice as large. The item as
// sent, the old item and a separate entry must not be held.
constexpr double kItemsHeldMax = 5.5;

TEST_F(WaitingImagesTest, OfTransactions) {
  const double held = HeldBy<TransactWriteResult>([this](int group, Callback<TransactWriteResult> done) {
    std::vector<TransactAction> actions;
    for (int item = 0; item < kItems; ++item) {
      actions.push_back(ActionOf(WriteKind::kPut, kTable, Item(group, item, 'b')));
    }
    engine_->TransactWriteItems({}, TransactionOf(std::move(actions)), std::move(done));
  });
  EXPECT_LT(held, kItemsHeldMax);
}

TEST_F(WaitingImagesTest, OfBatches) {
  const double held = HeldBy<BatchWriteResult>([this](int group, Callback<BatchWriteResult> done) {
    std::vector<BatchWrite> writes;
    for (int item = 0; item < kItems; ++item) writes.push_back(PutOf(Item(group, item, 'b')));
    engine_->BatchWriteItem({}, BatchOf(kTable, std::move(writes)), std::move(done));
  });
  EXPECT_LT(held, kItemsHeldMax);
}

// Number of tokens per round.
int Tokens() {
  const char* const text = std::getenv("ARMATURE_TOKENS");
  return text == nullptr ? 2000 : std::max(1, std::atoi(text));
}

TEST(TokenGrowth, ExpiredTokensLeaveNothing) {
  const auto now_ns = std::make_shared<std::atomic<int64_t>>(0);
  EngineOptions options;
  options.monotonic_ns = [now_ns] { return now_ns->load(); };
  TestEngine engine(store::Durability::kOs, options, [](store::DatabaseOptions* database) {
    // Small, so that cache and memtable are full after the first round.
    database->cache_bytes = size_t{1} << 20;
    database->memtable_bytes = size_t{1} << 20;
  });
  ASSERT_TRUE(engine.CreateTable(PlainTable(kTable)).ok());
  const auto transact = [&engine](const std::string& token) {
    TransactAction count =
        ActionOf(WriteKind::kUpdate, kTable, PlainItem("a", "1"), "", "ADD n :one", codec::Item({{":one", N("1")}}));
    return Transact(engine, TransactionOf({std::move(count)}, token)).status();
  };
  // Number of token rows by time, for all times.
  const auto left = [&engine] {
    size_t rows = 0;
    const auto sweep =
        engine.database().tokens().SweepExpired(INT64_MAX / 2, "", SIZE_MAX / 2, [&rows](std::string_view) {
          ++rows;
          return false;
        });
    EXPECT_TRUE(sweep.ok()) << sweep.status();
    return rows;
  };
  const auto is_there = [&engine](const std::string& token) {
    store::TokenRecord record;
    const auto got = engine.database().tokens().Find(token, store::ReadMode::kMayBlock, &record);
    return !got.ok() || *got == store::GetResult::kFound;
  };
  const int tokens = Tokens();
  constexpr int kRounds = 3;
  int64_t heap_after_first = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < tokens; ++i) {
      const absl::Status done = transact(Cat("r", round, "-", i));
      ASSERT_TRUE(done.ok()) << done;
    }
    EXPECT_GE(left(), static_cast<size_t>(tokens));
    *now_ns += 600'001LL * 1'000'000;
    // The sweep starts at the end of a transaction.
    ASSERT_TRUE(transact(Cat("last of ", round)).ok());
    ASSERT_TRUE(TestEngine::WaitUntil([&left] { return left() == 1; }).ok()) << left() << " rows are left";
    for (int i = 0; i < tokens; ++i) ASSERT_FALSE(is_there(Cat("r", round, "-", i))) << i;
    if (round == 0) heap_after_first = HeapBytes();
  }
  // Less memory than the tokens of the later rounds would need. With few tokens, the variation of the storage engine
  // would hide them.
  if (tokens < 50'000) return;
  constexpr int64_t kSlackBytes = 8 << 20;
  EXPECT_LT(HeapBytes() - heap_after_first, kSlackBytes + 20 * int64_t{tokens});
}

}  // namespace armature::engine::group_memory_test
