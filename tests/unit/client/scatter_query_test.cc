#include "armature/client/scatter_query.h"

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "client/src/scatter_continuation.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tests/unit/client/fake_connection.h"
#include "tests/unit/client/fake_shards.h"

namespace armature::client::scatter_query_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Item Entry(int shard, AttributeValue sort, const std::string& id) {
  return ItemBuilder().Set("p", S(Cat("day.", shard))).Set("n", std::move(sort)).Set("id", S(id)).Build();
}

// The ids of a page's items, separated by blanks.
std::string Ids(const std::vector<Item>& items) {
  std::string ids;
  for (const Item& item : items) ids += Cat(ids.empty() ? "" : " ", item.attributes().at("id").s());
  return ids;
}

class ScatterQueryTest : public ::testing::Test {
 protected:
  ScatterQueryTest() {
    request_.set_table_name("t");
    request_.set_index_name("by_day");
    request_.set_key_condition_expression("p = :p");
    options_.value_name = ":p";
    options_.shard_value = SuffixedShards("day");
    options_.shard_count = 3;
    options_.keys = {.sort = {"n"}, .others = {"p", "id"}};
  }

  // Adds items with these sort values, in ascending order, to each shard. Their ids are <shard>:<value>.
  void Fill(const std::vector<std::vector<int>>& shards) {
    for (size_t i = 0; i < shards.size(); ++i) {
      const int shard = static_cast<int>(i) + 1;
      for (const int value : shards[i]) {
        fake_->Add(Cat("day.", shard), Entry(shard, N(value), Cat(shard, ":", value)));
      }
    }
  }

  Client MakeClient() const {
    ClientOptions options;
    options.retry = NoRetries();
    return Client(fake_, options);
  }
  absl::StatusOr<ScatterQuery> Begin(std::string_view continuation = {}) const {
    return ScatterQuery::Begin(MakeClient(), request_, options_, continuation);
  }
  absl::Status Refusal(std::string_view continuation = {}) const { return Begin(continuation).status(); }

  // All pages of one query. If it fails, the last entry is the error.
  std::vector<std::string> Pages() const {
    absl::StatusOr<ScatterQuery> query = Begin();
    if (!query.ok()) return {query.status().ToString()};
    std::vector<std::string> pages;
    while (true) {
      const auto page = query->NextPage();
      if (!page.ok()) pages.push_back(Cat("error: ", Sv(page.status().message())));
      if (!page.ok() || !page->has_value()) return pages;
      pages.push_back(Ids((*page)->items));
    }
  }
  // The pages of the query, each by a new query.
  std::vector<std::string> ResumedPages() const {
    std::vector<std::string> pages;
    std::string continuation;
    do {
      absl::StatusOr<ScatterQuery> query = Begin(continuation);
      if (!query.ok()) return {query.status().ToString()};
      const auto page = query->NextPage();
      if (!page.ok()) return {page.status().ToString()};
      pages.push_back(Ids((*page)->items));
      continuation = (*page)->continuation;
    } while (!continuation.empty());
    return pages;
  }

  std::shared_ptr<FakeShards> fake_ = std::make_shared<FakeShards>();
  api::v1::QueryRequest request_;
  ScatterOptions options_;
};

TEST_F(ScatterQueryTest, MergesNumbersByValue) {
  Fill({{-20, 3, 100}, {-3, 20}, {0, 99}});
  EXPECT_THAT(Pages(), ElementsAre("1:-20 2:-3 3:0 1:3 2:20 3:99 1:100"));
  request_.set_scan_index_forward(false);
  EXPECT_THAT(Pages(), ElementsAre("1:100 3:99 2:20 1:3 3:0 2:-3 1:-20"));
}

TEST_F(ScatterQueryTest, MergesFractionsAndHugeNumbers) {
  fake_->Add("day.1", Entry(1, N("-0.5"), "a"));
  fake_->Add("day.1", Entry(1, N("10"), "d"));
  fake_->Add("day.2", Entry(2, N("-0.05"), "b"));
  fake_->Add("day.2", Entry(2, N("9.99"), "c"));
  fake_->Add("day.3", Entry(3, N("123456789012345678901234567890"), "e"));
  EXPECT_THAT(Pages(), ElementsAre("a b c d e"));
}

