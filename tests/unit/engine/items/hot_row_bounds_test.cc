// Contended rows with large items and answers, and those in tables whose families are made meanwhile.

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/request_trace.h"
#include "storage/base/strings.h"
#include "tests/unit/engine/held_syncs.h"
#include "tests/unit/engine/items/group_test_util.h"

namespace armature::engine::hot_row_bounds_test {

using codec::N;
using codec::S;

constexpr char kTable[] = "things";
constexpr char kMetered[] = "metered";
constexpr size_t kLargeBytes = 390'000;

std::string Key(std::string_view name) { return PlainItem(name, "1"); }
std::string Large(std::string_view name, char fill, size_t bytes = kLargeBytes) {
  return PlainItem(name, "1", {{"text", S(std::string(bytes, fill))}});
}

WriteRequest IncrementOf(const std::string& table) {
  WriteRequest request = WriteTo(table, Key("hot"));
  request.expressions.update = "ADD n :one";
  request.expressions.values_wire = codec::Item({{":one", N("1")}});
  return request;
}

class HotRowBoundsTest : public testing::Test {
 protected:
  HotRowBoundsTest() : engine_(store::Durability::kSync, Options(), LimitQueue) {}
  ~HotRowBoundsTest() override { HeldSyncs::End(); }

  static EngineOptions Options() {
    EngineOptions options;
    options.transaction_wait = kPatience;
    options.enforce_throughput = true;
    return options;
  }
  static void LimitQueue(store::DatabaseOptions* options) { options->commit_queue_bytes_max = 8 << 20; }

  void SetUp() override { ASSERT_TRUE(engine_.CreateTable(PlainTable(kTable)).ok()); }

  Answer<WriteResult> Put(const std::string& table, std::string item) {
    Answer<WriteResult> answer;
    engine_->PutItem({}, WriteTo(table, std::move(item)), answer.Catch());
    return answer;
  }
  // Lets a write of the row wait for another one. The row is contended after that.
  void Contend(const std::string& table) {
    HeldSyncs::Begin();
    Answer<WriteResult> first = Put(table, Large("hot", '1', 1));
    HeldSyncs::AwaitOne();
    Answer<WriteResult> second = Put(table, Large("hot", '2', 1));
    HeldSyncs::End();
    ASSERT_TRUE(first.Take().ok());
    ASSERT_TRUE(second.Take().ok());
  }
  // Holds the committer in a write of the row, with another one queued behind it: the next holder of the lock decides
  // on the second one.
  std::array<Answer<WriteResult>, 2> HoldTwo(const std::string& table) {
    HeldSyncs::Begin();
    Answer<WriteResult> first = Put(table, Large("hot", 'a'));
    HeldSyncs::AwaitOne();
    Answer<WriteResult> second = Put(table, Large("hot", 'b'));
    AwaitQueued(1);
    return {first, second};
  }
  void AwaitQueued(size_t commits) {
    EXPECT_TRUE(TestEngine::WaitUntil([&] { return Queued() == commits; }).ok());
  }
  size_t Queued() { return engine_.database().commits().counters().queue_commits; }
  int64_t Count(const std::string& table) {
    const absl::StatusOr<GetItemResult> got = engine_.Get(GetFrom(table, Key("hot")));
    EXPECT_TRUE(got.ok() && got->item.has_value()) << got.status();
    return std::stoll(std::string(model::ItemView(got->item->view()).Find("n")->scalar()));
  }

  // Increments the row on several threads until `during` has returned. Returns the number of increments.
  template <class During>
  int64_t IncrementDuring(const std::string& table, During during) {
    constexpr int kThreads = 4;
    std::atomic<int64_t> acknowledged = 0;
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        while (!stop) {
          const absl::StatusOr<WriteResult> result = engine_.Update(IncrementOf(table));
          EXPECT_TRUE(result.ok()) << result.status();
          ++acknowledged;
        }
      });
    }
    EXPECT_TRUE(TestEngine::WaitUntil([&] { return acknowledged > 20; }).ok());
    during();
    stop = true;
    for (std::thread& thread : threads) thread.join();
    return acknowledged;
  }

  TestEngine engine_;
};

TEST_F(HotRowBoundsTest, LargeItemsOfOneRowLeaveRoomInTheQueueForOthers) {
  constexpr int kWrites = 40;
  Contend(kTable);
  HeldSyncs::Begin();
  std::vector<Answer<WriteResult>> answers = {Put(kTable, Large("other", 'a'))};
  HeldSyncs::AwaitOne();
  for (int i = 0; i < kWrites; ++i) answers.push_back(Put(kTable, Large("hot", static_cast<char>('a' + i % 26))));
  // The lock is released early below the limit, and kept by the last one of these.
  AwaitQueued(4);
  EXPECT_LT(engine_.database().commits().counters().queue_bytes, size_t{4} << 20);
  answers.push_back(Put(kTable, Large("third", 'a')));
  HeldSyncs::End();
  for (auto& answer : answers) EXPECT_EQ(answer.Take().status(), absl::OkStatus());
}

