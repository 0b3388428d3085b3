// Counts of keys by contributor insights.

#include "engine/tables/hot_keys.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "engine/tables/contributor_insights.h"
#include "storage/base/api_error.h"
#include "storage/codec/key_codec.h"
#include "storage/model/item_view.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::hot_keys_test {

using codec::S;

constexpr char kTable[] = "things";

class HotKeysTest : public testing::Test {
 protected:
  HotKeysTest() : engine_(store::Durability::kOs, OptionsWith(clock_)) {
    model::TableDefinition definition = PlainTable(kTable);
    definition.attribute_definitions.push_back({"color", "S"});
    definition.attribute_definitions.push_back({"rank", "S"});
    definition.global_indexes = {IndexOf("colors", {{"color", "HASH"}}, "ALL")};
    definition.local_indexes = {IndexOf("ranks", {{"pk", "HASH"}, {"rank", "RANGE"}}, "ALL")};
    definition.on_demand_max = model::Throughput{1, 1};
    EXPECT_TRUE(engine_.CreateTable(definition).ok());
  }

  static EngineOptions OptionsWith(const std::shared_ptr<std::atomic<int64_t>>& clock) {
    EngineOptions options;
    options.monotonic_ns = [clock] { return clock->load(); };
    return options;
  }
  void Enable(std::optional<std::string> index = {}, std::string mode = "ACCESSED_AND_THROTTLED_KEYS") {
    const auto done = UpdateContributorInsights(&engine_.database(), {kTable, std::move(index), "ENABLE", mode});
    ASSERT_TRUE(done.ok()) << done.status();
  }
  absl::Status Disable() {
    return UpdateContributorInsights(&engine_.database(), {kTable, std::nullopt, "DISABLE", std::nullopt}).status();
  }
  absl::StatusOr<HotKeys> Find(store::KeyUse use, bool whole = false, const std::string& index = "",
                               int64_t minutes = 0) {
    Answer<HotKeys> answer;
    engine_->GetHotKeys(
        {.table_name = kTable, .index_name = index, .use = use, .whole_keys = whole, .limit = 0, .minutes = minutes},
        answer.Catch());
    return answer.Take();
  }
  // The keys with their counts, such as "a=2, b/1=0.5".
  std::string Hot(store::KeyUse use, bool whole = false, const std::string& index = "") {
    const absl::StatusOr<HotKeys> found = Find(use, whole, index);
    if (!found.ok()) return found.status().ToString();
    std::string text;
    for (const HotKey& key : found->keys) {
      std::string values;
      for (const std::string name : {"pk", "color", "sk"}) {
        const auto value = model::ItemView(key.key_bytes).Find(name);
        if (value.has_value()) values += (values.empty() ? "" : "/") + std::string(value->scalar());
      }
      text += absl::StrFormat("%s%s=%g", text.empty() ? "" : ", ", values, key.count);
    }
    return text;
  }
  absl::Status Put(const std::string& pk, const std::string& sk, codec::Attributes more = {}) {
    return engine_.Put(WriteTo(kTable, PlainItem(pk, sk, std::move(more)))).status();
  }
  absl::Status Get(const std::string& pk, const std::string& sk) {
    return engine_.Get(GetFrom(kTable, PlainItem(pk, sk))).status();
  }

  std::shared_ptr<std::atomic<int64_t>> clock_ = std::make_shared<std::atomic<int64_t>>(0);
  TestEngine engine_;
};

TEST_F(HotKeysTest, SingleItemsCountForTheirKeys) {
  Enable();
  ASSERT_TRUE(Put("a", "1").ok());
  ASSERT_TRUE(Put("a", "2").ok());
  ASSERT_TRUE(Put("b", "1").ok());
  ASSERT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem("b", "9"))).ok());
  ASSERT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem("b", "9"))).ok());
  ASSERT_TRUE(Get("a", "1").ok());
  EXPECT_EQ(Hot(store::KeyUse::kWrite), "b=3, a=2");
  EXPECT_EQ(Hot(store::KeyUse::kWrite, true), "b/9=2, b/1=1, a/1=1, a/2=1")
      << "equal counts in the order of the encoded keys";
  EXPECT_EQ(Hot(store::KeyUse::kRead, true), "a/1=1");
  EXPECT_EQ(Hot(store::KeyUse::kThrottled), "");
}

TEST_F(HotKeysTest, QueriesCountForPartitionsAndScansNotAtAll) {
  ASSERT_TRUE(Put("a", "1", {{"rank", S("x")}}).ok());
  Enable();
  ReadRequest query;
  query.table_name = kTable;
  query.expressions.key_condition = "pk = :p";
  query.expressions.values_wire = codec::Item({{":p", S("a")}});
  query.consistent_read = true;
  ASSERT_TRUE(engine_.Query(query).ok());
  query.index_name = "ranks";
  ASSERT_TRUE(engine_.Query(query).ok());
  ReadRequest scan;
  scan.table_name = kTable;
  ASSERT_TRUE(engine_.Scan(scan).ok());
  EXPECT_EQ(Hot(store::KeyUse::kRead), "a=2");
  EXPECT_EQ(Hot(store::KeyUse::kRead, true), "");
}