TEST_F(ScatterQueryTest, MergesStringsAndBinariesByBytes) {
  for (const bool binary : {false, true}) {
    fake_ = std::make_shared<FakeShards>();
    const auto value = [binary](std::string_view bytes) { return binary ? B(bytes) : S(bytes); };
    fake_->Add("day.1", Entry(1, value("10"), "a"));
    fake_->Add("day.1", Entry(1, value("\xc3\xa4"), "e"));
    fake_->Add("day.2", Entry(2, value("9"), "b"));
    fake_->Add("day.2", Entry(2, value("zz"), "d"));
    fake_->Add("day.3", Entry(3, value("z"), "c"));
    EXPECT_THAT(Pages(), ElementsAre("a b c d e"));
  }
}

TEST_F(ScatterQueryTest, LaterSortAttributesBreakTies) {
  options_.keys.sort = {"n", "m"};
  const auto add = [&](int shard, int n, std::string_view m) {
    Item item = Entry(shard, N(n), Cat(n, m));
    (*item.mutable_attributes())["m"] = S(m);
    fake_->Add(Cat("day.", shard), std::move(item));
  };
  add(1, 1, "b");
  add(1, 2, "a");
  add(2, 1, "a");
  add(2, 2, "b");
  add(3, 1, "c");
  EXPECT_THAT(Pages(), ElementsAre("1a 1b 1c 2a 2b"));
}

TEST_F(ScatterQueryTest, EqualItemsComeInTheOrderOfTheirShardsAndBackwardsInReverse) {
  for (const auto& [shard, ids] :
       {std::pair<int, std::vector<std::string>>{1, {"1a", "1b"}}, {2, {"2a"}}, {3, {"3a", "3b"}}}) {
    for (const std::string& id : ids) fake_->Add(Cat("day.", shard), Entry(shard, N(7), id));
  }
  EXPECT_THAT(Pages(), ElementsAre("1a 1b 2a 3a 3b"));
  options_.page_items_max = 2;
  EXPECT_THAT(ResumedPages(), ElementsAre("1a 1b", "2a 3a", "3b"));
  request_.set_scan_index_forward(false);
  EXPECT_THAT(ResumedPages(), ElementsAre("3b 3a", "2a 1b", "1a"));
}

TEST_F(ScatterQueryTest, WithoutSortAttributesShardsFollowOneAnother) {
  options_.keys = {.sort = {}, .others = {"p", "id"}};
  Fill({{5, 1}, {4}, {}});
  options_.page_items_max = 1;
  EXPECT_THAT(ResumedPages(), ElementsAre("1:5", "1:1", "2:4"));
}

TEST_F(ScatterQueryTest, PagesAreFullUntilTheLast) {
  Fill({{1, 4, 7, 10}, {2, 5, 8}, {3, 6, 9}});
  options_.page_items_max = 4;
  for (const int limit : {0, 1, 2, 3}) {
    request_.clear_limit();
    if (limit > 0) request_.set_limit(limit);
    const auto expected = ElementsAre("1:1 2:2 3:3 1:4", "2:5 3:6 1:7 2:8", "3:9 1:10");
    EXPECT_THAT(Pages(), expected) << limit;
    EXPECT_THAT(ResumedPages(), expected) << limit;
  }
}

TEST_F(ScatterQueryTest, AnEmptyLastPageIsNotAnnouncedWhenTheEndIsKnown) {
  Fill({{1}, {2}, {3}});
  options_.page_items_max = 3;
  EXPECT_THAT(Pages(), ElementsAre("1:1 2:2 3:3"));
}

TEST_F(ScatterQueryTest, EmptyShardsAreAskedOnce) {
  Fill({{}, {1, 2, 3}, {}});
  options_.page_items_max = 1;
  EXPECT_THAT(ResumedPages(), ElementsAre("2:1", "2:2", "2:3"));
  EXPECT_THAT(fake_->requests, SizeIs(3 + 1 + 1));
}

