// Pages of Query and Scan: by Limit and by size, in both directions, and in parallel segments.

#include <algorithm>
#include <set>

#include "tests/support/daemon_test.h"

namespace armature::test {
namespace {

using testing::ElementsAre;

constexpr char kTable[] = R"({"TableName": "Pages", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}, {"AttributeName": "n", "AttributeType": "N"}],
    "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [{"IndexName": "Numbers", "Projection": {"ProjectionType": "ALL"},
        "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}, {"AttributeName": "p", "KeyType": "RANGE"}]}]})";

class Paging : public DaemonTest {
 protected:
  Paging() : DaemonTest({"--durability=os"}) { Create(kTable); }

  // Puts items (p, 0), (p, 1), ... of slightly more than `bytes` each.
  void Fill(std::string_view p, int count, size_t bytes) {
    for (int n = 0; n < count; ++n) {
      last_ = Put("Pages", client::ItemBuilder()
                               .Set("p", client::S(p))
                               .Set("n", client::N(n))
                               .Set("b", client::B(std::string(bytes, 'b')))
                               .Build());
    }
  }

  static api::v1::QueryRequest QueryOf(std::string_view p, bool forward) {
    auto request = FromJson<api::v1::QueryRequest>(R"({"TableName": "Pages", "KeyConditionExpression": "p = :p"})");
    (*request.mutable_expression_attribute_values())[":p"] = client::S(p);
    request.set_scan_index_forward(forward);
    return request;
  }

  // Returns the sizes of all pages, and appends each item as "p n" to `seen`, in order.
  template <class Pages>
  static std::vector<int> Walk(Pages pages, std::vector<std::string>* seen) {
    std::vector<int> sizes;
    for (auto& page : pages) {
      if (!page.ok()) throw std::runtime_error(page.status().ToString());
      EXPECT_EQ(page->count(), page->items_size());
      sizes.push_back(page->items_size());
      for (const client::Item& item : page->items()) {
        seen->push_back(item.attributes().at("p").s() + " " + item.attributes().at("n").n());
      }
    }
    return sizes;
  }

  uint64_t last_ = 0;
};

TEST_F(Paging, ByLimitInBothDirections) {
  Fill("a", 5, 1);
  Fill("b", 25, 1);
  Fill("c", 5, 1);
  for (const bool forward : {true, false}) {
    std::vector<std::string> expected;
    for (int n = 0; n < 25; ++n) expected.push_back("b " + std::to_string(n));
    if (!forward) std::reverse(expected.begin(), expected.end());
    auto request = QueryOf("b", forward);
    request.set_limit(10);
    std::vector<std::string> seen;
    EXPECT_THAT(Walk(client().QueryPages(request), &seen), ElementsAre(10, 10, 5));
    EXPECT_EQ(seen, expected);
    // If the limit divides the number of items, the last page is empty.
    request.set_limit(5);
    seen.clear();
    EXPECT_THAT(Walk(client().QueryPages(request), &seen), ElementsAre(5, 5, 5, 5, 5, 0));
    EXPECT_EQ(seen, expected);
  }
}

TEST_F(Paging, LimitCountsWhatTheFilterDrops) {
  Fill("a", 10, 1);
  auto request =
      FromJson<api::v1::QueryRequest>(R"({"TableName": "Pages", "KeyConditionExpression": "p = :p", "Limit": 4,
      "FilterExpression": "b <> :b", "ExpressionAttributeValues": {":p": {"S": "a"}, ":b": {"B": "Yg=="}}})");
  const auto page = client().Query(request);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->count(), 0);
  EXPECT_EQ(page->scanned_count(), 4);
  EXPECT_EQ(ToJson(page->last_evaluated_key()), Canonical(R"({"p": {"S": "a"}, "n": {"N": "3"}})"));
}

