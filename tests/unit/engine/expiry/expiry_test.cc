// Expiry: the time of an item, the index by time under all writes, its filling and removal, and the deletion of items.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/items/expiry_change.h"
#include "engine/streams/stream_ops.h"
#include "engine/tables/table_settings.h"
#include "storage/model/table_name.h"
#include "storage/store/meta_keys.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/items/group_test_util.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::engine::expiry_test {

using codec::Item;
using codec::N;
using codec::S;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kTable[] = "things";
constexpr int64_t kNowMs = 1'800'000'000'000;
constexpr int64_t kYearMs = int64_t{365} * 24 * 3600 * 1000;

std::string SecondsText(int64_t ms) { return absl::StrCat(ms / 1000); }

struct TimeCase {
  const char* number;
  std::optional<int64_t> due_ms;
};

TEST(DueTime, OfANumber) {
  for (const TimeCase& c :
       {TimeCase{"1800000000", 1'800'000'000'000}, TimeCase{"1800000000.5", 1'800'000'000'500},
        TimeCase{"1800000000.0009", 1'800'000'000'000}, TimeCase{"1800000000.1239999", 1'800'000'000'123},
        TimeCase{"18e8", 1'800'000'000'000}, TimeCase{"1577836800", 1'577'836'800'000},
        TimeCase{"1577836799.999", std::nullopt}, TimeCase{"0", std::nullopt}, TimeCase{"-1800000000", std::nullopt},
        TimeCase{"9999999999999", 9'999'999'999'999'000}, TimeCase{"10000000000000", std::nullopt},
        TimeCase{"1e125", std::nullopt}, TimeCase{"1e-130", std::nullopt},
        TimeCase{"99999999999999999999999999999999999999", std::nullopt}}) {
    const absl::StatusOr<codec::CanonicalItem> item = codec::CanonicalizeItem(Item({{"ends", N(c.number)}}));
    ASSERT_TRUE(item.ok());
    EXPECT_EQ(DueTimeMs(item->view(), "ends"), c.due_ms) << c.number;
    EXPECT_EQ(DueTimeMs(item->view(), "end"), std::nullopt);
  }
}

TEST(DueTime, OfOtherTypesIsNone) {
  const std::string number = "1800000000";
  for (const auto& value : {S(number), codec::Ns({number}), codec::L({N(number)}), codec::M({{"ends", N(number)}})}) {
    const absl::StatusOr<codec::CanonicalItem> item = codec::CanonicalizeItem(Item({{"ends", value}}));
    ASSERT_TRUE(item.ok());
    EXPECT_EQ(DueTimeMs(item->view(), "ends"), std::nullopt);
  }
}

class ExpiryTest : public testing::Test {
 protected:
  static EngineOptions Options(std::atomic<int64_t>* now_ms) {
    EngineOptions options;
    options.expiry_interval = absl::Milliseconds(5);
    options.unix_ms = [now_ms] { return now_ms->load(); };
    return options;
  }

  void SetUp() override { ASSERT_TRUE(engine_.CreateTable(PlainTable(kTable)).ok()); }

  void Switch(bool on, const std::string& attribute = "ends", const std::string& table = kTable) {
    const auto updated = UpdateTimeToLive(&engine_.database(), {table, TimeToLiveSpecification{on, attribute}});
    ASSERT_TRUE(updated.ok()) << updated.status();
  }
  absl::Status Put(std::string_view pk, codec::Attributes more = {}) {
    return engine_.Put(WriteTo(kTable, PlainItem(pk, "1", std::move(more)))).status();
  }
  absl::Status PutUntil(std::string_view pk, int64_t due_ms) { return Put(pk, {{"ends", N(SecondsText(due_ms))}}); }
  bool IsThere(std::string_view pk) {
    const auto got = engine_.Get(GetFrom(kTable, PlainItem(pk, "1")));
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() && got->item.has_value();
  }
  void AwaitGone(std::string_view pk) {
    EXPECT_TRUE(TestEngine::WaitUntil([&] { return !IsThere(pk); }).ok()) << pk;
  }
  // Returns when the worker has looked for items once more, at the present time.
  void AwaitSweep() {
    const std::string sentinel = absl::StrCat("sentinel", ++sentinels_);
    ASSERT_TRUE(PutUntil(sentinel, now_ms_ - 1000).ok());
    AwaitGone(sentinel);
  }
  TableId IdOf(const std::string& table = kTable) { return engine_.database().catalog()->Find(table)->descriptor.id; }
  // The rows of a table in the index by time: due time and row key, of all generations.
  std::multiset<std::pair<int64_t, std::string>> Rows(std::optional<TableId> table = {}) {
    std::multiset<std::pair<int64_t, std::string>> rows;
    const TableId id = table.has_value() ? *table : IdOf();
    const auto visit = [&rows](std::string_view key, std::string_view) {
      const auto parts = store::ParseExpiryKey(key);
      EXPECT_TRUE(parts.has_value());
      if (parts.has_value()) rows.emplace(parts->due_ms, std::string(parts->row_key));
      return store::RowVerdict::kContinue;
    };
    const auto end = engine_.database().rows().ReadRange(
        engine_.database().expiry().keyspace(),
        {store::ExpiryGenerationKey(id, 0), store::ExpiryGenerationKey(TableId(id.value() + 1), 0)},
        store::Direction::kForward, visit);
    EXPECT_TRUE(end.ok()) << end.status();
    return rows;
  }
  // The rows that the items of the table need.
  std::multiset<std::pair<int64_t, std::string>> NeededRows(const std::string& attribute = "ends") {
    std::multiset<std::pair<int64_t, std::string>> rows;
    const std::shared_ptr<const store::Table> table = engine_.database().catalog()->Hold(kTable);
    const auto visit = [&](std::string_view key, std::string_view value) {
      const auto stored = codec::ParseStoredItem(value);
      EXPECT_TRUE(stored.ok());
      const std::optional<int64_t> due_ms = DueTimeMs(stored->item, attribute);
      if (due_ms.has_value()) rows.emplace(*due_ms, std::string(key));
      return store::RowVerdict::kContinue;
    };
    EXPECT_TRUE(engine_.database().rows().ReadRange(table->data, {"", ""}, store::Direction::kForward, visit).ok());
    return rows;
  }
  store::ExpiryPhase PhaseOf(TableId id) {
    const auto state = engine_.database().expiry().ReadState(id);
    return state.ok() && state->has_value() ? (*state)->phase : store::ExpiryPhase{};
  }
  void AwaitPhase(store::ExpiryPhase phase) {
    const TableId id = IdOf();
    const uint32_t generation = engine_.database().catalog()->Find(kTable)->descriptor.settings.time_to_live_generation;
    EXPECT_TRUE(TestEngine::WaitUntil([&] {
                  const auto state = engine_.database().expiry().ReadState(id);
                  return state.ok() && state->has_value() && (*state)->phase == phase &&
                         (*state)->generation == generation;
                }).ok());
  }

  std::atomic<int64_t> now_ms_ = kNowMs;
  TestEngine engine_{store::Durability::kOs, Options(&now_ms_)};
  int sentinels_ = 0;
};

TEST_F(ExpiryTest, ItemsGoWhenTheirTimeHasCome) {
  Switch(true);
  ASSERT_TRUE(PutUntil("late", kNowMs + 10'000).ok());
  ASSERT_TRUE(Put("never").ok());
  ASSERT_TRUE(Put("text", {{"ends", S(SecondsText(kNowMs - 5000))}}).ok());
  ASSERT_TRUE(PutUntil("old", kNowMs - 6 * kYearMs).ok());
  ASSERT_TRUE(PutUntil("gone", kNowMs - 1000).ok());
  AwaitGone("gone");
  AwaitSweep();
  EXPECT_TRUE(IsThere("late") && IsThere("never") && IsThere("text") && IsThere("old"));
  now_ms_ += 10'000;  // the very time is not past
  AwaitSweep();
  EXPECT_TRUE(IsThere("late"));
  now_ms_ += 1;
  AwaitGone("late");
  AwaitSweep();
  EXPECT_TRUE(IsThere("never") && IsThere("text") && IsThere("old"));
  EXPECT_GE(engine_->stats().expiry.expired, 4);
}

TEST_F(ExpiryTest, NothingExpiresWithoutTheSetting) {
  ASSERT_TRUE(PutUntil("past", kNowMs - 1000).ok());
  EXPECT_THAT(Rows(), IsEmpty());
  ASSERT_TRUE(engine_.CreateTable(PlainTable("other")).ok());
  Switch(true, "ends", "other");
  ASSERT_TRUE(engine_.Put(WriteTo("other", PlainItem("x", "1", {{"ends", N(SecondsText(kNowMs - 1000))}}))).ok());
  EXPECT_TRUE(TestEngine::WaitUntil([&] {
                return !engine_.Get(GetFrom("other", PlainItem("x", "1")))->item.has_value();
              }).ok());
  EXPECT_TRUE(IsThere("past"));
}

TEST_F(ExpiryTest, AWriteCanRescueAnItem) {
  Switch(true);
  AwaitPhase(store::ExpiryPhase::kComplete);
  for (const char* const pk : {"moved", "removed", "replaced", "retyped"})
    ASSERT_TRUE(PutUntil(pk, kNowMs + 5000).ok());
  const auto update = [&](std::string_view pk, std::string expression, std::string values) {
    WriteRequest request = WriteTo(kTable, PlainItem(pk, "1"));
    request.expressions.update = std::move(expression);
    if (!values.empty()) request.expressions.values_wire = std::move(values);
    return engine_.Update(std::move(request)).status();
  };
  ASSERT_TRUE(update("moved", "SET ends = :t", Item({{":t", N(SecondsText(kNowMs + 90'000))}})).ok());
  ASSERT_TRUE(update("removed", "REMOVE ends", "").ok());
  ASSERT_TRUE(update("retyped", "SET ends = :t", Item({{":t", S("soon")}})).ok());
  ASSERT_TRUE(Put("replaced").ok());
  EXPECT_EQ(Rows(), NeededRows());
  now_ms_ += 60'000;
  AwaitSweep();
  for (const char* const pk : {"moved", "removed", "replaced", "retyped"}) EXPECT_TRUE(IsThere(pk)) << pk;
  EXPECT_EQ(Rows().size(), 1) << "the row of the item that was moved";
}

TEST_F(ExpiryTest, ItemsFromBeforeTheSettingAreCovered) {
  for (int i = 0; i < 1500; ++i) {
    ASSERT_TRUE(PutUntil(absl::StrCat("k", i), i % 2 == 0 ? kNowMs - 1000 : kNowMs + 60'000).ok());
  }
  Switch(true);
  AwaitPhase(store::ExpiryPhase::kComplete);
  EXPECT_TRUE(TestEngine::WaitUntil([&] { return Rows().size() == 750; }).ok());
  EXPECT_EQ(Rows(), NeededRows());
  EXPECT_FALSE(IsThere("k0"));
  EXPECT_TRUE(IsThere("k1"));
}

// Writers that do not know of the setting are waited for, and the scan misses none of those that do.
TEST_F(ExpiryTest, FillsWhileClientsWrite) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> writers;
  for (int w = 0; w < 3; ++w) {
    writers.emplace_back([this, w, &stop] {
      std::mt19937_64 random(static_cast<uint64_t>(w) + 1);
      while (!stop) {
        const std::string pk = absl::StrCat("k", random() % 200);
        const int64_t due_ms = kNowMs + 60'000 + static_cast<int64_t>(random() % 5) * 1000;
        if (random() % 4 == 0) {
          EXPECT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem(pk, "1"))).ok());
        } else {
          EXPECT_TRUE(PutUntil(pk, due_ms).ok());
        }
      }
    });
  }
  for (int round = 0; round < 5; ++round) {
    Switch(true);
    AwaitPhase(store::ExpiryPhase::kComplete);
    if (round < 4) Switch(false);
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  const auto rows = Rows();
  const auto needed = NeededRows();
  EXPECT_TRUE(std::includes(rows.begin(), rows.end(), needed.begin(), needed.end())) << "an item would never expire";
  // Rows that the scan wrote too late disappear at their time, without their items.
  now_ms_ += 600'000;
  EXPECT_TRUE(TestEngine::WaitUntil([&] { return Rows().empty(); }).ok());
  EXPECT_THAT(NeededRows(), IsEmpty());
}

TEST_F(ExpiryTest, ARowThatTheItemDoesNotHaveDeletesNothing) {
  Switch(true);
  AwaitPhase(store::ExpiryPhase::kComplete);
  ASSERT_TRUE(PutUntil("kept", kNowMs + 60'000).ok());
  const std::string row_key = Rows().begin()->second;
  const std::shared_ptr<const store::Table> table = engine_.database().catalog()->Hold(kTable);
  for (const std::string& key : {row_key, std::string("no such row")}) {
    store::WriteUnit unit(table);
    unit.Put(
        table->expiry,
        store::ExpiryKey(table->descriptor.id, table->descriptor.settings.time_to_live_generation, kNowMs - 1000, key),
        {});
    table->due_mark->Note(kNowMs - 1000);
    Answer<ChangeSequence> answer;
    engine_.database().commits().Commit(std::move(unit), answer.Catch());
    ASSERT_TRUE(answer.Take().ok());
  }
  EXPECT_TRUE(TestEngine::WaitUntil([&] { return Rows().size() == 1; }).ok());
  EXPECT_TRUE(IsThere("kept"));
  EXPECT_EQ(engine_->stats().expiry.expired, 0);
}

TEST_F(ExpiryTest, SwitchedOffItIsForgotten) {
  Switch(true);
  ASSERT_TRUE(PutUntil("kept", kNowMs + 1000).ok());
  Switch(false);
  AwaitPhase(store::ExpiryPhase::kCleared);
  EXPECT_THAT(Rows(), IsEmpty());
  now_ms_ += 60'000;
  ASSERT_TRUE(Put("other", {{"until", N(SecondsText(kNowMs))}}).ok());
  Switch(true, "until");
  AwaitGone("other");
  EXPECT_TRUE(IsThere("kept")) << "its attribute is no longer the one that counts";
  EXPECT_EQ(Rows(), NeededRows("until"));
}

TEST_F(ExpiryTest, AClockThatIsSetBackDeletesNothingTooEarly) {
  Switch(true);
  now_ms_ += kYearMs;
  AwaitSweep();
  now_ms_ -= kYearMs;
  ASSERT_TRUE(PutUntil("kept", kNowMs + 60'000).ok());
  ASSERT_TRUE(PutUntil("gone", kNowMs - 5000).ok());
  AwaitGone("gone");
  EXPECT_TRUE(IsThere("kept"));
  now_ms_ += 61'000;
  AwaitGone("kept");
}

TEST_F(ExpiryTest, GoesOnAfterARestart) {
  Switch(true);
  ASSERT_TRUE(PutUntil("gone", kNowMs + 5000).ok());
  ASSERT_TRUE(PutUntil("kept", kNowMs + 60'000).ok());
  engine_.StopEngine();
  now_ms_ += 6000;
  engine_.Reopen();
  AwaitGone("gone");
  EXPECT_TRUE(IsThere("kept"));
  EXPECT_EQ(Rows(), NeededRows());
}

// A table of format 3 has the setting, but neither rows nor a record of progress.
TEST_F(ExpiryTest, FillsAgainWithoutARecordOfProgress) {
  Switch(true);
  ASSERT_TRUE(PutUntil("gone", kNowMs + 5000).ok());
  AwaitPhase(store::ExpiryPhase::kComplete);
  const uint32_t generation = engine_.database().catalog()->Find(kTable)->descriptor.settings.time_to_live_generation;
  ASSERT_TRUE(engine_.database()
                  .expiry()
                  .Clear(IdOf(), generation + 1, {generation + 7, store::ExpiryPhase::kComplete, ""})
                  .ok());
  EXPECT_THAT(Rows(), IsEmpty());
  engine_.Reopen();
  AwaitPhase(store::ExpiryPhase::kComplete);
  EXPECT_EQ(Rows(), NeededRows());
  now_ms_ += 6000;
  AwaitGone("gone");
}

TEST_F(ExpiryTest, ADeletedTableLeavesNoRows) {
  Switch(true);
  ASSERT_TRUE(PutUntil("x", kNowMs + 60'000).ok());
  AwaitPhase(store::ExpiryPhase::kComplete);
  const TableId id = IdOf();
  ASSERT_TRUE(engine_.DeleteTable(kTable).ok());
  ASSERT_TRUE(engine_.WaitForTableGone(kTable).ok());
  EXPECT_THAT(Rows(id), IsEmpty());
  EXPECT_EQ(PhaseOf(id), store::ExpiryPhase{});
  SetUp();
  ASSERT_TRUE(PutUntil("x", kNowMs - 1000).ok());
  EXPECT_TRUE(IsThere("x")) << "the new table has no time to live";
}

TEST_F(ExpiryTest, GoesOutOfAllIndexesIntoTheStream) {
  model::TableDefinition definition = PlainTable("indexed");
  definition.attribute_definitions = {{"pk", "S"}, {"sk", "N"}, {"ends", "N"}, {"color", "S"}};
  definition.local_indexes = {IndexOf("byEnd", {{"pk", "HASH"}, {"ends", "RANGE"}}, "ALL")};
  definition.global_indexes = {IndexOf("byColor", {{"color", "HASH"}}, "ALL")};
  definition.stream = {true, "NEW_AND_OLD_IMAGES"};
  ASSERT_TRUE(engine_.CreateTable(definition).ok());
  Switch(true, "ends", "indexed");
  const std::string item = PlainItem("a", "1", {{"ends", N(SecondsText(kNowMs - 1000))}, {"color", S("red")}});
  ASSERT_TRUE(engine_.Put(WriteTo("indexed", item)).ok());
  const auto count = [&](const std::string& index) {
    ReadRequest request;
    request.table_name = "indexed";
    if (!index.empty()) request.index_name = index;
    const auto page = engine_.Scan(std::move(request));
    EXPECT_TRUE(page.ok()) << page.status();
    return page.ok() ? page->items.size() : 99;
  };
  EXPECT_TRUE(TestEngine::WaitUntil([&] { return count("") == 0; }).ok());
  EXPECT_EQ(count("byEnd"), 0);
  EXPECT_TRUE(TestEngine::WaitUntil([&] { return count("byColor") == 0; }).ok());
  const model::StreamDescriptor stream = engine_.database().streams().StreamsOf("indexed").back();
  std::vector<bool> expiries;
  for (const ShardRange& shard : ShardsOf({stream, engine_.database().streams().segments()})) {
    const auto read = engine_.database().streams().Read(
        shard.key.segment, stream.id, shard.key.slot, ChangeSequence(0),
        [&](ChangeSequence sequence, std::string_view record) -> absl::StatusOr<bool> {
          const auto change = ReadChange(stream.key, sequence, record, stream.view);
          EXPECT_TRUE(change.ok());
          expiries.push_back(change->is_expiry);
          EXPECT_EQ(change->event, change->is_expiry ? codec::StreamEvent::kRemove : codec::StreamEvent::kInsert);
          EXPECT_EQ(change->old_image.has_value(), change->is_expiry);
          return true;
        });
    EXPECT_TRUE(read.ok()) << read.status();
  }
  EXPECT_THAT(expiries, ElementsAre(false, true));
}

// Random writes of all kinds keep the index by time equal to what the items need.
TEST_F(ExpiryTest, TheIndexFollowsAllWrites) {
  Switch(true);
  AwaitPhase(store::ExpiryPhase::kComplete);
  std::mt19937_64 random(PrintedTestSeed());
  for (int i = 0; i < 600; ++i) {
    const auto pk = [&random] { return absl::StrCat("k", random() % 20); };
    const auto more = [&random]() -> codec::Attributes {
      switch (random() % 4) {
        case 0:
          return {};
        case 1:
          return {{"ends", S("x")}};
        default:
          return {{"ends", N(SecondsText(kNowMs + 60'000 + static_cast<int64_t>(random() % 3) * 1000))}};
      }
    };
    const std::string first = pk();
    std::string second = pk();
    if (first == second) second += "b";
    switch (random() % 5) {
      case 0:
        ASSERT_TRUE(Put(first, more()).ok());
        break;
      case 1:
        ASSERT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem(first, "1"))).ok());
        break;
      case 2:
        ASSERT_TRUE(BatchWriteTo(engine_, BatchOf(kTable, {PutOf(PlainItem(first, "1", more())),
                                                           DeleteOf(PlainItem(second, "1"))}))
                        .ok());
        break;
      case 3:
        ASSERT_TRUE(Transact(engine_, TransactionOf({ActionOf(WriteKind::kPut, kTable, PlainItem(first, "1", more())),
                                                     ActionOf(WriteKind::kDelete, kTable, PlainItem(second, "1"))}))
                        .ok());
        break;
      default: {
        WriteRequest request = WriteTo(kTable, PlainItem(first, "1"));
        request.expressions.update = "SET ends = :t";
        request.expressions.values_wire = Item({{":t", N(SecondsText(kNowMs + 90'000))}});
        ASSERT_TRUE(engine_.Update(std::move(request)).ok());
      }
    }
    if (i % 50 == 49) {
      ASSERT_EQ(Rows(), NeededRows());
    }
  }
}

}  // namespace armature::engine::expiry_test
