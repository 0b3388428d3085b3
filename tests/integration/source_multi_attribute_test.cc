// Multi-attribute keys: the blog's orders-table with both indexes, and the rules of key conditions.

#include "tests/support/daemon_test.h"

namespace armature::test::source_multi_attribute_test {

using testing::ElementsAre;

constexpr char kKsuid1[] = R"({"org_id": {"S": "OMEGA"}, "order_date": {"S": "2025-11-04"}, "status": {"S": "ACTIVE"},
    "acc_type": {"S": "A"}, "customer_id": {"S": "1A2B3C"}, "amount": {"N": "200"}, "order_id": {"S": "KSUID1"}})";
constexpr char kKsuid2[] = R"({"org_id": {"S": "OMEGA"}, "order_date": {"S": "2025-11-04"}, "status": {"S": "PENDING"},
    "acc_type": {"S": "A"}, "customer_id": {"S": "1A2B3C"}, "amount": {"N": "145"}, "order_id": {"S": "KSUID2"}})";
constexpr char kKsuid3[] = R"({"org_id": {"S": "BRAVO"}, "order_date": {"S": "2025-11-04"}, "status": {"S": "PENDING"},
    "acc_type": {"S": "B"}, "customer_id": {"S": "1A2B3C"}, "amount": {"N": "110"}, "order_id": {"S": "KSUID3"}})";

class SourceMultiAttribute : public DaemonTest {
 protected:
  SourceMultiAttribute() { CreateSample("orders-table"); }

  // A query that defines only the placeholders of its condition.
  static std::string Orders(std::string_view index, std::string_view condition, std::string_view more = "") {
    static constexpr std::pair<std::string_view, std::string_view> kValues[] = {
        {":cust", R"({"S": "1A2B3C"})"},     {":status", R"({"S": "PENDING"})"}, {":date", R"({"S": "2025-11-04"})"},
        {":day2", R"({"S": "2025-11-05"})"}, {":min_amount", R"({"N": "100"})"}, {":max_amount", R"({"N": "145"})"},
        {":prefix", R"({"S": "2025-11"})"},  {":org", R"({"S": "OMEGA"})"}};
    std::string values;
    for (const auto& [name, value] : kValues) {
      if (condition.find(name) == std::string_view::npos && more.find(name) == std::string_view::npos) continue;
      values += (values.empty() ? "\"" : ", \"") + std::string(name) + "\": " + std::string(value);
    }
    const bool alias = condition.find("#status") != std::string_view::npos;
    return R"({"TableName": "orders-table", "IndexName": ")" + std::string(index) +
           R"(", "KeyConditionExpression": ")" + std::string(condition) + "\"" +
           (alias ? R"(, "ExpressionAttributeNames": {"#status": "status"})" : "") +
           R"(, "ExpressionAttributeValues": {)" + values + "}" + std::string(more) + "}";
  }

  std::vector<std::string> OrderIds(std::string_view index, std::string_view condition, std::string_view more = "") {
    return Column(Query(Orders(index, condition, more)).items(), "order_id");
  }
};

constexpr std::string_view kByStatus = "OrdersByStatusDateAmount";
constexpr std::string_view kByOrg = "OrdersByOrgAccountStatus";

TEST_F(SourceMultiAttribute, AnswersTheOrdersOfACustomer) {
  const auto page = Query(Orders(kByStatus, "customer_id = :cust"));
  ASSERT_EQ(page.items_size(), 3);
  EXPECT_EQ(ToJson(page.items(0)), Canonical(kKsuid1));
  EXPECT_EQ(ToJson(page.items(1)), Canonical(kKsuid3));
  EXPECT_EQ(ToJson(page.items(2)), Canonical(kKsuid2));
  EXPECT_EQ(page.count(), 3);
  EXPECT_EQ(page.scanned_count(), 3);
  EXPECT_FALSE(page.has_consumed_capacity());
}

TEST_F(SourceMultiAttribute, AnswersThePendingOrders) {
  const auto page = Query(Orders(kByStatus, "customer_id = :cust AND #status = :status"));
  ASSERT_EQ(page.items_size(), 2);
  EXPECT_EQ(ToJson(page.items(0)), Canonical(kKsuid3));
  EXPECT_EQ(ToJson(page.items(1)), Canonical(kKsuid2));
}

