#include "engine/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "engine/items/validation_layer.h"
#include "storage/store/commit/lock_table.h"
#include "tests/support/wall_clock.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/item_model.h"

namespace armature::engine::engine_test {

constexpr char kTable[] = "things";

ReadRequest ScanOf(std::string table) {
  ReadRequest request;
  request.table_name = std::move(table);
  return request;
}

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status created = engine_.CreateTable(PlainTable(kTable));
    ASSERT_TRUE(created.ok()) << created;
  }

  absl::StatusOr<WriteResult> PutThing(std::string_view pk, std::string_view x) {
    return engine_.Put(WriteTo(kTable, PlainItem(pk, "1", {{"x", codec::S(x)}})));
  }
  std::string GetThing(std::string_view pk) {
    const absl::StatusOr<GetItemResult> got = engine_.Get(GetFrom(kTable, PlainItem(pk, "1")));
    if (!got.ok()) return got.status().ToString();
    return got->item.has_value() ? Printed(Decode(got->item->view())) : "nothing";
  }
  uint64_t UnitsWritten() { return engine_.database().commits().counters().units; }

  // A put that holds its row lock until `release`: it blocks in the callback that asks if the client is still
  // connected.
  struct LockHolder {
    absl::Notification locked;
    absl::Notification release;
    absl::StatusOr<WriteResult> result;
    std::thread thread;
  };
  std::unique_ptr<LockHolder> HoldLock(const std::string& pk) {
    auto holder = std::make_unique<LockHolder>();
    holder->thread = std::thread([this, pk, raw = holder.get()] {
      RequestContext context;
      context.cancelled = [raw] {
        if (!raw->locked.HasBeenNotified()) raw->locked.Notify();
        raw->release.WaitForNotification();
        return false;
      };
      raw->result = engine_.Put(WriteTo(kTable, PlainItem(pk, "1", {{"x", codec::S("holder")}})), context);
    });
    holder->locked.WaitForNotification();
    return holder;
  }
  static absl::Status LetGo(LockHolder* holder) {
    holder->release.Notify();
    holder->thread.join();
    return holder->result.status();
  }

  // One thread and a short queue: requests that wait for a lock must not occupy them.
  TestEngine engine_{store::Durability::kOs, {.read_threads = 1, .read_queue_max = 4, .index_build = {}}};
};

TEST_F(EngineTest, PutsGetsAndDeletes) {
  EXPECT_EQ(GetThing("a"), "nothing");
  absl::StatusOr<WriteResult> result = PutThing("a", "one");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->attributes.has_value());
  EXPECT_FALSE(result->capacity.has_value());
  EXPECT_EQ(GetThing("a"), "pk=S:a sk=N:1 x=S:one ");
  ASSERT_TRUE(PutThing("a", "two").ok());
  EXPECT_EQ(GetThing("a"), "pk=S:a sk=N:1 x=S:two ");
  ASSERT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem("a", "1"))).ok());
  EXPECT_EQ(GetThing("a"), "nothing");
  // Another spelling of a number is the same key.
  ASSERT_TRUE(engine_.Put(WriteTo(kTable, PlainItem("a", "1.50"))).ok());
  EXPECT_TRUE(engine_.Get(GetFrom(kTable, PlainItem("a", "15e-1")))->item.has_value());
}

TEST_F(EngineTest, GivesTheOldItemBack) {
  WriteRequest put = WriteTo(kTable, PlainItem("a", "1", {{"x", codec::S("one")}}));
  put.return_values = "ALL_OLD";
  EXPECT_FALSE(engine_.Put(put)->attributes.has_value());
  EXPECT_EQ(Printed(Decode(engine_.Put(put)->attributes->view())), "pk=S:a sk=N:1 x=S:one ");
  WriteRequest remove = WriteTo(kTable, PlainItem("a", "1"));
  remove.return_values = "ALL_OLD";
  EXPECT_EQ(Printed(Decode(engine_.Delete(remove)->attributes->view())), "pk=S:a sk=N:1 x=S:one ");
  EXPECT_FALSE(engine_.Delete(remove)->attributes.has_value());
}