TEST_F(ScatterQueryTest, NothingAtAllIsOneEmptyPage) {
  EXPECT_THAT(Pages(), ElementsAre(""));
  absl::StatusOr<ScatterQuery> query = Begin();
  ASSERT_TRUE(query.ok());
  int items = 0;
  for (const auto& item : *query) items += item.ok() ? 1 : 100;
  EXPECT_EQ(items, 0);
}

TEST_F(ScatterQueryTest, FilteredEntriesAreNotReadAgain) {
  for (int n = 1; n <= 30; ++n) {
    Item item = Entry(1, N(n), Cat(n));
    if (n % 10 != 0) (*item.mutable_attributes())["drop"] = Bool(true);
    fake_->Add("day.1", std::move(item));
  }
  request_.set_filter_expression("drop");
  request_.set_limit(5);
  options_.page_items_max = 2;
  EXPECT_THAT(ResumedPages(), ElementsAre("10 20", "30"));
  int of_the_first = 0;
  for (const auto& request : fake_->requests) {
    of_the_first += request.expression_attribute_values().at(":p").s() == "day.1" ? 1 : 0;
  }
  EXPECT_LE(of_the_first, 7) << "30 entries in calls of 5, and one for the end";
}

TEST_F(ScatterQueryTest, APageBeginsBehindWhatTheFilterHasDropped) {
  options_.shard_count = 1;
  for (int n = 1; n <= 8; ++n) {
    Item item = Entry(1, N(n), Cat(n));
    if (n != 3) (*item.mutable_attributes())["drop"] = Bool(true);
    fake_->Add("day.1", std::move(item));
  }
  request_.set_filter_expression("drop");
  request_.set_limit(5);
  options_.page_items_max = 1;
  EXPECT_THAT(ResumedPages(), ElementsAre("3", ""));
  ASSERT_THAT(fake_->requests, SizeIs(2));
  EXPECT_EQ(fake_->requests[1].exclusive_start_key().attributes().at("id").s(), "5");
}

TEST_F(ScatterQueryTest, OneShardIsAQuery) {
  options_.shard_count = 1;
  Fill({{1, 2, 3}});
  options_.page_items_max = 2;
  EXPECT_THAT(Pages(), ElementsAre("1:1 1:2", "1:3"));
  EXPECT_THAT(ResumedPages(), ElementsAre("1:1 1:2", "1:3"));
}

TEST_F(ScatterQueryTest, NumbersInAnAttributeOfTheirOwnMayBeginWithZero) {
  options_.shard_value = NumberedShards();
  options_.first_shard = 0;
  options_.shard_count = 2;
  // The fake knows string partitions only. This test checks the requests.
  EXPECT_THAT(Pages(), ElementsAre(""));
  std::multiset<std::string> asked;
  for (const auto& request : fake_->requests) asked.insert(request.expression_attribute_values().at(":p").n());
  EXPECT_THAT(asked, ElementsAre("0", "1"));
}

// Compared with a sort of all items: several page sizes, with fetches smaller and larger than a page.
TEST_F(ScatterQueryTest, TwoHundredShardsGiveEveryItemOnceInOrder) {
  std::mt19937 random(4711);
  options_.shard_count = 200;
  std::vector<std::vector<int>> shards(200);
  for (int i = 0; i < 1500; ++i) shards[random() % 190].push_back(static_cast<int>(random() % 300));
  std::vector<std::tuple<int, int, int>> model;  // value, shard, place in the shard
  for (size_t shard = 0; shard < shards.size(); ++shard) {
    std::sort(shards[shard].begin(), shards[shard].end());
    for (size_t i = 0; i < shards[shard].size(); ++i) {
      model.emplace_back(shards[shard][i], static_cast<int>(shard) + 1, static_cast<int>(i));
      const auto& [value, number, place] = model.back();
      fake_->Add(Cat("day.", number), Entry(number, N(value), Cat(value, "/", number, "/", place)));
    }
  }
  std::sort(model.begin(), model.end());
  std::string all;
  for (const auto& [value, number, place] : model) {
    all += Cat(all.empty() ? "" : " ", value, "/", number, "/", place);
  }
  for (const int page : {7, 400, 5000}) {
    options_.page_items_max = page;
    request_.clear_limit();
    if (page == 7) request_.set_limit(2);
    std::string read;
    for (const std::string& ids : page == 7 ? Pages() : ResumedPages()) read += Cat(read.empty() ? "" : " ", ids);
    EXPECT_EQ(read, all) << page;
  }
  EXPECT_LE(fake_->under_way_max, options_.parallel_max);
}

