// Global secondary indexes: the guide's GameScores table with GameTitleIndex.

#include "tests/support/daemon_test.h"

namespace armature::test {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class SourceGsi : public DaemonTest {
 protected:
  SourceGsi() { CreateSample("GameScores"); }

  static std::string Scores(std::string_view title, std::string_view members) {
    return R"({"TableName": "GameScores", "IndexName": "GameTitleIndex",
        "KeyConditionExpression": "GameTitle = :v_title", "ExpressionAttributeValues": {":v_title": {"S": ")" +
           std::string(title) + R"("}}, )" + std::string(members) + "}";
  }
};

TEST_F(SourceGsi, AnswersTopScoresDescending) {
  const auto page =
      Query(Scores("Meteor Blasters", R"("ProjectionExpression": "UserId, TopScore", "ScanIndexForward": false)"));
  ASSERT_EQ(page.items_size(), 2);
  EXPECT_EQ(ToJson(page.items(0)), Canonical(R"({"UserId": {"S": "101"}, "TopScore": {"N": "1000"}})"));
  EXPECT_EQ(ToJson(page.items(1)), Canonical(R"({"UserId": {"S": "103"}, "TopScore": {"N": "723"}})"));
}

TEST_F(SourceGsi, OrdersNumbersByValue) {
  const auto page = Query(Scores("Galaxy Invaders", R"("ScanIndexForward": true)"));
  EXPECT_THAT(Column(page.items(), "TopScore"), ElementsAre("0", "2317", "5842"));
  EXPECT_THAT(Names(page.items(0)), ElementsAre("GameTitle", "TopScore", "UserId"));
}

TEST_F(SourceGsi, KeepsItemsOfOneIndexKeyApart) {
  const auto entries = Query(Scores("Comet Quest", R"("ScanIndexForward": true)"));
  EXPECT_THAT(Column(entries.items(), "UserId"), UnorderedElementsAre("123", "201", "301"));
  EXPECT_THAT(Column(entries.items(), "TopScore"), ElementsAre("0", "0", "0"));
}

TEST_F(SourceGsi, LeavesOutTheItemWithoutScore) {
  const auto items = Scan(R"({"TableName": "GameScores", "FilterExpression": "GameTitle = :v_title",
      "ExpressionAttributeValues": {":v_title": {"S": "Comet Quest"}}})");
  EXPECT_THAT(Column(items.items(), "UserId"), UnorderedElementsAre("123", "201", "301", "400"));
  EXPECT_EQ(Query(Scores("Comet Quest", R"("Select": "COUNT")")).count(), 3);
  EXPECT_EQ(Scan(R"({"TableName": "GameScores", "IndexName": "GameTitleIndex"})").count(), 12);
}

TEST_F(SourceGsi, RefusesAnIndexKeyOfAnotherType) {
  EXPECT_THAT(TryPut("GameScores", R"({"UserId": {"S": "1"}, "GameTitle": {"S": "Chess"}, "TopScore": {"S": "1"}})"),
              IsRefused("ValidationException",
                        "One or more parameter values were invalid: Type mismatch for Index Key TopScore Expected: N "
                        "Actual: S IndexName: GameTitleIndex"));
  EXPECT_EQ(Scan(R"({"TableName": "GameScores"})").count(), 13);
}

TEST_F(SourceGsi, ShowsAWriteToAQueryThatAsksForIt) {
  const uint64_t added =
      Put("GameScores", R"({"UserId": {"S": "500"}, "GameTitle": {"S": "Meteor Blasters"}, "TopScore": {"N": "9e2"}})");
  ASSERT_GT(added, 0U);
  const auto after = [&](uint64_t sequence) {
    auto request = FromJson<api::v1::QueryRequest>(Scores("Meteor Blasters", R"("ScanIndexForward": true)"));
    request.set_at_least_sequence(sequence);
    const auto page = client().Query(request);
    return page.ok() ? Column(page->items(), "TopScore") : std::vector<std::string>{page.status().ToString()};
  };
  EXPECT_THAT(after(added), ElementsAre("723", "900", "1000"));
  const uint64_t moved = Put(
      "GameScores", R"({"UserId": {"S": "500"}, "GameTitle": {"S": "Meteor Blasters"}, "TopScore": {"N": "1001"}})");
  EXPECT_THAT(after(moved), ElementsAre("723", "1000", "1001"));
  const uint64_t deleted = Delete("GameScores", R"({"UserId": {"S": "500"}, "GameTitle": {"S": "Meteor Blasters"}})");
  EXPECT_THAT(after(deleted), ElementsAre("723", "1000"));
}