TEST_F(EngineTest, FailedConditionChangesNothingAndShowsTheItemIfAsked) {
  ASSERT_TRUE(PutThing("a", "one").ok());
  WriteRequest put = WriteTo(kTable, PlainItem("a", "1", {{"x", codec::S("two")}}));
  put.expressions.condition = "attribute_not_exists(pk)";
  absl::Status failed = engine_.Put(put).status();
  EXPECT_EQ(ErrorNameOf(failed), "ConditionalCheckFailedException");
  EXPECT_EQ(GetApiError(failed)->message, "The conditional request failed");
  EXPECT_EQ(GetApiError(failed)->item, "");
  put.return_values_on_condition_check_failure = "ALL_OLD";
  failed = engine_.Put(put).status();
  EXPECT_EQ(Printed(Decode(GetApiError(failed)->item)), "pk=S:a sk=N:1 x=S:one ");
  EXPECT_EQ(GetThing("a"), "pk=S:a sk=N:1 x=S:one ");
  // The lock has been released.
  put.expressions.condition = "attribute_exists(pk)";
  EXPECT_TRUE(engine_.Put(put).ok());
}

TEST_F(EngineTest, RefusesReturnValuesThatOnlyUpdatesHave) {
  for (const char* value : {"ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"}) {
    WriteRequest request = WriteTo(kTable, PlainItem("a", "1"));
    request.return_values = value;
    for (const absl::Status& status : {engine_.Put(request).status(), engine_.Delete(request).status()}) {
      EXPECT_EQ(ErrorNameOf(status), "ValidationException") << value;
      EXPECT_EQ(status.message(), Cat(kEnvelope, "ReturnValues can only be ALL_OLD or NONE")) << value;
    }
  }
  WriteRequest unknown = WriteTo(kTable, PlainItem("a", "1"));
  unknown.return_values = "SOME";
  EXPECT_EQ(ErrorNameOf(engine_.Put(unknown).status()), "ValidationException");
  EXPECT_EQ(UnitsWritten(), 0u);
}

TEST_F(EngineTest, WritesNothingForAPutOfWhatIsThereAndADeleteOfNothing) {
  const absl::StatusOr<WriteResult> first = PutThing("a", "one");
  ASSERT_TRUE(first.ok()) << first.status();
  const uint64_t units = UnitsWritten();
  const absl::StatusOr<WriteResult> again = PutThing("a", "one");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->change_sequence, first->change_sequence);
  ASSERT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem("b", "1"))).ok());
  EXPECT_EQ(UnitsWritten(), units);
  EXPECT_EQ(engine_.Describe(kTable)->totals.item_count, 1);
}

TEST_F(EngineTest, LetsSixtyFourWritersOfOneKeyThroughOneByOneAndOthersMeanwhile) {
  constexpr int kWriters = 64;
  const std::unique_ptr<LockHolder> holder = HoldLock("hot");
  std::vector<Answer<WriteResult>> answers(kWriters);
  for (int i = 0; i < kWriters; ++i) {
    WriteRequest put = WriteTo(kTable, PlainItem("hot", "1", {{"x", codec::S(std::to_string(i))}}));
    put.return_values = "ALL_OLD";
    engine_->PutItem({}, std::move(put), answers[static_cast<size_t>(i)].Catch());
  }
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(engine_.Scan(ScanOf(kTable)).ok());
    ASSERT_EQ(GetThing("hot"), "nothing");
  }
  for (const Answer<WriteResult>& answer : answers) EXPECT_FALSE(answer.IsThere());
  const absl::Status held = LetGo(holder.get());
  ASSERT_TRUE(held.ok()) << held;
  // Each put replaced a different item: they ran one after the other, and none was lost.
  std::set<std::string> replaced;
  for (Answer<WriteResult>& answer : answers) {
    const absl::StatusOr<WriteResult> result = answer.Take();
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_TRUE(result->attributes.has_value());
    replaced.insert(Decode(result->attributes->view()).at("x").text);
  }
  EXPECT_EQ(replaced.size(), size_t{kWriters});
  EXPECT_TRUE(replaced.contains("holder"));
}