TEST_F(ScatterQueryTest, ShardsAreAskedAtOnceWithinTheBound) {
  options_.shard_count = 10;
  options_.parallel_max = 4;
  fake_->AwaitTogether(4, absl::Seconds(30));
  EXPECT_THAT(Pages(), ElementsAre(""));
  EXPECT_EQ(fake_->under_way_max, 4);
  EXPECT_THAT(fake_->requests, SizeIs(10));
  fake_->AwaitTogether(5, absl::Milliseconds(100));  // there are at most four
  EXPECT_THAT(Pages(), ElementsAre(""));
  EXPECT_EQ(fake_->under_way_max, 4);
}

TEST_F(ScatterQueryTest, OneAtATimeNeedsNoThreads) {
  options_.parallel_max = 1;
  Fill({{1}, {2}, {3}});
  EXPECT_THAT(Pages(), ElementsAre("1:1 2:2 3:3"));
  EXPECT_EQ(fake_->under_way_max, 1);
}

TEST_F(ScatterQueryTest, AskedForIsAboutWhatAPageNeeds) {
  options_.shard_count = 10;
  options_.page_items_max = 100;
  EXPECT_THAT(Pages(), ElementsAre(""));
  for (const auto& request : fake_->requests) EXPECT_EQ(request.limit(), 30);
  fake_->requests.clear();
  options_.page_items_max = 3;
  EXPECT_THAT(Pages(), ElementsAre(""));
  for (const auto& request : fake_->requests) EXPECT_EQ(request.limit(), 3);
  fake_->requests.clear();
  request_.set_limit(17);
  EXPECT_THAT(Pages(), ElementsAre(""));
  for (const auto& request : fake_->requests) EXPECT_EQ(request.limit(), 17);
}

TEST_F(ScatterQueryTest, TheRestOfTheRequestGoesToEachShard) {
  request_.set_filter_expression("x > :x");
  (*request_.mutable_expression_attribute_values())[":x"] = N(1);
  (*request_.mutable_expression_attribute_values())[":p"] = S("replaced");
  request_.set_at_least_sequence(12);
  EXPECT_THAT(Pages(), ElementsAre(""));
  std::multiset<std::string> asked;
  for (api::v1::QueryRequest request : fake_->requests) {
    asked.insert(request.expression_attribute_values().at(":p").s());
    request.clear_limit();
    (*request.mutable_expression_attribute_values())[":p"] = S("replaced");
    EXPECT_EQ(request.DebugString(), request_.DebugString());
  }
  EXPECT_THAT(asked, ElementsAre("day.1", "day.2", "day.3"));
}

TEST_F(ScatterQueryTest, AnErrorNamesTheShardAndKeepsItsDetail) {
  Fill({{1}, {2}, {3}});
  fake_->FailAfter("day.2", 0, Throttled());
  absl::StatusOr<ScatterQuery> query = Begin();
  ASSERT_TRUE(query.ok());
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = query->NextPage().status();
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_EQ(ErrorName(status), "ThrottlingException");
    EXPECT_EQ(status.message(), "shard 2: said the daemon");
    fake_->Heal();  // the query has already failed
  }
}