TEST_F(SourceMultiAttribute, AnswersThePendingOrdersOfADay) {
  constexpr std::string_view kCondition = "customer_id = :cust AND #status = :status AND order_date = :date";
  EXPECT_THAT(OrderIds(kByStatus, kCondition), ElementsAre("KSUID3", "KSUID2"));
}

TEST_F(SourceMultiAttribute, AnswersThePendingOrdersOfADayAboveAnAmount) {
  constexpr std::string_view kDay = "customer_id = :cust AND #status = :status AND order_date = :date";
  EXPECT_THAT(OrderIds(kByStatus, std::string(kDay) + " AND amount > :min_amount"), ElementsAre("KSUID3", "KSUID2"));
  EXPECT_THAT(OrderIds(kByStatus, std::string(kDay) + " AND amount < :max_amount"), ElementsAre("KSUID3"));
  EXPECT_THAT(OrderIds(kByStatus, std::string(kDay) + " AND amount >= :max_amount"), ElementsAre("KSUID2"));
  EXPECT_THAT(OrderIds(kByStatus, std::string(kDay) + " AND amount between :min_amount and :max_amount"),
              ElementsAre("KSUID3", "KSUID2"));
}

TEST_F(SourceMultiAttribute, TakesTwoPartitionAttributes) {
  constexpr std::string_view kBoth = "customer_id = :cust AND #status = :status";
  EXPECT_THAT(OrderIds(kByOrg, kBoth), ElementsAre("KSUID3", "KSUID2"));
  EXPECT_THAT(OrderIds(kByOrg, std::string(kBoth) + " AND order_date = :date AND amount > :min_amount"),
              ElementsAre("KSUID3", "KSUID2"));
  EXPECT_THAT(OrderIds(kByOrg, std::string(kBoth) + " AND begins_with(order_date, :prefix)"),
              ElementsAre("KSUID3", "KSUID2"));
  EXPECT_THAT(OrderIds(kByOrg, std::string(kBoth) + " AND order_date >= :day2"), ElementsAre());
}

struct Legal {
  std::string_view index;
  std::string_view condition;
};

TEST_F(SourceMultiAttribute, TakesConditionsInAnyOrderAndEitherOperandFirst) {
  constexpr Legal kLegal[] = {
      {kByStatus, "amount > :min_amount AND order_date = :date AND #status = :status AND customer_id = :cust"},
      {kByStatus, ":cust = customer_id AND #status = :status AND :min_amount < amount AND order_date = :date"},
      {kByStatus, "customer_id = :cust AND #status = :status AND begins_with(order_date, :prefix)"},
      {kByStatus, "customer_id = :cust AND begins_with(#status, :status)"},
      {kByStatus, "customer_id = :cust AND #status >= :status"},
      {kByStatus, "customer_id = :cust AND #status = :status AND order_date between :prefix and :day2"},
      {kByOrg, "#status = :status AND customer_id = :cust"},
      {kByOrg, "order_date <= :date AND #status = :status AND customer_id = :cust"},
  };
  for (const Legal& legal : kLegal) {
    EXPECT_THAT(OrderIds(legal.index, legal.condition), ElementsAre("KSUID3", "KSUID2")) << legal.condition;
    EXPECT_THAT(OrderIds(legal.index, legal.condition, R"(, "ScanIndexForward": false)"),
                ElementsAre("KSUID2", "KSUID3"))
        << legal.condition;
  }
}

struct Illegal {
  std::string_view index;
  std::string_view condition;
  std::string_view message;
};