TEST_F(EngineTest, GivesUpWaitingForALockAtTheDeadline) {
  const std::unique_ptr<LockHolder> holder = HoldLock("a");
  RequestContext context;
  context.deadline = Deadline::After(absl::Milliseconds(20));
  EXPECT_EQ(ErrorNameOf(engine_.Put(WriteTo(kTable, PlainItem("a", "1")), context).status()),
            ErrorNameOf(DeadlineExceededError("m")));
  const absl::Status held = LetGo(holder.get());
  EXPECT_TRUE(held.ok()) << held;
  EXPECT_EQ(GetThing("a"), "pk=S:a sk=N:1 x=S:holder ");
  EXPECT_TRUE(PutThing("a", "later").ok()) << "the lock is not free";
}

TEST_F(EngineTest, ADeadlineIsATimeAndNoTimeOfDay) {
  RequestContext hour;
  hour.deadline = Deadline::After(absl::Hours(1));
  {
    const test::WallClockSet set_forward(absl::Hours(2));
    EXPECT_TRUE(engine_.Put(WriteTo(kTable, PlainItem("a", "1")), hour).ok());
    EXPECT_TRUE(engine_.Scan(ScanOf(kTable), hour).ok());
  }
  const std::unique_ptr<LockHolder> holder = HoldLock("a");
  RequestContext moment;
  moment.deadline = Deadline::After(absl::Milliseconds(20));
  const test::WallClockSet set_back(-absl::Hours(1));
  EXPECT_EQ(ErrorNameOf(engine_.Put(WriteTo(kTable, PlainItem("a", "1")), moment).status()),
            ErrorNameOf(DeadlineExceededError("m")));
  EXPECT_TRUE(LetGo(holder.get()).ok());
}

TEST_F(EngineTest, ForgetsAWriteWhoseClientLeftWhileItWaited) {
  const std::unique_ptr<LockHolder> holder = HoldLock("a");
  RequestContext context;
  context.cancelled = [] { return true; };
  Answer<WriteResult> answer;
  engine_->PutItem(context, WriteTo(kTable, PlainItem("a", "1")), answer.Catch());
  ASSERT_TRUE(LetGo(holder.get()).ok());
  EXPECT_EQ(ErrorNameOf(answer.Take().status()), ErrorNameOf(CancelledError("m")));
  EXPECT_EQ(GetThing("a"), "pk=S:a sk=N:1 x=S:holder ");
}

TEST_F(EngineTest, WhatWaitsForARowCountsWithAllOfItsMessage) {
  const std::unique_ptr<LockHolder> holder = HoldLock("a");
  WriteRequest large = WriteTo(kTable, PlainItem("a", "1"));
  large.message_bytes = store::LockTable::kParkedBytesMax;  // such as values of its expressions
  Answer<WriteResult> answer;
  engine_->PutItem(RequestContext(), large, answer.Catch());
  EXPECT_EQ(ErrorNameOf(answer.Take().status()), ErrorNameOf(ThrottlingError("m", 0)));
  ASSERT_TRUE(LetGo(holder.get()).ok());
}

TEST_F(EngineTest, RefusesToWaitForASequenceThatIsNoneOfIts) {
  model::TableDefinition definition = PlainTable("indexed");
  definition.global_indexes = {IndexOf("by_number", {{"sk", "HASH"}}, "ALL")};
  ASSERT_TRUE(engine_.CreateTable(definition).ok());
  ReadRequest request = ScanOf("indexed");
  request.index_name = "by_number";
  request.at_least_sequence = uint64_t{1} << 60;
  // There is no deadline: the scan would wait for ever, and the table could not be deleted.
  EXPECT_EQ(ErrorNameOf(engine_.Scan(request, RequestContext()).status()), ErrorNameOf(ValidationError("m")));
}