TEST_F(ScatterQueryTest, AnErrorEndsTheWalkBehindWhatIsInOrderAndItCanGoOn) {
  Fill({{1, 4, 7, 10}, {2, 5, 8}, {3, 6, 9}});
  request_.set_limit(2);
  fake_->FailAfter("day.2", 1, Throttled());
  options_.page_items_max = 3;
  absl::StatusOr<ScatterQuery> query = Begin();
  ASSERT_TRUE(query.ok());
  std::string read;
  std::string continuation;
  while (true) {
    const auto page = query->NextPage();
    if (!page.ok()) break;
    ASSERT_TRUE(page->has_value()) << "it ended as if nothing had happened";
    read += Cat(Ids((*page)->items), " ");
    continuation = (*page)->continuation;
  }
  EXPECT_FALSE(query->NextPage().ok());
  fake_->Heal();
  query = Begin(continuation);
  ASSERT_TRUE(query.ok()) << query.status();
  for (auto& item : *query) {
    ASSERT_TRUE(item.ok());
    read += Cat(item->attributes().at("id").s(), " ");
  }
  EXPECT_EQ(read, "1:1 2:2 3:3 1:4 2:5 3:6 1:7 2:8 3:9 1:10 ");
}

TEST_F(ScatterQueryTest, IterationGivesAllItemsAndThenTheError) {
  Fill({{1, 4}, {2, 5, 8}, {3, 6}});
  options_.page_items_max = 2;
  absl::StatusOr<ScatterQuery> query = Begin();
  ASSERT_TRUE(query.ok());
  std::string read;
  for (auto& item : *query) read += Cat(item.ok() ? item->attributes().at("id").s() : "error", " ");
  EXPECT_EQ(read, "1:1 2:2 3:3 1:4 2:5 3:6 2:8 ");

  request_.set_limit(1);
  fake_->FailAfter("day.3", 1, Throttled());
  query = Begin();
  ASSERT_TRUE(query.ok());
  read.clear();
  for (auto& item : *query) read += Cat(item.ok() ? item->attributes().at("id").s() : "error", " ");
  EXPECT_EQ(read, "1:1 2:2 3:3 error ") << "all that is in order before it, though it is no full page";
}

TEST_F(ScatterQueryTest, ItemsMustHaveTheirKeys) {
  Item item = Entry(2, N(1), "x");
  item.mutable_attributes()->erase("n");
  fake_->Add("day.2", item);
  EXPECT_THAT(Pages(),
              ElementsAre("error: shard 2: an item lacks the key attribute n; the projection must keep all key "
                          "attributes"));
}

TEST_F(ScatterQueryTest, ContinuationsOfOtherQueriesAreRefused) {
  Fill({{1, 4}, {2}, {3}});
  options_.page_items_max = 1;
  absl::StatusOr<ScatterQuery> query = Begin();
  ASSERT_TRUE(query.ok());
  const std::string continuation = (*query->NextPage())->continuation;
  ASSERT_TRUE(Refusal(continuation).ok());
  EXPECT_EQ(continuation.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
            std::string::npos);

  const auto refused = [&](const std::string& text) {
    const absl::Status status = Refusal(text);
    return absl::IsInvalidArgument(status) && std::string(status.message()).rfind("the continuation is", 0) == 0;
  };
  for (const std::string& text : {std::string("x"), std::string("!"), continuation.substr(0, continuation.size() / 2),
                                  continuation + continuation}) {
    EXPECT_TRUE(refused(text)) << text;
  }
  const api::v1::QueryRequest request = request_;
  const ScatterOptions options = options_;
  request_.set_table_name("other");
  EXPECT_TRUE(refused(continuation));
  request_.set_table_name("arn:aws:dynamodb:local:000000000000:table/t");
  EXPECT_FALSE(refused(continuation)) << "the same table";
  request_ = request;
  request_.set_index_name("other");
  EXPECT_TRUE(refused(continuation));
  request_ = request;
  request_.set_scan_index_forward(false);
  EXPECT_TRUE(refused(continuation));
  request_.set_scan_index_forward(true);
  EXPECT_FALSE(refused(continuation)) << "the default";
  options_.shard_count = 4;
  EXPECT_TRUE(refused(continuation));
  options_ = options;
  options_.first_shard = 0;
  EXPECT_TRUE(refused(continuation));
  options_ = options;
  options_.shard_value = SuffixedShards("day", "-");
  EXPECT_TRUE(refused(continuation));
}

