// Index design: composite sort keys of businesses, and one index for several queries of orders.

#include "tests/support/daemon_test.h"

namespace armature::test {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class SourceDesign : public DaemonTest {
 protected:
  std::vector<std::string> Businesses(std::string_view type, std::string_view condition, std::string_view place) {
    const auto page = Query(R"({"TableName": "Business", "IndexName": "BusinessTypeIndex",
        "KeyConditionExpression": "BusinessType = :type AND )" +
                            std::string(condition) + R"(", "ExpressionAttributeNames": {"#place": "Country:State:City"},
        "ExpressionAttributeValues": {":type": {"S": ")" +
                            std::string(type) + R"("}, ":place": {"S": ")" + std::string(place) + R"("}}})");
    return Column(page.items(), "BusinessName");
  }
};

TEST_F(SourceDesign, FindsBusinessesByAPrefixOfTheirPlace) {
  CreateSample("Business");
  constexpr std::string_view kBegins = "begins_with(#place, :place)";
  EXPECT_THAT(Businesses("CoffeeShop", kBegins, "USA"), ElementsAre("Business2", "Business5"));
  EXPECT_THAT(Businesses("Restaurant", kBegins, "USA:Washington"), ElementsAre("Business4"));
  EXPECT_THAT(Businesses("Restaurant", kBegins, "India"), ElementsAre("Business3"));
  EXPECT_THAT(Businesses("FitnessCenter", "#place = :place", "USA:Washington:Seattle"), ElementsAre("Business1"));
  EXPECT_THAT(Businesses("FitnessCenter", kBegins, "USA:Oregon"), ElementsAre());
}

TEST_F(SourceDesign, ProjectsWhatTheListingsShow) {
  CreateSample("Business");
  const auto page = Scan(R"({"TableName": "Business", "IndexName": "BusinessTypeIndex"})");
  EXPECT_EQ(page.count(), 5);
  EXPECT_THAT(Names(page.items(0)), ElementsAre("BusinessAddress", "BusinessId", "BusinessName", "BusinessType",
                                                "Country:State:City", "PhoneNumber"));
}

class SourceDesignOrders : public DaemonTest {
 protected:
  SourceDesignOrders() {
    Create(R"({"TableName": "Orders", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "OrderId", "AttributeType": "S"},
            {"AttributeName": "CustomerId", "AttributeType": "S"}, {"AttributeName": "OrderDate", "AttributeType": "S"},
            {"AttributeName": "Status:OrderDate", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "OrderId", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [
          {"IndexName": "ByDate", "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["Status"]},
           "KeySchema": [{"AttributeName": "CustomerId", "KeyType": "HASH"},
                         {"AttributeName": "OrderDate", "KeyType": "RANGE"}]},
          {"IndexName": "ByStatus", "Projection": {"ProjectionType": "ALL"},
           "KeySchema": [{"AttributeName": "CustomerId", "KeyType": "HASH"},
                         {"AttributeName": "Status:OrderDate", "KeyType": "RANGE"}]}]})");
    struct Order {
      std::string_view id, customer, date, status;
    };
    constexpr Order kOrders[] = {{"o1", "c1", "2025-11-03", "Pending"},
                                 {"o2", "c1", "2025-10-01", "Delivered"},
                                 {"o3", "c1", "2025-10-20", "Pending"},
                                 {"o4", "c2", "2025-10-21", "Pending"},
                                 {"o5", "c1", "2025-10-25", "Pending"}};
    uint64_t last = 0;
    for (const Order& order : kOrders) {
      last = Put("Orders",
                 client::ItemBuilder()
                     .Set("OrderId", client::S(order.id))
                     .Set("CustomerId", client::S(order.customer))
                     .Set("OrderDate", client::S(order.date))
                     .Set("Status", client::S(order.status))
                     .Set("Status:OrderDate", client::S(std::string(order.status) + ":" + std::string(order.date)))
                     .Set("Note", client::S("x"))
                     .Build());
    }
    WaitForIndexes("Orders", last);
  }

