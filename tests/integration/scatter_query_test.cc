// Queries over write-sharded indexes.

#include "armature/client/scatter_query.h"

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"

namespace armature::test {
namespace {

using client::Client;
using client::ItemBuilder;
using client::KeysOf;
using client::N;
using client::S;
using client::ScatterOptions;
using client::ScatterQuery;

constexpr int kShards = 7;
constexpr int kEvents = 200;

// by_day: the shard number is a suffix of the day. by_kind: the shard number is a separate attribute, and there are two
// sort attributes.
constexpr char kTable[] = R"({"TableName": "events", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"},
                             {"AttributeName": "day", "AttributeType": "S"},
                             {"AttributeName": "shard", "AttributeType": "N"},
                             {"AttributeName": "kind", "AttributeType": "S"},
                             {"AttributeName": "at", "AttributeType": "N"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [
      {"IndexName": "by_day", "Projection": {"ProjectionType": "ALL"},
       "KeySchema": [{"AttributeName": "day", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}]},
      {"IndexName": "by_kind", "Projection": {"ProjectionType": "KEYS_ONLY"},
       "KeySchema": [{"AttributeName": "shard", "KeyType": "HASH"}, {"AttributeName": "kind", "KeyType": "RANGE"},
                     {"AttributeName": "at", "KeyType": "RANGE"}]}]})";

struct Event {
  std::string kind;
  int at;
  int shard;
  std::string id;
};

class ScatterQueryTest : public DaemonTest {
 protected:
  ScatterQueryTest() : session_(client().WithReadYourWrites()) {
    Create(kTable);
    std::mt19937 random(4711);
    for (int i = 0; i < kEvents; ++i) {
      const int shard = static_cast<int>(random() % kShards) + 1;
      Event event{.kind = random() % 2 == 0 ? "click" : "view",
                  .at = static_cast<int>(random() % 60) - 20,
                  .shard = shard,
                  .id = Cat("event-", i)};
      api::v1::PutItemRequest put;
      put.set_table_name("events");
      *put.mutable_item() = ItemBuilder()
                                .Set("id", S(event.id))
                                .Set("day", S(Cat("2024-10-01.", shard)))
                                .Set("shard", N(shard - 1))
                                .Set("kind", S(event.kind))
                                .Set("at", N(event.at))
                                .Build();
      const auto answer = session_.PutItem(put);
      if (!answer.ok()) throw std::runtime_error(answer.status().ToString());
      events_.push_back(std::move(event));
    }
  }

  ScatterOptions OptionsFor(std::string_view index) const {
    const auto table = session_.DescribeTable(FromJson<api::v1::DescribeTableRequest>(R"({"TableName": "events"})"));
    ScatterOptions options;
    options.value_name = ":shard";
    options.shard_value = client::SuffixedShards("2024-10-01");
    options.shard_count = kShards;
    options.keys = KeysOf(table.value().table(), index).value();
    return options;
  }

  // All items as "<at> <id>", each page read by a new query.
  std::vector<std::string> Read(const api::v1::QueryRequest& request, const ScatterOptions& options) const {
    std::vector<std::string> read;
    std::string continuation;
    do {
      absl::StatusOr<ScatterQuery> query = ScatterQuery::Begin(session_, request, options, continuation);
      if (!query.ok()) return {query.status().ToString()};
      const auto page = query->NextPage();
      if (!page.ok()) return {page.status().ToString()};
      continuation = (*page)->continuation;
      if (!continuation.empty() && static_cast<int>((*page)->items.size()) != options.page_items_max) {
        return {"a page in the middle is short"};
      }
      for (const auto& item : (*page)->items) {
        read.push_back(Cat(item.attributes().at("at").n(), " ", item.attributes().at("id").s()));
      }
    } while (!continuation.empty());
    return read;
  }

  const Client session_;
  std::vector<Event> events_;
};