TEST_F(HotKeysTest, BatchesAndTransactionsCount) {
  Enable();
  BatchWriteRequest batch;
  batch.tables.push_back({kTable, {}});
  for (const char* sk : {"1", "2"}) {
    BatchWrite& write = batch.tables[0].writes.emplace_back();
    write.is_put = true;
    write.put_wire = PlainItem("a", sk);
  }
  Answer<BatchWriteResult> written;
  engine_->BatchWriteItem({}, batch, written.Catch());
  ASSERT_TRUE(written.Take().ok());
  TransactWriteRequest transaction;
  TransactAction& action = transaction.actions.emplace_back();
  action.given = 1;
  action.write = WriteTo(kTable, PlainItem("t", "1"));
  Answer<TransactWriteResult> done;
  engine_->TransactWriteItems({}, transaction, done.Catch());
  ASSERT_TRUE(done.Take().ok());
  EXPECT_EQ(Hot(store::KeyUse::kWrite, true), "t/1=2, a/1=1, a/2=1");
  TransactGetRequest gets;
  gets.gets.push_back({true, GetFrom(kTable, PlainItem("t", "1"))});
  Answer<TransactGetResult> got;
  engine_->TransactGetItems({}, gets, got.Catch());
  ASSERT_TRUE(got.Take().ok());
  BatchGetRequest batch_get;
  TableKeys& keys = batch_get.tables.emplace_back();
  keys.table_name = kTable;
  keys.key_wires = std::vector<std::string>{PlainItem("a", "1")};
  Answer<BatchGetResult> batch_got;
  engine_->BatchGetItem({}, batch_get, batch_got.Catch());
  ASSERT_TRUE(batch_got.Take().ok());
  EXPECT_EQ(Hot(store::KeyUse::kRead, true), "t/1=2, a/1=0.5");
}

TEST_F(HotKeysTest, GlobalIndexesCountTheirOwnKeys) {
  Enable("colors");
  ASSERT_TRUE(Put("a", "1", {{"color", S("red")}}).ok());
  ASSERT_TRUE(Put("b", "1", {{"color", S("red")}}).ok());
  EXPECT_EQ(Hot(store::KeyUse::kWrite, false, "colors"), "red=2");
  EXPECT_EQ(Hot(store::KeyUse::kWrite, true, "colors"), "red=2") << "not the keys of the table";
  EXPECT_EQ(ErrorNameOf(Find(store::KeyUse::kWrite).status()), "ValidationException") << "not enabled for the table";
  EXPECT_EQ(ErrorNameOf(Find(store::KeyUse::kRead, false, "ranks").status()), "ResourceNotFoundException");
}

TEST_F(HotKeysTest, RefusedRequestsAreThrottled) {
  Enable();
  while (Put("a", "1").ok()) {
  }
  EXPECT_FALSE(Put("b", "1").ok());
  EXPECT_FALSE(Put("b", "1").ok());
  EXPECT_EQ(Hot(store::KeyUse::kThrottled, true), "b/1=2, a/1=1");
}

TEST_F(HotKeysTest, TheModeDecides) {
  Enable();
  ASSERT_TRUE(Put("a", "1").ok());
  Enable({}, "THROTTLED_KEYS");
  EXPECT_EQ(ErrorNameOf(Find(store::KeyUse::kWrite).status()), "ValidationException");
  ASSERT_TRUE(Put("a", "1").ok());
  EXPECT_EQ(Hot(store::KeyUse::kThrottled), "");
  Enable();
  EXPECT_EQ(Hot(store::KeyUse::kWrite), "a=1") << "the counts stay, and nothing was counted meanwhile";
}

TEST_F(HotKeysTest, CountsEndWithTheSettingAndTheSettingSurvivesARestart) {
  Enable();
  Enable("colors");
  ASSERT_TRUE(Put("a", "1").ok());
  engine_.Reopen();
  EXPECT_EQ(Hot(store::KeyUse::kWrite), "") << "enabled, and begun anew";
  ASSERT_TRUE(Put("b", "1", {{"color", S("red")}}).ok());
  EXPECT_EQ(Hot(store::KeyUse::kWrite), "b=1");
  EXPECT_EQ(Hot(store::KeyUse::kWrite, false, "colors"), "red=1");
  ASSERT_TRUE(Disable().ok());
  EXPECT_EQ(ErrorNameOf(Find(store::KeyUse::kWrite).status()), "ValidationException");
  Enable();
  EXPECT_EQ(Hot(store::KeyUse::kWrite), "");
}

TEST_F(HotKeysTest, OldCountsAreLeftOut) {
  Enable();
  ASSERT_TRUE(Put("a", "1").ok());
  *clock_ += int64_t{11} * 60 * 1'000'000'000;
  ASSERT_TRUE(Put("b", "1").ok());
  EXPECT_EQ(Hot(store::KeyUse::kWrite), "b=1");
  EXPECT_EQ(Find(store::KeyUse::kWrite, false, "", 60)->keys.size(), 2U);
  EXPECT_EQ(Find(store::KeyUse::kWrite, false, "", 60)->seconds, 11 * 60);
}