TEST_F(SourceMultiAttribute, RefusesOtherConditionsWithTheDocumentedText) {
  constexpr Illegal kIllegal[] = {
      {kByOrg, "customer_id = :cust",
       "HASH key attributes status must have equality conditions specified in the query"},
      {kByOrg, "#status = :status",
       "HASH key attributes customer_id must have equality conditions specified in the query"},
      {kByOrg, "customer_id = :cust AND #status > :status",
       "HASH key attributes status must have equality conditions specified in the query"},
      {kByOrg, "customer_id = :cust AND begins_with(#status, :status)",
       "HASH key attributes status must have equality conditions specified in the query"},
      {kByStatus, "customer_id > :cust", "Query key condition not supported"},
      {kByStatus, "#status = :status", "Query condition missed key schema element: customer_id"},
      // A missing attribute in the middle.
      {kByStatus, "customer_id = :cust AND order_date = :date",
       "RANGE key attributes status must have equality conditions specified in the query because a condition is "
       "present on key attribute order_date"},
      {kByStatus, "customer_id = :cust AND #status = :status AND amount > :min_amount",
       "RANGE key attributes order_date must have equality conditions specified in the query because a condition is "
       "present on key attribute amount"},
      // A range condition that is not on the last attribute.
      {kByStatus, "customer_id = :cust AND #status > :status AND order_date = :date",
       "RANGE key attributes status must have equality conditions specified in the query because a condition is "
       "present on key attribute order_date"},
      {kByStatus, "customer_id = :cust AND #status = :status AND order_date > :date AND amount > :min_amount",
       "RANGE key attributes order_date must have equality conditions specified in the query because a condition is "
       "present on key attribute amount"},
      // One attribute twice.
      {kByStatus, "customer_id = :cust AND #status = :status AND #status = :date",
       "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"},
      // A non-key attribute, a value of another type, and a type that no key can have.
      {kByStatus, "customer_id = :cust AND org_id = :org", "Query condition missed key schema element: status"},
      {kByStatus, "customer_id = :cust AND #status = :min_amount",
       "One or more parameter values were invalid: Condition parameter type does not match schema type"},
      {kByStatus, "customer_id = :cust AND #status = :status AND begins_with(order_date, :min_amount)",
       "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: "
       "begins_with, operand type: N"},
  };
  for (const Illegal& illegal : kIllegal) {
    EXPECT_THAT(TryQuery(Orders(illegal.index, illegal.condition)),
                IsRefused("ValidationException", std::string(illegal.message)))
        << illegal.condition;
  }
}

TEST_F(SourceMultiAttribute, FiltersByWhatIsNoKeyOfTheIndex) {
  constexpr std::string_view kPending = "customer_id = :cust AND #status = :status";
  EXPECT_THAT(OrderIds(kByStatus, kPending, R"(, "FilterExpression": "org_id = :org")"), ElementsAre("KSUID2"));
  EXPECT_THAT(
      TryQuery(Orders(kByStatus, kPending, R"(, "FilterExpression": "amount > :min_amount")")),
      IsRefused("ValidationException",
                "Filter Expression can only contain non-primary key attributes: Primary key attribute: amount"));
}

TEST_F(SourceMultiAttribute, PagesWithTheUnionOfBothKeys) {
  auto request = FromJson<api::v1::QueryRequest>(Orders(kByStatus, "customer_id = :cust", R"(, "Limit": 1)"));
  const auto first = client().Query(request);
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(Names(first->last_evaluated_key()),
              ElementsAre("amount", "customer_id", "order_date", "order_id", "status"));
  std::vector<std::string> ids;
  auto items = client().QueryItems(request);
  for (const auto& item : items) {
    ASSERT_TRUE(item.ok()) << item.status();
    ids.push_back(item->attributes().at("order_id").s());
  }
  EXPECT_THAT(ids, ElementsAre("KSUID1", "KSUID3", "KSUID2"));

  *request.mutable_exclusive_start_key() = first->last_evaluated_key();
  request.mutable_exclusive_start_key()->mutable_attributes()->erase("amount");
  EXPECT_THAT(client().Query(request).status(),
              IsRefused("ValidationException", "The provided starting key is invalid"));
  *request.mutable_exclusive_start_key() = first->last_evaluated_key();
  (*request.mutable_exclusive_start_key()->mutable_attributes())["customer_id"].set_s("other");
  EXPECT_EQ(client::ErrorName(client().Query(request).status()), "ValidationException");
}