// Threads on which answers run that had to wait for a queued value.
TEST_F(HotRowBoundsTest, LongAnswersLeaveTheThreadOfCommitCallbacks) {
  ASSERT_TRUE(Put(kTable, Large("b", 'x')).Take().ok());
  ASSERT_TRUE(Put(kTable, Large("c", 'x')).Take().ok());
  Contend(kTable);
  std::array<Answer<WriteResult>, 2> held = HoldTwo(kTable);
  const auto read = [this](const std::vector<std::string>& keys, std::string* thread) {
    Answer<TransactGetResult> answer;
    engine_->TransactGetItems({}, ReadOf(kTable, keys),
                              [thread, done = answer.Catch()](absl::StatusOr<TransactGetResult> result) mutable {
                                std::array<char, 16> name = {};
                                pthread_getname_np(pthread_self(), name.data(), name.size());
                                *thread = name.data();
                                std::move(done)(std::move(result));
                              });
    return answer;
  };
  std::string short_thread;
  std::string long_thread;
  Answer<TransactGetResult> short_answer = read({Key("hot")}, &short_thread);
  Answer<TransactGetResult> long_answer = read({Key("hot"), Key("b"), Key("c")}, &long_thread);
  AwaitQueued(3);
  EXPECT_FALSE(short_answer.IsThere() || long_answer.IsThere());
  HeldSyncs::End();
  EXPECT_TRUE(short_answer.Take().ok());
  const absl::StatusOr<TransactGetResult> items = long_answer.Take();
  ASSERT_TRUE(items.ok()) << items.status();
  EXPECT_EQ(model::ItemView(items->items[0]->view()).Find("text")->scalar().front(), 'b');
  EXPECT_EQ(short_thread, "arm-answer");
  EXPECT_EQ(long_thread, "arm-locks");
  for (auto& answer : held) EXPECT_TRUE(answer.Take().ok());
}