TEST_F(SourceGsi, FollowsWritesAcrossAKill) {
  const uint64_t added =
      Put("GameScores", R"({"UserId": {"S": "600"}, "GameTitle": {"S": "Attack Ships"}, "TopScore": {"N": "4"}})");
  daemon().Kill();
  daemon().Restart();
  WaitForIndexes("GameScores", added);
  EXPECT_THAT(Column(Query(Scores("Attack Ships", R"("Limit": 10)")).items(), "UserId"), ElementsAre("103", "600"));
  EXPECT_EQ(daemon().Stop(), 0);
  daemon().Restart();
  EXPECT_EQ(Scan(R"({"TableName": "GameScores"})").count(), 14);
}

TEST_F(SourceGsi, RefusesWhatOnlyTheTableHas) {
  EXPECT_THAT(TryQuery(Scores("Chess", R"("ConsistentRead": true)")),
              IsRefused("ValidationException", "Consistent reads are not supported on global secondary indexes"));
  EXPECT_THAT(TryQuery(Scores("Chess", R"("Select": "ALL_ATTRIBUTES")")),
              IsRefused("ValidationException",
                        "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for "
                        "global secondary index GameTitleIndex because its projection type is not ALL"));
  EXPECT_THAT(TryQuery(Scores("Chess", R"("ProjectionExpression": "Wins, Losses")")),
              IsRefused("ValidationException",
                        "One or more parameter values were invalid: Global secondary index GameTitleIndex does not "
                        "project [Wins, Losses]"));
}

TEST_F(SourceGsi, ProjectsWinsAndLossesIfDefinedSo) {
  Create(R"({"TableName": "Ratio", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "UserId", "AttributeType": "S"},
                               {"AttributeName": "GameTitle", "AttributeType": "S"}],
      "KeySchema": [{"AttributeName": "UserId", "KeyType": "HASH"}, {"AttributeName": "GameTitle", "KeyType": "RANGE"}],
      "GlobalSecondaryIndexes": [{"IndexName": "ByGame",
          "KeySchema": [{"AttributeName": "GameTitle", "KeyType": "HASH"}],
          "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["Wins", "Losses"]}}]})");
  WaitForIndexes("Ratio", Put("Ratio", R"({"UserId": {"S": "101"}, "GameTitle": {"S": "Chess"}, "Wins": {"N": "21"},
                                           "Losses": {"N": "72"}, "Moves": {"N": "4000"}})"));
  const auto page = Query(R"({"TableName": "Ratio", "IndexName": "ByGame", "KeyConditionExpression": "GameTitle = :t",
                              "ExpressionAttributeValues": {":t": {"S": "Chess"}}})");
  ASSERT_EQ(page.items_size(), 1);
  EXPECT_EQ(ToJson(page.items(0)), Canonical(R"({"UserId": {"S": "101"}, "GameTitle": {"S": "Chess"},
                                                 "Wins": {"N": "21"}, "Losses": {"N": "72"}})"));
}

// The guide: 8 entries of 2000 bytes are 16,000 bytes, so 4 blocks of 4 KB, at half a unit each.
TEST_F(SourceGsi, CostsTheUnitsOfTheWorkedExample) {
  Create(R"({"TableName": "Cost", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}, {"AttributeName": "g", "AttributeType": "S"}],
      "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
      "GlobalSecondaryIndexes": [{"IndexName": "ByG", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                                  "Projection": {"ProjectionType": "ALL"}}]})");
  uint64_t last = 0;
  for (int i = 0; i < 8; ++i) {
    // "p" + 1 byte, "g" + 1 byte, "b" + 1995 bytes.
    last = Put("Cost", client::ItemBuilder()
                           .Set("p", client::S(std::to_string(i)))
                           .Set("g", client::S("x"))
                           .Set("b", client::B(std::string(1995, 'b')))
                           .Build());
  }
  WaitForIndexes("Cost", last);
  const auto page = Query(R"({"TableName": "Cost", "IndexName": "ByG", "KeyConditionExpression": "g = :g",
      "ExpressionAttributeValues": {":g": {"S": "x"}}, "ReturnConsumedCapacity": "INDEXES"})");
  EXPECT_EQ(page.count(), 8);
  EXPECT_EQ(page.consumed_capacity().table_name(), "Cost");
  EXPECT_EQ(page.consumed_capacity().capacity_units(), 2.0);
  EXPECT_EQ(page.consumed_capacity().table().capacity_units(), 0.0);
  EXPECT_EQ(page.consumed_capacity().global_secondary_indexes().at("ByG").capacity_units(), 2.0);
  // A scan of the table, eventually and strongly consistent.
  EXPECT_EQ(Scan(R"({"TableName": "Cost", "ReturnConsumedCapacity": "TOTAL"})").consumed_capacity().capacity_units(),
            2);
  EXPECT_EQ(Scan(R"({"TableName": "Cost", "ReturnConsumedCapacity": "TOTAL", "ConsistentRead": true})")
                .consumed_capacity()
                .capacity_units(),
            4);
}

}  // namespace
}  // namespace armature::test