// A table with keys of several attributes.
class SourceMatches : public DaemonTest {
 protected:
  SourceMatches() {
    Create(R"({"TableName": "Matches", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
          {"AttributeName": "matchId", "AttributeType": "S"}, {"AttributeName": "tournamentId", "AttributeType": "S"},
          {"AttributeName": "region", "AttributeType": "S"}, {"AttributeName": "round", "AttributeType": "S"},
          {"AttributeName": "bracket", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "matchId", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [{"IndexName": "TournamentRegion", "Projection": {"ProjectionType": "ALL"},
          "KeySchema": [
            {"AttributeName": "tournamentId", "KeyType": "HASH"}, {"AttributeName": "region", "KeyType": "HASH"},
            {"AttributeName": "round", "KeyType": "RANGE"}, {"AttributeName": "bracket", "KeyType": "RANGE"},
            {"AttributeName": "matchId", "KeyType": "RANGE"}]}]})");
  }

  uint64_t PutMatch(const std::string& id, const std::string& tournament, const std::string& region,
                    const std::string& round, const std::string& bracket) {
    return Put("Matches", client::ItemBuilder()
                              .Set("matchId", client::S(id))
                              .Set("tournamentId", client::S(tournament))
                              .Set("region", client::S(region))
                              .Set("round", client::S(round))
                              .Set("bracket", client::S(bracket))
                              .Build());
  }

  static std::string Matches(std::string_view condition, std::string_view values) {
    return R"({"TableName": "Matches", "IndexName": "TournamentRegion", "KeyConditionExpression": "tournamentId = :t AND )" +
           std::string(condition) + R"(", "ExpressionAttributeNames": {"#r": "region"},
           "ExpressionAttributeValues": {":t": {"S": "ab"}, )" +
           std::string(values) + "}}";
  }
};

TEST_F(SourceMatches, OrdersByTheSortAttributesInTurn) {
  PutMatch("m1", "ab", "c", "FINAL", "UPPER");
  PutMatch("m2", "ab", "c", "FINAL", "LOWER");
  PutMatch("m4", "ab", "c", "A", "Z");
  PutMatch("m3", "ab", "c", "A", "Z");
  PutMatch("m5", "a", "bc", "A", "Z");  // another partition, although the concatenated texts are equal
  WaitForIndexes("Matches", PutMatch("m6", "ab", "d", "A", "Z"));
  EXPECT_THAT(Column(Query(Matches("#r = :r", R"(":r": {"S": "c"})")).items(), "matchId"),
              ElementsAre("m3", "m4", "m2", "m1"));
  EXPECT_THAT(Column(Query(R"json({"TableName": "Matches", "IndexName": "TournamentRegion",
                         "KeyConditionExpression": "tournamentId = :t AND #r = :r AND round = :x AND begins_with(bracket, :b)",
                         "ExpressionAttributeNames": {"#r": "region"},
                         "ExpressionAttributeValues": {":t": {"S": "ab"}, ":r": {"S": "c"}, ":x": {"S": "FINAL"},
                                                       ":b": {"S": "U"}}})json")
                         .items(),
                     "matchId"),
              ElementsAre("m1"));
  EXPECT_EQ(Scan(R"({"TableName": "Matches", "IndexName": "TournamentRegion"})").count(), 6);
}

TEST_F(SourceMatches, LeavesOutItemsThatLackAnyPart) {
  PutMatch("m1", "ab", "c", "FINAL", "UPPER");
  uint64_t last = Put("Matches", R"({"matchId": {"S": "m2"}, "tournamentId": {"S": "ab"}, "region": {"S": "c"},
                                     "round": {"S": "FINAL"}})");
  last = Put("Matches", R"({"matchId": {"S": "m3"}, "tournamentId": {"S": "ab"}, "round": {"S": "FINAL"},
                            "bracket": {"S": "UPPER"}})");
  WaitForIndexes("Matches", last);
  const std::string all = Matches("#r = :r", R"(":r": {"S": "c"})");
  EXPECT_THAT(Column(Query(all).items(), "matchId"), ElementsAre("m1"));
  EXPECT_EQ(Scan(R"({"TableName": "Matches"})").count(), 3);
  // One item gets its missing key attribute, another loses one.
  PutMatch("m3", "ab", "c", "FINAL", "LOWER");
  last = Put("Matches", R"({"matchId": {"S": "m1"}, "tournamentId": {"S": "ab"}})");
  WaitForIndexes("Matches", last);
  EXPECT_THAT(Column(Query(all).items(), "matchId"), ElementsAre("m3"));
}

