// Updates through the real daemon: expressions, return values, conditions, indexes, and restarts.

#include "tests/support/daemon_test.h"

namespace armature::test::update_item_test {

using testing::ElementsAre;

class UpdateItem : public DaemonTest {
 protected:
  void SetUp() override {
    Create(R"({"TableName": "Scores", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "user", "AttributeType": "S"},
            {"AttributeName": "game", "AttributeType": "S"}, {"AttributeName": "top", "AttributeType": "N"},
            {"AttributeName": "league", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "user", "KeyType": "HASH"}, {"AttributeName": "game", "KeyType": "RANGE"}],
        "LocalSecondaryIndexes": [{"IndexName": "ByTop", "Projection": {"ProjectionType": "KEYS_ONLY"},
            "KeySchema": [{"AttributeName": "user", "KeyType": "HASH"}, {"AttributeName": "top", "KeyType": "RANGE"}]}],
        "GlobalSecondaryIndexes": [{"IndexName": "Leagues", "Projection": {"ProjectionType": "ALL"},
            "KeySchema": [{"AttributeName": "league", "KeyType": "HASH"}, {"AttributeName": "game", "KeyType": "HASH"},
                          {"AttributeName": "top", "KeyType": "RANGE"}]}]})");
  }

  // Updates the item of `user` in the game "go". `rest` holds further JSON members of the request.
  absl::StatusOr<api::v1::UpdateItemResponse> Update(std::string_view user, const std::string& rest) {
    std::string json = R"({"TableName": "Scores", "Key": {"game": {"S": "go"}, "user": {"S": ")";
    json.append(user).append("\"}}").append(rest.empty() ? "" : ", ").append(rest).append("}");
    return client().UpdateItem(FromJson<api::v1::UpdateItemRequest>(json));
  }
  std::string Got(std::string_view user) {
    api::v1::GetItemRequest request;
    request.set_table_name("Scores");
    *request.mutable_key() =
        client::ItemBuilder().Set("user", client::S(std::string(user))).Set("game", client::S("go")).Build();
    const auto answer = client().GetItem(request);
    if (!answer.ok()) throw std::runtime_error(answer.status().ToString());
    return answer->has_item() ? ToJson(answer->item()) : "nothing";
  }
  std::vector<std::string> League(std::string_view league, uint64_t at_least_sequence) {
    auto request = FromJson<api::v1::QueryRequest>(R"({"TableName": "Scores", "IndexName": "Leagues",
        "ScanIndexForward": false, "KeyConditionExpression": "league = :l AND game = :g",
        "ExpressionAttributeValues": {":l": {"S": ")" +
                                                   std::string(league) + R"("}, ":g": {"S": "go"}}})");
    request.set_at_least_sequence(at_least_sequence);
    const auto page = client().Query(request);
    if (!page.ok()) throw std::runtime_error(page.status().ToString());
    return Column(page->items(), "user");
  }
};

TEST_F(UpdateItem, CreatesCountsAndRemoves) {
  const absl::Status no_parent = Update("ann", R"("UpdateExpression": "SET best.x = :one",
      "ExpressionAttributeValues": {":one": {"N": "1"}})")
                                     .status();
  EXPECT_THAT(no_parent, IsRefused("ValidationException",
                                   "The document path provided in the update expression is invalid for update"));
  EXPECT_EQ(Got("ann"), "nothing");
  ASSERT_TRUE(Update("ann", R"("UpdateExpression": "ADD plays :one SET best = :best",
      "ExpressionAttributeValues": {":one": {"N": "1"}, ":best": {"M": {"moves": {"L": []}}}})")
                  .ok());
  ASSERT_TRUE(Update("ann", R"("UpdateExpression": "ADD plays :one, tags :tags SET best.moves[3] = :move",
      "ExpressionAttributeValues": {":one": {"N": "1.50"}, ":tags": {"SS": ["b", "a"]}, ":move": {"S": "D4"}})")
                  .ok());
  EXPECT_EQ(Got("ann"), Canonical(R"({"user": {"S": "ann"}, "game": {"S": "go"}, "plays": {"N": "2.5"},
      "tags": {"SS": ["a", "b"]}, "best": {"M": {"moves": {"L": [{"S": "D4"}]}}}})"));
  ASSERT_TRUE(Update("ann", R"("UpdateExpression": "REMOVE best, plays DELETE tags :tags",
      "ExpressionAttributeValues": {":tags": {"SS": ["a", "b", "c"]}})")
                  .ok());
  EXPECT_EQ(Got("ann"), Canonical(R"({"user": {"S": "ann"}, "game": {"S": "go"}})"));
}