TEST_F(ScatterQueryTest, OptionsOutOfRangeAreRefused) {
  const ScatterOptions good = options_;
  const std::vector<void (*)(ScatterOptions&)> faults = {
      [](ScatterOptions& o) { o.value_name = ""; },    [](ScatterOptions& o) { o.value_name = ":"; },
      [](ScatterOptions& o) { o.value_name = "day"; }, [](ScatterOptions& o) { o.shard_value = nullptr; },
      [](ScatterOptions& o) { o.shard_count = 0; },    [](ScatterOptions& o) { o.shard_count = kShardsMax + 1; },
      [](ScatterOptions& o) { o.page_items_max = 0; }, [](ScatterOptions& o) { o.parallel_max = 0; },
      [](ScatterOptions& o) { o.parallel_max = 65; },
  };
  for (size_t i = 0; i < faults.size(); ++i) {
    options_ = good;
    faults[i](options_);
    EXPECT_TRUE(absl::IsInvalidArgument(Refusal())) << i;
  }
  options_ = good;
  request_.set_select(api::v1::SELECT_COUNT);
  EXPECT_TRUE(absl::IsInvalidArgument(Refusal()));
  request_.clear_select();
  *request_.mutable_exclusive_start_key() = Entry(1, N(1), "1");
  EXPECT_TRUE(absl::IsInvalidArgument(Refusal()));
  request_.clear_exclusive_start_key();
  EXPECT_TRUE(Refusal().ok());
  EXPECT_THAT(fake_->requests, IsEmpty()) << "Begin makes no call";
}

TEST(ScatterContinuation, ComesBackAsItWas) {
  const Item key = Entry(1, N(1), "x");
  const std::vector<ShardPosition> positions = {
      {.is_done = true, .start_after = std::nullopt}, {}, {.is_done = false, .start_after = key}};
  const std::string text = EncodeContinuation("query", positions);
  const auto decoded = DecodeContinuation(text, "query", 3);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  ASSERT_THAT(*decoded, SizeIs(3));
  EXPECT_TRUE((*decoded)[0].is_done);
  EXPECT_FALSE((*decoded)[1].is_done);
  EXPECT_FALSE((*decoded)[1].start_after.has_value());
  EXPECT_EQ((*decoded)[2].start_after->DebugString(), key.DebugString());
  EXPECT_FALSE(DecodeContinuation(text, "query", 2).ok());
  EXPECT_FALSE(DecodeContinuation(text, "other", 3).ok());
  EXPECT_FALSE(DecodeContinuation("", "query", 3).ok());
}

TEST(ScatterKeysOf, TakesThemFromTheDescription) {
  const auto add = [](auto* keyed, const std::string& name, api::v1::KeyType type) {
    auto* element = keyed->add_key_schema();
    element->set_attribute_name(name);
    element->set_key_type(type);
  };
  api::v1::TableDescription table;
  table.set_table_name("t");
  add(&table, "id", api::v1::KEY_TYPE_HASH);
  add(&table, "at", api::v1::KEY_TYPE_RANGE);
  auto* global = table.add_global_secondary_indexes();
  global->set_index_name("global");
  for (const char* const name : {"day", "shard"}) add(global, name, api::v1::KEY_TYPE_HASH);
  for (const char* const name : {"kind", "at"}) add(global, name, api::v1::KEY_TYPE_RANGE);
  auto* local = table.add_local_secondary_indexes();
  local->set_index_name("local");
  add(local, "id", api::v1::KEY_TYPE_HASH);
  add(local, "size", api::v1::KEY_TYPE_RANGE);

  const auto keys = KeysOf(table, "global");
  ASSERT_TRUE(keys.ok());
  EXPECT_THAT(keys->sort, ElementsAre("kind", "at"));
  EXPECT_THAT(keys->others, ElementsAre("day", "shard", "id"));
  EXPECT_THAT(KeysOf(table, "local")->sort, ElementsAre("size"));
  EXPECT_THAT(KeysOf(table, "local")->others, ElementsAre("id", "at"));
  EXPECT_THAT(KeysOf(table, "")->sort, ElementsAre("at"));
  EXPECT_THAT(KeysOf(table, "")->others, ElementsAre("id"));
  EXPECT_TRUE(absl::IsNotFound(KeysOf(table, "none").status()));
}

}  // namespace armature::client::scatter_query_test