// A small page is first read from memory. If it turns out to need the disk, rows found so far must not be returned
// twice.
TEST_F(EngineTest, APageThatIsPartlyInMemoryIsReadOnce) {
  constexpr int kItems = 120;
  for (int i = 0; i < kItems; ++i) {
    const std::string key = std::to_string(1000 + i);
    ASSERT_TRUE(engine_.Put(WriteTo(kTable, PlainItem("a", key, {{"x", codec::S(std::string(3000, 'x'))}}))).ok());
  }
  engine_.Reopen();
  for (const int64_t limit : {5, 40, kItems}) {
    ReadRequest request = ScanOf(kTable);
    request.limit = limit;
    const auto page = engine_.Scan(request);
    ASSERT_TRUE(page.ok()) << page.status();
    const std::vector<std::string>& items = page->items;
    EXPECT_EQ(page->result.count, limit);
    ASSERT_EQ(items.size(), static_cast<size_t>(limit));
    EXPECT_EQ(std::set<std::string>(items.begin(), items.end()).size(), items.size());
  }
}

TEST_F(EngineTest, APageEndsWhenAnExpensiveFilterWasEvaluatedOnSomeRows) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(engine_.Put(WriteTo(kTable, PlainItem("a", std::to_string(i), {{"x", codec::S("y")}}))).ok());
  }
  // Each row costs 50 searches through two megabytes.
  ReadRequest request = ScanOf(kTable);
  std::string filter = "contains(:v, x)";
  for (int i = 1; i < 50; ++i) filter += " OR contains(:v,x)";
  request.expressions.filter = filter;
  request.expressions.values_wire = codec::Item({{":v", codec::S(std::string(2'000'000, 'v'))}});
  std::vector<int64_t> pages;
  do {
    const auto page = engine_.Scan(request);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_EQ(page->result.count, 0);
    pages.push_back(page->result.scanned_count);
    request.exclusive_start_key_wire = page->result.last_evaluated_key;
  } while (request.exclusive_start_key_wire.has_value() && pages.size() < 10);
  EXPECT_EQ(pages, (std::vector<int64_t>{2, 2, 1}));
}

TEST_F(EngineTest, ChargesByStartedKilobytes) {
  WriteRequest put = WriteTo(kTable, PlainItem("a", "1", {{"x", codec::S(std::string(5000, 'x'))}}));
  put.return_consumed_capacity = "TOTAL";
  const absl::StatusOr<WriteResult> written = engine_.Put(put);
  ASSERT_TRUE(written.ok() && written->capacity.has_value());
  EXPECT_EQ(written->capacity->table_name, kTable);
  EXPECT_EQ(written->capacity->total, 5);
  EXPECT_FALSE(written->capacity->table.has_value());
  GetItemRequest get = GetFrom(kTable, PlainItem("a", "1"));
  get.return_consumed_capacity = "TOTAL";
  EXPECT_EQ(engine_.Get(get)->capacity->total, 2);
  get.consistent_read = false;
  EXPECT_EQ(engine_.Get(get)->capacity->total, 1);
  get.key_wire = PlainItem("missing", "1");
  EXPECT_EQ(engine_.Get(get)->capacity->total, 0.5);
  // A delete costs the size of the deleted item.
  WriteRequest remove = WriteTo(kTable, PlainItem("a", "1"));
  remove.return_consumed_capacity = "TOTAL";
  EXPECT_EQ(engine_.Delete(remove)->capacity->total, 5);
  EXPECT_EQ(engine_.Delete(remove)->capacity->total, 1);
}

