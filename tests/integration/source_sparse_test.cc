// Sparse indexes: open orders of a customer, and games with an award.

#include "tests/support/daemon_test.h"

namespace armature::test {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class SourceSparse : public DaemonTest {
 protected:
  std::vector<std::string> OpenOrders(uint64_t at_least_sequence = 0) {
    auto request = FromJson<api::v1::QueryRequest>(R"({"TableName": "CustomerOrders", "IndexName": "OpenOrdersIndex",
        "KeyConditionExpression": "CustomerId = :c", "ExpressionAttributeValues": {":c": {"S": "C1"}}})");
    request.set_at_least_sequence(at_least_sequence);
    const auto page = client().Query(request);
    if (!page.ok()) throw std::runtime_error(page.status().ToString());
    EXPECT_EQ(page->scanned_count(), page->items_size());  // closed orders are not even read
    return Column(page->items(), "OrderId");
  }
};

TEST_F(SourceSparse, HoldsOpenOrdersOnly) {
  CreateSample("CustomerOrders");
  EXPECT_THAT(OpenOrders(), UnorderedElementsAre("O-1003", "O-1004"));
  EXPECT_EQ(Query(R"({"TableName": "CustomerOrders", "KeyConditionExpression": "CustomerId = :c",
                      "ExpressionAttributeValues": {":c": {"S": "C1"}}})")
                .count(),
            4);
}

TEST_F(SourceSparse, LosesAnOrderThatShipsAndTakesItBack) {
  CreateSample("CustomerOrders");
  const std::string shipped = R"({"CustomerId": {"S": "C1"}, "OrderId": {"S": "O-1003"}, "Amount": {"N": "15"}})";
  const std::string open =
      R"({"CustomerId": {"S": "C1"}, "OrderId": {"S": "O-1003"}, "Amount": {"N": "15"}, "isOpen": {"S": "Y"}})";
  EXPECT_THAT(OpenOrders(Put("CustomerOrders", shipped)), ElementsAre("O-1004"));
  EXPECT_THAT(OpenOrders(Put("CustomerOrders", open)), UnorderedElementsAre("O-1003", "O-1004"));
  EXPECT_THAT(OpenOrders(Delete("CustomerOrders", R"({"CustomerId": {"S": "C1"}, "OrderId": {"S": "O-1003"}})")),
              ElementsAre("O-1004"));
}

TEST_F(SourceSparse, SortsByTheDateOfOpening) {
  Create(R"({"TableName": "Dated", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "CustomerId", "AttributeType": "S"},
          {"AttributeName": "OrderId", "AttributeType": "S"}, {"AttributeName": "OrderOpenDate", "AttributeType": "S"}],
      "KeySchema": [{"AttributeName": "CustomerId", "KeyType": "HASH"}, {"AttributeName": "OrderId", "KeyType": "RANGE"}],
      "GlobalSecondaryIndexes": [{"IndexName": "Open", "Projection": {"ProjectionType": "KEYS_ONLY"},
          "KeySchema": [{"AttributeName": "CustomerId", "KeyType": "HASH"},
                        {"AttributeName": "OrderOpenDate", "KeyType": "RANGE"}]}]})");
  Put("Dated", R"({"CustomerId": {"S": "C"}, "OrderId": {"S": "1"}, "OrderOpenDate": {"S": "2025-03-01"}})");
  Put("Dated", R"({"CustomerId": {"S": "C"}, "OrderId": {"S": "2"}, "OrderOpenDate": {"S": "2025-01-01"}})");
  Put("Dated", R"({"CustomerId": {"S": "C"}, "OrderId": {"S": "3"}, "OrderOpenDate": {"S": "2025-02-01"}})");
  WaitForIndexes("Dated", Put("Dated", R"({"CustomerId": {"S": "C"}, "OrderId": {"S": "4"}})"));
  EXPECT_THAT(Column(Query(R"({"TableName": "Dated", "IndexName": "Open", "KeyConditionExpression": "CustomerId = :c",
                               "ExpressionAttributeValues": {":c": {"S": "C"}}})")
                         .items(),
                     "OrderId"),
              ElementsAre("2", "3", "1"));
}

// Rick played three games and won one. Padma played four and won two.
TEST_F(SourceSparse, HoldsGamesWithAnAwardOnly) {
  Create(R"({"TableName": "Games", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "UserId", "AttributeType": "S"},
          {"AttributeName": "GameId", "AttributeType": "S"}, {"AttributeName": "Award", "AttributeType": "S"},
          {"AttributeName": "Score", "AttributeType": "N"}],
      "KeySchema": [{"AttributeName": "UserId", "KeyType": "HASH"}, {"AttributeName": "GameId", "KeyType": "RANGE"}],
      "GlobalSecondaryIndexes": [{"IndexName": "Champs", "Projection": {"ProjectionType": "ALL"},
          "KeySchema": [{"AttributeName": "Award", "KeyType": "HASH"}, {"AttributeName": "Score", "KeyType": "RANGE"}]}]})");
  struct Game {
    std::string_view user, game;
    int score;
    bool champ;
  };
  constexpr Game kGames[] = {
      {"Rick", "g1", 3750, true},   {"Rick", "g2", 1980, false}, {"Rick", "g3", 1370, false},
      {"Padma", "g1", 4120, true},  {"Padma", "g2", 980, false}, {"Padma", "g3", 3980, true},
      {"Padma", "g4", 1020, false},
  };
  uint64_t last = 0;
  for (const Game& game : kGames) {
    client::ItemBuilder item;
    item.Set("UserId", client::S(game.user)).Set("GameId", client::S(game.game)).Set("Score", client::N(game.score));
    if (game.champ) item.Set("Award", client::S("Champ"));
    last = Put("Games", item.Build());
  }
  WaitForIndexes("Games", last);
  const auto champs = Query(R"({"TableName": "Games", "IndexName": "Champs", "KeyConditionExpression": "Award = :a",
      "ExpressionAttributeValues": {":a": {"S": "Champ"}}, "ScanIndexForward": false})");
  EXPECT_THAT(Column(champs.items(), "UserId"), ElementsAre("Padma", "Padma", "Rick"));
  EXPECT_THAT(Column(champs.items(), "Score"), ElementsAre("4120", "3980", "3750"));
  EXPECT_EQ(Scan(R"({"TableName": "Games", "IndexName": "Champs"})").scanned_count(), 3);
  EXPECT_EQ(Scan(R"({"TableName": "Games"})").count(), 7);
}

}  // namespace
}  // namespace armature::test