TEST_F(HotKeysTest, SharesAreThoseOfTheHottestKeys) {
  EXPECT_TRUE(engine_->HotKeyShares().empty());
  Enable();
  for (const char* pk : {"a", "a", "a", "b"}) ASSERT_TRUE(Put(pk, "1").ok());
  const std::vector<HotKeyShare> shares = engine_->HotKeyShares();
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_EQ(shares[0].share, 0);
  EXPECT_EQ(shares[1].use, store::KeyUse::kWrite);
  EXPECT_EQ(shares[1].share, 0.75);
}

HotKeysRequest RequestOf(std::string table, int64_t limit, int64_t minutes) {
  HotKeysRequest request;
  request.table_name = std::move(table);
  request.limit = limit;
  request.minutes = minutes;
  return request;
}

TEST_F(HotKeysTest, BadRequestsAreRefused) {
  Enable();
  for (const HotKeysRequest& request : {RequestOf("", 0, 0), RequestOf(kTable, 101, 0), RequestOf(kTable, -1, 0),
                                        RequestOf(kTable, 0, 61), RequestOf(kTable, 0, -1)}) {
    Answer<HotKeys> answer;
    engine_->GetHotKeys(request, answer.Catch());
    EXPECT_EQ(ErrorNameOf(answer.Take().status()), "ValidationException");
  }
  Answer<HotKeys> answer;
  engine_->GetHotKeys(RequestOf("other", 0, 0), answer.Catch());
  EXPECT_EQ(ErrorNameOf(answer.Take().status()), "ResourceNotFoundException");
}

TEST_F(HotKeysTest, LongKeysAreCut) {
  Enable();
  const std::string pk(1000, 'x');
  ASSERT_TRUE(Put(pk, "1").ok());
  const absl::StatusOr<HotKeys> found = Find(store::KeyUse::kWrite, true);
  ASSERT_EQ(found->keys.size(), 1U);
  EXPECT_TRUE(found->keys[0].cut);
  const auto value = model::ItemView(found->keys[0].key_bytes).Find("pk");
  ASSERT_TRUE(value.has_value());
  EXPECT_GT(value->scalar().size(), 200U);
  EXPECT_TRUE(pk.starts_with(value->scalar()));
}

// Cut anywhere, a key gives a front of its values and never half a character.
TEST(DecodeCutKey, GivesTheFrontOfAnyKey) {
  const std::vector<model::KeyAttribute> attributes = {
      {"p", model::ScalarType::kString}, {"n", model::ScalarType::kNumber}, {"b", model::ScalarType::kBinary}};
  const std::string text("a\0\xC3\xA9\xF0\x9F\x98\x80z", 9);
  std::string key = "hash";
  EXPECT_TRUE(codec::AppendKeyComponent(model::ScalarType::kString, text, &key));
  EXPECT_TRUE(codec::AppendKeyComponent(model::ScalarType::kNumber, "123456", &key));
  EXPECT_TRUE(codec::AppendKeyComponent(model::ScalarType::kBinary, std::string("\xFF\0\x80", 3), &key));
  for (size_t size = 0; size <= key.size(); ++size) {
    const std::string bytes = DecodeCutKey(attributes, std::string_view(key).substr(0, size));
    const model::ItemView item(bytes);
    if (const auto value = item.Find("p"); value.has_value()) {
      const std::string shown(value->scalar());
      EXPECT_TRUE(text.starts_with(shown)) << size;
      const bool whole = shown.size() != 3 && (shown.size() < 5 || shown.size() > 7);
      EXPECT_TRUE(whole) << size << ": " << shown.size();
    }
    if (const auto value = item.Find("n"); value.has_value()) {
      EXPECT_EQ(value->scalar(), "123456");
    }
  }
  EXPECT_TRUE(model::ItemView(DecodeCutKey(attributes, key)).Find("b").has_value());
}

TEST_F(HotKeysTest, TheNumberOfSettingsIsBounded) {
  for (size_t i = 0; i < kInsightsMax; ++i) {
    ASSERT_TRUE(engine_.CreateTable(PlainTable("table" + std::to_string(i))).ok());
    ASSERT_TRUE(UpdateContributorInsights(&engine_.database(),
                                          {"table" + std::to_string(i), std::nullopt, "ENABLE", std::nullopt})
                    .ok());
  }
  const auto refused = UpdateContributorInsights(&engine_.database(), {kTable, std::nullopt, "ENABLE", std::nullopt});
  EXPECT_EQ(ErrorNameOf(refused.status()), "LimitExceededException");
  EXPECT_TRUE(UpdateContributorInsights(&engine_.database(), {"table0", std::nullopt, "DISABLE", std::nullopt}).ok());
  Enable();
}

}  // namespace armature::engine::hot_keys_test