  std::vector<std::string> Orders(std::string_view rest) {
    return Column(Query(R"({"TableName": "Orders", )" + std::string(rest)).items(), "OrderId");
  }
};

TEST_F(SourceDesignOrders, AnswersThreeQuestionsWithOneIndex) {
  // All orders of a customer, by date.
  EXPECT_THAT(Orders(R"("IndexName": "ByDate", "KeyConditionExpression": "CustomerId = :c",
                         "ExpressionAttributeValues": {":c": {"S": "c1"}}})"),
              ElementsAre("o2", "o3", "o5", "o1"));
  // Orders in a range of dates.
  EXPECT_THAT(Orders(R"("IndexName": "ByDate",
                         "KeyConditionExpression": "CustomerId = :c AND OrderDate BETWEEN :a AND :b",
                         "ExpressionAttributeValues": {":c": {"S": "c1"}, ":a": {"S": "2025-10-02"},
                                                       ":b": {"S": "2025-10-25"}}})"),
              ElementsAre("o3", "o5"));
  // Their ids, dates and statuses.
  const auto page = Query(R"({"TableName": "Orders", "IndexName": "ByDate", "KeyConditionExpression": "CustomerId = :c",
      "ProjectionExpression": "OrderId, OrderDate, #s", "ExpressionAttributeNames": {"#s": "Status"},
      "ExpressionAttributeValues": {":c": {"S": "c2"}}})");
  ASSERT_EQ(page.items_size(), 1);
  EXPECT_THAT(Names(page.items(0)), ElementsAre("OrderDate", "OrderId", "Status"));
}

TEST_F(SourceDesignOrders, FindsPendingOrdersOlderThanADate) {
  EXPECT_THAT(Orders(R"json("IndexName": "ByStatus",
                         "KeyConditionExpression": "CustomerId = :c AND begins_with(#sd, :p)",
                         "ExpressionAttributeNames": {"#sd": "Status:OrderDate"},
                         "ExpressionAttributeValues": {":c": {"S": "c1"}, ":p": {"S": "Pending:"}}})json"),
              ElementsAre("o3", "o5", "o1"));
  EXPECT_THAT(Orders(R"("IndexName": "ByStatus",
                         "KeyConditionExpression": "CustomerId = :c AND #sd BETWEEN :p AND :d",
                         "ExpressionAttributeNames": {"#sd": "Status:OrderDate"},
                         "ExpressionAttributeValues": {":c": {"S": "c1"}, ":p": {"S": "Pending:"},
                                                       ":d": {"S": "Pending:2025-10-30"}}})"),
              ElementsAre("o3", "o5"));
}

// A key with few values, spread over suffixes, is read one suffix at a time.
TEST_F(SourceDesign, ReadsASpreadPartitionKeyInParts) {
  Create(R"({"TableName": "Spread", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "OrderId", "AttributeType": "S"},
                               {"AttributeName": "SpreadStatus", "AttributeType": "S"}],
      "KeySchema": [{"AttributeName": "OrderId", "KeyType": "HASH"}],
      "GlobalSecondaryIndexes": [{"IndexName": "ByShard", "Projection": {"ProjectionType": "KEYS_ONLY"},
          "KeySchema": [{"AttributeName": "SpreadStatus", "KeyType": "HASH"}]}]})");
  uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    last = Put("Spread", client::ItemBuilder()
                             .Set("OrderId", client::S(std::to_string(i)))
                             .Set("SpreadStatus", client::S("Ordered." + std::to_string(i % 10 + 1)))
                             .Build());
  }
  WaitForIndexes("Spread", last);
  for (int shard = 1; shard <= 10; ++shard) {
    const auto page =
        Query(R"({"TableName": "Spread", "IndexName": "ByShard", "KeyConditionExpression": "SpreadStatus = :s",
        "ExpressionAttributeValues": {":s": {"S": "Ordered.)" +
              std::to_string(shard) + R"("}}})");
    EXPECT_THAT(Column(page.items(), "OrderId"),
                UnorderedElementsAre(std::to_string(shard - 1), std::to_string(shard + 9)));
  }
}

}  // namespace
}  // namespace armature::test