TEST_F(ScatterQueryTest, ShardsAreReadAsOnePartition) {
  // Equal times are ordered by shard, then by the table's key.
  std::sort(events_.begin(), events_.end(),
            [](const Event& a, const Event& b) { return std::tie(a.at, a.shard) < std::tie(b.at, b.shard); });
  auto request = FromJson<api::v1::QueryRequest>(
      R"({"TableName": "events", "IndexName": "by_day", "KeyConditionExpression": "#d = :shard AND #a >= :least",
          "ExpressionAttributeNames": {"#d": "day", "#a": "at"}, "ExpressionAttributeValues": {":least": {"N": "-15"}}})");
  ScatterOptions options = OptionsFor("by_day");
  std::vector<std::string> forward;
  for (const int page : {13, 1, 1000}) {
    options.page_items_max = page;
    const std::vector<std::string> read = Read(request, options);
    if (forward.empty()) forward = read;
    EXPECT_EQ(read, forward) << page;
  }
  std::vector<int> times;
  std::vector<std::string> sorted = forward;
  std::vector<std::string> expected;
  for (const Event& event : events_) {
    if (event.at >= -15) expected.push_back(Cat(event.at, " ", event.id));
  }
  ASSERT_EQ(forward.size(), expected.size());
  for (size_t i = 0; i < forward.size(); ++i) {
    EXPECT_EQ(forward[i].substr(0, forward[i].find(' ')), expected[i].substr(0, expected[i].find(' '))) << i;
  }
  std::sort(sorted.begin(), sorted.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(sorted, expected) << "each once";

  request.set_scan_index_forward(false);
  options.page_items_max = 17;
  std::vector<std::string> backward = Read(request, options);
  std::reverse(backward.begin(), backward.end());
  EXPECT_EQ(backward, forward);
}

TEST_F(ScatterQueryTest, ShardsInAnAttributeOfTheirOwnAndSeveralSortAttributes) {
  auto request = FromJson<api::v1::QueryRequest>(
      R"({"TableName": "events", "IndexName": "by_kind", "KeyConditionExpression": "#s = :shard",
          "ExpressionAttributeNames": {"#s": "shard"}})");
  ScatterOptions options = OptionsFor("by_kind");
  options.shard_value = client::NumberedShards();
  options.first_shard = 0;
  absl::StatusOr<ScatterQuery> query = ScatterQuery::Begin(session_, request, options);
  ASSERT_TRUE(query.ok()) << query.status();
  std::vector<std::pair<std::string, int>> read;
  for (const auto& item : *query) {
    ASSERT_TRUE(item.ok()) << item.status();
    const auto& attributes = item->attributes();
    read.emplace_back(attributes.at("kind").s(), std::stoi(attributes.at("at").n()));
  }
  EXPECT_THAT(read, testing::SizeIs(kEvents));
  EXPECT_TRUE(std::is_sorted(read.begin(), read.end()));

  // With a filter, many calls return few items or none.
  request.set_filter_expression("id IN (:a, :b)");
  (*request.mutable_expression_attribute_values())[":a"] = S("event-3");
  (*request.mutable_expression_attribute_values())[":b"] = S("event-150");
  request.set_limit(3);
  options.page_items_max = 2;
  EXPECT_THAT(Read(request, options), testing::SizeIs(2));
}

TEST_F(ScatterQueryTest, WhatTheDaemonRefusesNamesTheShard) {
  const auto request = FromJson<api::v1::QueryRequest>(
      R"({"TableName": "events", "IndexName": "by_day", "KeyConditionExpression": "#d = :wrong",
          "ExpressionAttributeNames": {"#d": "day"}})");
  absl::StatusOr<ScatterQuery> query = ScatterQuery::Begin(session_, request, OptionsFor("by_day"));
  ASSERT_TRUE(query.ok()) << query.status();
  const absl::Status status = query->NextPage().status();
  EXPECT_EQ(client::ErrorName(status), "ValidationException");
  EXPECT_THAT(std::string(status.message()), testing::StartsWith("shard "));
}

}  // namespace
}  // namespace armature::test