TEST_F(SourceMatches, RefusesPartsOfAnotherTypeOrEmpty) {
  const std::string rest = R"(, "matchId": {"S": "m1"}, "tournamentId": {"S": "ab"}, "round": {"S": "A"})";
  const std::string mismatch =
      "One or more parameter values were invalid: Type mismatch for Index Key bracket Expected: S Actual: ";
  EXPECT_THAT(TryPut("Matches", R"({"region": {"S": "c"}, "bracket": {"NULL": true})" + rest + "}"),
              IsRefused("ValidationException", mismatch + "NULL IndexName: TournamentRegion"));
  EXPECT_THAT(TryPut("Matches", R"({"region": {"S": "c"}, "bracket": {"N": "1"})" + rest + "}"),
              IsRefused("ValidationException", mismatch + "N IndexName: TournamentRegion"));
  EXPECT_THAT(TryPut("Matches", R"({"bracket": {"S": "c"}, "region": {"S": ""})" + rest + "}"),
              IsRefused("ValidationException",
                        "One or more parameter values are not valid. A value specified for a secondary index key is "
                        "not supported. The AttributeValue for a key attribute cannot contain an empty string value. "
                        "IndexName: TournamentRegion, IndexKey: region"));
  EXPECT_EQ(Scan(R"({"TableName": "Matches"})").count(), 0);
}

// Four partition and four sort attributes, of all key types.
TEST_F(DaemonTest, KeysMayHaveFourPartitionAndFourSortAttributes) {
  std::string definitions = R"({"AttributeName": "id", "AttributeType": "S"})";
  std::string keys;
  constexpr std::string_view kTypes[] = {"S", "N", "B", "S", "N", "S", "B", "N"};
  for (size_t i = 0; i < 8; ++i) {
    const std::string name = "k" + std::to_string(i);
    definitions += R"(, {"AttributeName": ")" + name + R"(", "AttributeType": ")" + std::string(kTypes[i]) + "\"}";
    keys += (i == 0 ? "" : ", ") + (R"({"AttributeName": ")" + name) + R"(", "KeyType": ")" +
            (i < 4 ? "HASH" : "RANGE") + "\"}";
  }
  Create(R"({"TableName": "Eight", "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": [)" + definitions +
         R"(], "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "GlobalSecondaryIndexes": [{
            "IndexName": "All", "Projection": {"ProjectionType": "KEYS_ONLY"}, "KeySchema": [)" +
         keys + "]}]}");
  uint64_t last = 0;
  constexpr std::string_view kNumbers[] = {"10", "9", "-3"};
  for (const std::string_view number : kNumbers) {
    last = Put("Eight", client::ItemBuilder()
                            .Set("id", client::S(number))
                            .Set("k0", client::S("a"))
                            .Set("k1", client::N(1))
                            .Set("k2", client::B("b"))
                            .Set("k3", client::S("c"))
                            .Set("k4", client::N(4))
                            .Set("k5", client::S("e"))
                            .Set("k6", client::B("f"))
                            .Set("k7", client::N(number))
                            .Build());
  }
  WaitForIndexes("Eight", last);
  const auto page = Query(R"({"TableName": "Eight", "IndexName": "All", "KeyConditionExpression":
      "k0 = :0 AND k1 = :1 AND k2 = :2 AND k3 = :3 AND k4 = :4 AND k5 = :5 AND k6 = :6 AND k7 < :7",
      "ExpressionAttributeValues": {":0": {"S": "a"}, ":1": {"N": "1.0"}, ":2": {"B": "Yg=="}, ":3": {"S": "c"},
          ":4": {"N": "4"}, ":5": {"S": "e"}, ":6": {"B": "Zg=="}, ":7": {"N": "10"}}})");
  EXPECT_THAT(Column(page.items(), "k7"), ElementsAre("-3", "9"));
}

}  // namespace armature::test::source_multi_attribute_test