TEST_F(HotRowBoundsTest, ReadsAreChargedWhenTheyAreMade) {
  model::TableDefinition definition = PlainTable(kMetered);
  definition.billing_mode = "PROVISIONED";
  definition.provisioned = model::Throughput{1, 40'000};
  ASSERT_TRUE(engine_.CreateTable(definition).ok());
  Contend(kMetered);
  std::array<Answer<WriteResult>, 2> held = HoldTwo(kMetered);
  std::vector<Answer<TransactGetResult>> reads(2);
  // Each takes 192 units, of at most 300 that have been saved up.
  for (auto& read : reads) engine_->TransactGetItems({}, ReadOf(kMetered, {Key("hot")}), read.Catch());
  AwaitQueued(3);
  EXPECT_EQ(ErrorNameOf(engine_.Get(GetFrom(kMetered, Key("hot"))).status()), "ProvisionedThroughputExceededException");
  HeldSyncs::End();
  EXPECT_TRUE(reads[0].Take().ok());
  for (auto& answer : held) EXPECT_TRUE(answer.Take().ok());
}

TEST_F(HotRowBoundsTest, TheWaitForAQueuedValueIsTracedAsACommit) {
  Contend(kTable);
  std::array<Answer<WriteResult>, 2> held = HoldTwo(kTable);
  WriteRequest request = WriteTo(kTable, Key("hot"));
  request.expressions.condition = "attribute_not_exists(pk)";
  RequestContext context;
  const auto trace = context.trace = std::make_shared<RequestTrace>(/*is_timed=*/true);
  Answer<WriteResult> refused;
  engine_->PutItem(std::move(context), std::move(request), refused.Catch());
  AwaitQueued(2);
  EXPECT_EQ(trace->wait_ns(WaitFor::kCommit), 0);
  HeldSyncs::End();
  EXPECT_EQ(ErrorNameOf(refused.Take().status()), "ConditionalCheckFailedException");
  EXPECT_GT(trace->wait_ns(WaitFor::kCommit), 0);
  for (auto& answer : held) EXPECT_TRUE(answer.Take().ok());
}

// The check has locked a row, and waits for its queued write, when that one fails.
TEST_F(HotRowBoundsTest, ACheckOutlivesTheFailureOfAWriteThatItWaitsFor) {
  model::TableDefinition definition = PlainTable("checked");
  definition.attribute_definitions.push_back({"l", "S"});
  definition.local_indexes = {IndexOf("ByL", {{"pk", "HASH"}, {"l", "RANGE"}}, "KEYS_ONLY")};
  ASSERT_TRUE(engine_.CreateTable(definition).ok());
  const auto put = [this](char fill) {
    return Put("checked", PlainItem("hot", "1", {{"l", S("l")}, {"text", S(std::string(1, fill))}}));
  };
  ASSERT_TRUE(put('0').Take().ok());
  HeldSyncs::Begin();
  std::array<Answer<WriteResult>, 2> contend = {put('1'), put('2')};
  HeldSyncs::End();
  for (auto& answer : contend) ASSERT_TRUE(answer.Take().ok());
  {
    const std::shared_ptr<const store::CatalogSnapshot> catalog = engine_.database().catalog();
    const store::Table& table = *catalog->Find("checked");
    const store::Keyspace& index = table.FindIndex("ByL")->keyspace;
    store::WriteUnit unit(catalog);
    ASSERT_TRUE(engine_.database()
                    .rows()
                    .ReadRange(index, {}, store::Direction::kForward,
                               [&](std::string_view key, std::string_view) {
                                 unit.Delete(index, key);
                                 return store::RowVerdict::kContinue;
                               })
                    .ok());
    ASSERT_TRUE(engine_.database().change_log().CommitConsumed(unit, table.descriptor.id, {}).ok());
  }
  HeldSyncs::Begin();
  Answer<WriteResult> first = put('3');
  HeldSyncs::AwaitOne();
  Answer<WriteResult> second = put('4');
  EXPECT_EQ(Queued(), 1U);
  VerifyTableRequest request;
  request.table_name = "checked";
  Answer<VerifyTableResult> verified;
  engine_->VerifyTable(request, verified.Catch());
  AwaitQueued(2);
  HeldSyncs::End(ENOSPC);
  EXPECT_TRUE(TestEngine::WaitUntil([&] { return engine_.database().disk_report().has_failed; }).ok());
  HeldSyncs::End();
  const absl::StatusOr<VerifyTableResult> page = verified.Take();
  EXPECT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(ErrorNameOf(first.Take().status()), "ServiceUnavailable");
  EXPECT_EQ(ErrorNameOf(second.Take().status()), "ServiceUnavailable");
}

// A commit that waits for the column family of another table is not queued: its locks are not released early.
TEST_F(HotRowBoundsTest, TransactionsThatWriteFirstToATableKeepTheirLocks) {
  constexpr int kTables = 12;
  for (int i = 0; i < kTables; ++i) ASSERT_TRUE(engine_.CreateTable(PlainTable(Cat("new", i))).ok());
  int64_t transactions = 0;
  const int64_t increments = IncrementDuring(kTable, [&] {
    for (int i = 0; i < kTables; ++i) {
      TransactAction increment =
          ActionOf(WriteKind::kUpdate, kTable, Key("hot"), "", "ADD n :one", codec::Item({{":one", N("1")}}));
      const auto done = Transact(
          engine_, TransactionOf({std::move(increment), ActionOf(WriteKind::kPut, Cat("new", i), Key("first"))}));
      EXPECT_TRUE(done.ok()) << done.status();
      if (done.ok()) ++transactions;
    }
  });
  EXPECT_EQ(transactions, kTables);
  EXPECT_EQ(Count(kTable), increments + transactions);
}

// Writes of the contended row stay behind a write of the same table that waits for the family of an index.
TEST_F(HotRowBoundsTest, WritesBehindAFamilyThatIsMadeKeepTheirLocks) {
  for (int round = 0; round < 8; ++round) {
    model::TableDefinition definition = PlainTable(Cat("indexed", round));
    const std::string& name = definition.table_name;
    definition.attribute_definitions.push_back({"l", "S"});
    definition.attribute_definitions.push_back({"g", "S"});
    definition.local_indexes = {IndexOf("ByL", {{"pk", "HASH"}, {"l", "RANGE"}}, "ALL")};
    definition.global_indexes = {IndexOf("ByG", {{"g", "HASH"}}, "ALL")};
    ASSERT_TRUE(engine_.CreateTable(definition).ok());
    const int64_t increments = IncrementDuring(name, [&] {
      EXPECT_TRUE(Put(name, PlainItem("cold", "1", {{"l", S("first")}})).Take().ok());
      // The first entry of the global index, and of the row itself in the local one.
      WriteRequest keys = WriteTo(name, Key("hot"));
      keys.expressions.update = "SET l = :v, g = :v";
      keys.expressions.values_wire = codec::Item({{":v", S("v")}});
      EXPECT_TRUE(engine_.Update(keys).ok());
    });
    EXPECT_EQ(Count(name), increments);
    for (const char* const index : {"ByL", "ByG"}) {
      ReadRequest request;
      request.table_name = name;
      request.index_name = index;
      request.at_least_sequence = engine_.database().change_log().watermark().value();
      const absl::StatusOr<Page> page = engine_.Scan(request);
      ASSERT_TRUE(page.ok()) << page.status();
      int64_t found = -1;
      for (const std::string& item : page->items) {
        if (const auto n = model::ItemView(item).Find("n"); n.has_value()) found = std::stoll(std::string(n->scalar()));
      }
      EXPECT_EQ(found, increments) << index;
    }
  }
}

// Many first writes of one row of a new table.
TEST_F(HotRowBoundsTest, FirstIncrementsOfANewTableAllCount) {
  constexpr int kThreads = 8;
  constexpr int kEach = 10;
  for (int round = 0; round < 5; ++round) {
    const std::string name = Cat("fresh", round);
    ASSERT_TRUE(engine_.CreateTable(PlainTable(name)).ok());
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < kEach; ++n) EXPECT_TRUE(engine_.Update(IncrementOf(name)).ok());
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Count(name), kThreads * kEach);
  }
}

}  // namespace armature::engine::hot_row_bounds_test