TEST_F(UpdateItem, GivesBackWhatWasAskedFor) {
  const std::string update = R"("UpdateExpression": "SET a.steps[0] = :new, b = :new",
      "ExpressionAttributeValues": {":new": {"S": "new"}}, "ReturnValues": )";
  const auto attributes = [&](const char* mode) -> std::string {
    Put("Scores", R"({"user": {"S": "ann"}, "game": {"S": "go"},
        "a": {"M": {"steps": {"L": [{"S": "x"}, {"S": "y"}]}, "other": {"BOOL": true}}}})");
    const auto answer = Update("ann", update + "\"" + mode + "\"");
    if (!answer.ok()) return answer.status().ToString();
    return answer->has_attributes() ? ToJson(answer->attributes()) : "absent";
  };
  EXPECT_EQ(attributes("NONE"), "absent");
  EXPECT_EQ(attributes("UPDATED_OLD"), Canonical(R"({"a": {"M": {"steps": {"L": [{"S": "x"}]}}}})"));
  EXPECT_EQ(attributes("UPDATED_NEW"),
            Canonical(R"({"a": {"M": {"steps": {"L": [{"S": "new"}]}}}, "b": {"S": "new"}})"));
  EXPECT_EQ(attributes("ALL_OLD"), Canonical(R"({"user": {"S": "ann"}, "game": {"S": "go"},
      "a": {"M": {"steps": {"L": [{"S": "x"}, {"S": "y"}]}, "other": {"BOOL": true}}}})"));
  EXPECT_EQ(attributes("ALL_NEW"), Canonical(R"({"user": {"S": "ann"}, "game": {"S": "go"}, "b": {"S": "new"},
      "a": {"M": {"steps": {"L": [{"S": "new"}, {"S": "y"}]}, "other": {"BOOL": true}}}})"));
}

