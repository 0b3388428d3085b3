// The limit of item collections through both protocols, with a daemon that allows 1 MiB.

#include <string>
#include <string_view>

#include "tests/support/daemon_test.h"
#include "tests/support/raw_http_client.h"

namespace armature::test {
namespace {

constexpr char kException[] = "ItemCollectionSizeLimitExceededException";
constexpr char kText[] = "Collection size exceeded.";

class ItemCollections : public DaemonTest {
 protected:
  ItemCollections() : DaemonTest({"--item_collection_mb_max=1"}) {
    Create(R"({"TableName": "Posts", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "forum", "AttributeType": "S"},
            {"AttributeName": "post", "AttributeType": "N"}, {"AttributeName": "time", "AttributeType": "N"}],
        "KeySchema": [{"AttributeName": "forum", "KeyType": "HASH"}, {"AttributeName": "post", "KeyType": "RANGE"}],
        "LocalSecondaryIndexes": [{"IndexName": "ByTime", "Projection": {"ProjectionType": "KEYS_ONLY"},
            "KeySchema": [{"AttributeName": "forum", "KeyType": "HASH"},
                          {"AttributeName": "time", "KeyType": "RANGE"}]}]})");
  }

  static std::string Post(std::string_view forum, std::string_view post, size_t bytes) {
    return R"({"forum": {"S": ")" + std::string(forum) + R"("}, "post": {"N": ")" + std::string(post) +
           R"("}, "time": {"N": "1"}, "text": {"S": ")" + std::string(bytes, 'x') + R"("}})";
  }
  static std::string PutOf(const std::string& item) {
    return R"({"TableName": "Posts", "ReturnItemCollectionMetrics": "SIZE", "Item": )" + item + "}";
  }
  RawResponse PutOverHttp(const std::string& item) {
    RawHttpClient http(daemon().http_address());
    http.Send(test::Post(PutOf(item),
                         "Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\n"));
    return http.Read();
  }
};

TEST_F(ItemCollections, EndAtTheLimitThroughBothProtocols) {
  constexpr size_t kLarge = 390 << 10;
  for (const char* const post : {"1", "2"}) Put("Posts", Post("full", post, kLarge));
  const auto refused = client().PutItem(FromJson<api::v1::PutItemRequest>(PutOf(Post("full", "3", kLarge))));
  EXPECT_THAT(refused.status(), IsRefused(kException, kText));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  const RawResponse over_http = PutOverHttp(Post("full", "3", kLarge));
  EXPECT_EQ(over_http.status, 400);
  EXPECT_THAT(over_http.body, testing::HasSubstr("\"com.amazonaws.dynamodb.v20120810#" + std::string(kException)));
  EXPECT_THAT(over_http.body, testing::HasSubstr("\"message\":\"" + std::string(kText) + "\""));
  // The stored items can be read, and other collections can grow.
  EXPECT_EQ(Scan(R"({"TableName": "Posts", "IndexName": "ByTime"})").count(), 2);
  const auto other = client().PutItem(FromJson<api::v1::PutItemRequest>(PutOf(Post("other", "1", kLarge))));
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_THAT(other->item_collection_metrics().size_estimate_range_gb(), testing::ElementsAre(0.0, 1.0));
  const RawResponse small = PutOverHttp(Post("full", "4", 10));
  EXPECT_EQ(small.status, 200);
  EXPECT_EQ(
      small.body,
      R"({"ItemCollectionMetrics":{"ItemCollectionKey":{"forum":{"S":"full"}},"SizeEstimateRangeGB":[0.0,1.0]}})");
  // The limit holds after a restart. A delete makes room for a put.
  daemon().Restart();
  EXPECT_THAT(TryPut("Posts", Post("full", "3", kLarge)), IsRefused(kException, kText));
  Delete("Posts", R"({"forum": {"S": "full"}, "post": {"N": "2"}})");
  Put("Posts", Post("full", "3", kLarge));
}

}  // namespace
}  // namespace armature::test