TEST_F(EngineTest, ChargesIndexesForWhatTheyWrite) {
  model::TableDefinition definition = PlainTable("indexed");
  definition.attribute_definitions.push_back({"l", "S"});
  definition.attribute_definitions.push_back({"g", "S"});
  definition.local_indexes = {IndexOf("local", {{"pk", "HASH"}, {"l", "RANGE"}}, "KEYS_ONLY")};
  definition.global_indexes = {IndexOf("global", {{"g", "HASH"}}, "ALL")};
  ASSERT_TRUE(engine_.CreateTable(definition).ok());
  const auto units = [&](codec::Attributes more) -> std::vector<double> {
    WriteRequest put = WriteTo("indexed", PlainItem("a", "1", std::move(more)));
    put.return_consumed_capacity = "INDEXES";
    const absl::StatusOr<WriteResult> result = engine_.Put(put);
    if (!result.ok()) return {};
    ConsumedCapacity capacity = *result->capacity;
    return {capacity.total, *capacity.table, capacity.local_indexes["local"], capacity.global_indexes["global"]};
  };
  const std::string big(1500, 'x');
  using Units = std::vector<double>;
  EXPECT_EQ(units({{"x", codec::S(big)}}), (Units{2, 2, 0, 0})) << "in no index";
  EXPECT_EQ(units({{"x", codec::S(big)}, {"l", codec::S("l")}, {"g", codec::S("g")}}), (Units{5, 2, 1, 2})) << "new";
  EXPECT_EQ(units({{"l", codec::S("l")}, {"g", codec::S("g")}}), (Units{4, 2, 0, 2})) << "not seen by the local one";
  EXPECT_EQ(units({{"l", codec::S("m")}, {"g", codec::S("h")}}), (Units{5, 1, 2, 2})) << "moved: deleted and written";
  EXPECT_EQ(units({}), (Units{3, 1, 1, 1})) << "deleted";
}

TEST_F(EngineTest, KnowsNoTableBeforeItIsActive) {
  for (int i = 0; i < 10; ++i) {
    const std::string name = "young" + std::to_string(i);
    Answer<TableDescription> created;
    engine_->CreateTable(PlainTable(name), created.Catch());
    const absl::StatusOr<TableDescription> description = created.Take();
    ASSERT_TRUE(description.ok()) << description.status();
    EXPECT_EQ(description->descriptor.state, model::TableState::kCreating);
    while (true) {
      const model::TableState before = engine_.Describe(name)->descriptor.state;
      const absl::Status put = engine_.Put(WriteTo(name, PlainItem("a", "1"))).status();
      if (put.ok()) {
        EXPECT_EQ(engine_.Describe(name)->descriptor.state, model::TableState::kActive);
        break;
      }
      ASSERT_EQ(before, model::TableState::kCreating);
      ASSERT_EQ(ErrorNameOf(put), "ResourceNotFoundException");
    }
  }
}

TEST_F(EngineTest, DropsATableUnderItsUsers) {
  const size_t families = engine_.database().stats().column_families;
  model::TableDefinition definition = PlainTable("dropped");
  definition.local_indexes = {IndexOf("local", {{"pk", "HASH"}, {"sk", "RANGE"}}, "ALL")};
  definition.global_indexes = {IndexOf("global", {{"sk", "HASH"}}, "ALL")};
  ASSERT_TRUE(engine_.CreateTable(definition).ok());
  std::atomic<int> refused = 0;
  std::atomic<int> done = 0;
  const auto use = [&](int user) {
    for (int i = 0;; ++i) {
      const std::string number = std::to_string(user * 1000 + i % 1000);
      ReadRequest scan = ScanOf("dropped");
      if (i % 2 == 0) scan.index_name = "global";
      const absl::Status status =
          i % 8 == 7 ? engine_.Scan(scan).status() : engine_.Put(WriteTo("dropped", PlainItem("a", number))).status();
      if (status.ok()) {
        ++done;
        continue;
      }
      const std::string error = ErrorNameOf(status);
      if (error == "ThrottlingException") continue;
      EXPECT_EQ(error, "ResourceNotFoundException");
      ++refused;
      return;
    }
  };
  std::vector<std::thread> users;
  for (int user = 0; user < 4; ++user) users.emplace_back(use, user);
  EXPECT_TRUE(TestEngine::WaitUntil([&] { return done > 200; }).ok());
  const absl::Status dropped = engine_.DeleteTable("dropped").status();
  EXPECT_TRUE(dropped.ok()) << dropped;
  for (std::thread& user : users) user.join();
  EXPECT_EQ(refused, 4);
  EXPECT_TRUE(engine_.WaitForTableGone("dropped").ok());
  EXPECT_EQ(engine_.database().stats().column_families, families);
  EXPECT_TRUE(PutThing("a", "still here").ok());
}