TEST_F(UpdateItem, FailedConditionShowsTheItem) {
  Put("Scores", R"({"user": {"S": "ann"}, "game": {"S": "go"}, "top": {"N": "10"}})");
  const std::string raise = R"("UpdateExpression": "SET top = :score", "ConditionExpression": "top < :score",
      "ReturnValuesOnConditionCheckFailure": "ALL_OLD", "ExpressionAttributeValues": {":score": {"N": ")";
  EXPECT_TRUE(Update("ann", raise + "11\"}}").ok());
  const absl::Status refused = Update("ann", raise + "11\"}}").status();
  EXPECT_EQ(client::ErrorName(refused), "ConditionalCheckFailedException");
  EXPECT_EQ(ToJson(client::ErrorDetailOf(refused)->item()),
            Canonical(R"({"user": {"S": "ann"}, "game": {"S": "go"}, "top": {"N": "11"}})"));
}

TEST_F(UpdateItem, FailedConditionOnALargeItemIsStillThatError) {
  Put("Scores", R"({"user": {"S": "ann"}, "game": {"S": "go"}, "text": {"S": ")" + std::string(100'000, 'x') + "\"}}");
  const absl::Status refused = Update("ann", R"json("UpdateExpression": "REMOVE #t",
      "ConditionExpression": "attribute_not_exists(#t)", "ExpressionAttributeNames": {"#t": "text"},
      "ReturnValuesOnConditionCheckFailure": "ALL_OLD")json")
                                   .status();
  EXPECT_EQ(client::ErrorName(refused), "ConditionalCheckFailedException");
  EXPECT_TRUE(client::ErrorDetailOf(refused)->item_omitted());
}

TEST_F(UpdateItem, IndexesFollowAndSurviveAKill) {
  const auto play = [&](std::string_view user, const std::string& league, int score) {
    const auto answer =
        Update(user, R"("UpdateExpression": "SET league = :l, top = if_not_exists(top, :zero) + :s",
        "ExpressionAttributeValues": {":l": {"S": ")" +
                         league + R"("}, ":zero": {"N": "0"}, ":s": {"N": ")" + std::to_string(score) + "\"}}");
    if (!answer.ok()) throw std::runtime_error(answer.status().ToString());
    return answer->change_sequence();
  };
  play("ann", "second", 5);
  play("ben", "second", 7);
  EXPECT_THAT(League("second", play("cid", "second", 6)), ElementsAre("ben", "cid", "ann"));
  EXPECT_THAT(League("second", play("ann", "second", 10)), ElementsAre("ann", "ben", "cid"));
  const uint64_t sequence = play("ben", "first", 1);
  EXPECT_THAT(League("second", sequence), ElementsAre("ann", "cid"));
  daemon().Kill();
  daemon().Restart();
  EXPECT_THAT(League("second", sequence), ElementsAre("ann", "cid"));
  EXPECT_THAT(League("first", sequence), ElementsAre("ben"));
  EXPECT_THAT(Column(Query(R"({"TableName": "Scores", "IndexName": "ByTop", "ConsistentRead": true,
                               "KeyConditionExpression": "#u = :u AND top >= :n",
                               "ExpressionAttributeNames": {"#u": "user"},
                               "ExpressionAttributeValues": {":u": {"S": "ann"}, ":n": {"N": "15"}}})")
                         .items(),
                     "top"),
              ElementsAre("15"));
}

TEST_F(UpdateItem, RefusesWithTheDocumentedTexts) {
  Put("Scores", R"({"user": {"S": "ann"}, "game": {"S": "go"}, "top": {"N": "1"}, "big": {"N": "1e50"}})");
  const struct {
    const char* update;
    const char* message;
  } kCases[] = {
      {"SET game = :v",
       "One or more parameter values were invalid: Cannot update attribute game. This attribute is part "
       "of the key"},
      {"SET top = :v",
       "One or more parameter values were invalid: Type mismatch for Index Key top Expected: N Actual: S "
       "IndexName: ByTop"},
      {"SET x = :v + top",
       "1 validation error detected: Invalid UpdateExpression: Incorrect operand type for operator or function; "
       "operator or "
       "function: +, operand type: S"},
      {"SET x = absent, y = :v", "The provided expression refers to an attribute that does not exist in the item"},
      {"SET top.x = :v",
       "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
       "IndexKey: top"},
      {"SET big.x = :v", "The document path provided in the update expression is invalid for update"},
      {"SET x = big + top, y = :v",
       "Number overflow. Attempting to store a number with magnitude larger than supported range"},
      {"SET a = :v REMOVE a.b",
       "1 validation error detected: Invalid UpdateExpression: Two document paths overlap with each other; must remove "
       "or "
       "rewrite one of these paths; path one: [a], path two: [a, b]"},
      {"", "1 validation error detected: Invalid UpdateExpression: The expression can not be empty;"},
  };
  for (const auto& c : kCases) {
    const std::string rest =
        std::string(R"("UpdateExpression": ")") + c.update + R"(", "ExpressionAttributeValues": {":v": {"S": "text"}})";
    EXPECT_THAT(Update("ann", rest).status(), IsRefused("ValidationException", c.message)) << c.update;
  }
  const std::string mixed = R"("UpdateExpression": "REMOVE x", "AttributeUpdates": {"y": {"Action": "DELETE"}})";
  EXPECT_THAT(Update("ann", mixed).status(),
              IsRefused("ValidationException",
                        "1 validation error detected: Can not use both expression and non-expression parameters in the "
                        "same request: Non-expression "
                        "parameters: {AttributeUpdates} Expression parameters: {UpdateExpression}"));
}

}  // namespace armature::test::update_item_test