TEST_F(Paging, ByOneMegabyteInBothDirections) {
  Fill("a", 25, 100'000);
  // The eleventh item exceeds 1 MB (1,048,576 bytes).
  for (const bool forward : {true, false}) {
    std::vector<std::string> seen;
    EXPECT_THAT(Walk(client().QueryPages(QueryOf("a", forward)), &seen), ElementsAre(11, 11, 3));
    EXPECT_EQ(seen.front(), forward ? "a 0" : "a 24");
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 25U);
  }
  std::vector<std::string> seen;
  EXPECT_THAT(Walk(client().ScanPages(FromJson<api::v1::ScanRequest>(R"({"TableName": "Pages"})")), &seen),
              ElementsAre(11, 11, 3));
  // Items count toward the limit even if they are not returned.
  const auto counted = client().Query([] {
    auto request = QueryOf("a", true);
    request.set_select(api::v1::SELECT_COUNT);
    return request;
  }());
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->count(), 11);
  EXPECT_EQ(counted->items_size(), 0);
  EXPECT_TRUE(counted->has_last_evaluated_key());
}

TEST_F(Paging, SegmentsCoverEverythingOnce) {
  for (int p = 0; p < 40; ++p) Fill("p" + std::to_string(p), 3, 1);
  WaitForIndexes("Pages", last_);
  for (const std::string index : {"", R"(, "IndexName": "Numbers")"}) {
    for (const int total : {1, 2, 7, 100}) {
      std::vector<std::string> seen;
      for (int segment = 0; segment < total; ++segment) {
        auto request = FromJson<api::v1::ScanRequest>(R"({"TableName": "Pages", "Limit": 4)" + index + "}");
        request.set_segment(segment);
        request.set_total_segments(total);
        Walk(client().ScanPages(request), &seen);
      }
      EXPECT_EQ(seen.size(), 120U) << total << index;
      EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 120U) << total << index;
    }
  }
}

TEST_F(Paging, AnIndexPagesByLimit) {
  for (int p = 0; p < 12; ++p) Fill("p" + std::to_string(10 + p), 1, 1);
  WaitForIndexes("Pages", last_);
  for (const bool forward : {true, false}) {
    auto request = FromJson<api::v1::QueryRequest>(R"({"TableName": "Pages", "IndexName": "Numbers", "Limit": 5,
        "KeyConditionExpression": "n = :n", "ExpressionAttributeValues": {":n": {"N": "0"}}})");
    request.set_scan_index_forward(forward);
    std::vector<std::string> seen;
    EXPECT_THAT(Walk(client().QueryPages(request), &seen), ElementsAre(5, 5, 2));
    EXPECT_EQ(seen.front(), forward ? "p10 0" : "p21 0");
    EXPECT_EQ(seen.back(), forward ? "p21 0" : "p10 0");
  }
}

TEST_F(Paging, CountsWithoutItems) {
  Fill("a", 7, 1);
  const auto scanned = Scan(R"({"TableName": "Pages", "Select": "COUNT", "FilterExpression": "n >= :n",
                                "ExpressionAttributeValues": {":n": {"N": "4"}}})");
  EXPECT_EQ(scanned.items_size(), 0);
  EXPECT_EQ(scanned.count(), 3);
  EXPECT_EQ(scanned.scanned_count(), 7);
}

TEST_F(Paging, CostsHalfAUnitForEachFourKilobytesRead) {
  Fill("a", 100, 1533);  // 1.5 KB each: "p" "a" "n" 2 or 3 bytes "b" 1533.
  const auto page = Query(R"({"TableName": "Pages", "KeyConditionExpression": "p = :p", "Select": "COUNT",
      "ExpressionAttributeValues": {":p": {"S": "a"}}, "ReturnConsumedCapacity": "TOTAL"})");
  EXPECT_EQ(page.count(), 100);
  EXPECT_EQ(page.consumed_capacity().capacity_units(), 19.0);
  EXPECT_FALSE(page.consumed_capacity().has_table());
}

}  // namespace
}  // namespace armature::test