TEST_F(EngineTest, GivesANameAwayAgainAndAgain) {
  const size_t families = engine_.database().stats().column_families;
  model::TableDefinition definition = PlainTable("again");
  definition.global_indexes = {IndexOf("global", {{"sk", "HASH"}}, "ALL")};
  std::set<std::string> uuids;
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(engine_.CreateTable(definition).ok());
    const absl::StatusOr<TableDescription> description = engine_.Describe("again");
    EXPECT_TRUE(uuids.insert(description->descriptor.uuid).second) << "not a new table";
    EXPECT_EQ(description->totals.item_count, 0);
    const absl::StatusOr<WriteResult> put = engine_.Put(WriteTo("again", PlainItem("a", std::to_string(i))));
    ASSERT_TRUE(put.ok()) << put.status();
    ReadRequest scan = ScanOf("again");
    scan.index_name = "global";
    scan.at_least_sequence = put->change_sequence;
    const absl::StatusOr<Page> page = engine_.Scan(scan);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_EQ(page->result.count, 1);
    Answer<TableDescription> second;
    engine_->CreateTable(definition, second.Catch());
    EXPECT_EQ(ErrorNameOf(second.Take().status()), "ResourceInUseException");
    if (i % 3 == 1) engine_.Reopen();
    ASSERT_TRUE(engine_.DeleteTable("again").ok());
    ASSERT_TRUE(engine_.WaitForTableGone("again").ok());
  }
  EXPECT_EQ(engine_.database().stats().column_families, families);
}

TEST(Engine, RequiredMembersThatAreMissingAreTold) {
  TestEngine engine;
  const auto text = [](const absl::Status& status) { return std::string(status.message()); };
  const auto missing = [](std::string_view path) {
    return Cat("Value null at '", path, "' failed to satisfy constraint: Member must not be null");
  };
  constexpr std::string_view kBadName =
      "Value 'no/where' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: "
      "[a-zA-Z0-9_.-]+";
  constexpr std::string_view kOne = "1 validation error detected: ";
  constexpr std::string_view kTwo = "2 validation errors detected: ";

  EXPECT_EQ(text(engine.Get({}).status()), Cat(kTwo, missing("tableName"), "; ", missing("key")));
  GetItemRequest get;
  get.table_name = "nowhere";
  EXPECT_EQ(text(engine.Get(get).status()), Cat(kOne, missing("key")));
  get.table_name = "no/where";
  EXPECT_EQ(text(engine.Get(get).status()), Cat(kTwo, kBadName, "; ", missing("key")));
  get.key_wire = "";
  get.return_consumed_capacity = "X";
  EXPECT_EQ(text(engine.Get(get).status()), Cat(kOne, kBadName)) << "a bad name is told alone";

  WriteRequest write;
  write.table_name = "nowhere";
  EXPECT_EQ(text(engine.Put(write).status()), Cat(kOne, missing("item")));
  EXPECT_EQ(text(engine.Update(write).status()), Cat(kOne, missing("key")));
  EXPECT_EQ(text(engine.Delete(write).status()), Cat(kOne, missing("key")));
  EXPECT_EQ(text(engine.Scan({}).status()), Cat(kOne, missing("tableName")));
  EXPECT_EQ(text(engine.Query({}).status()), Cat(kOne, missing("tableName")));
}

}  // namespace armature::engine::engine_test
