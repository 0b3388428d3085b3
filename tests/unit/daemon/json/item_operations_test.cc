// Items over the JSON protocol.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "daemon/json/item_answers.h"
#include "daemon/json/item_requests.h"
#include "tests/unit/daemon/json/json_api_test_util.h"
#include "tests/unit/daemon/json/json_test_util.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::daemon::item_operations_test {

constexpr char kTable[] = R"json({"TableName": "Cats", "BillingMode": "PAY_PER_REQUEST",
  "AttributeDefinitions": [{"AttributeName": "name", "AttributeType": "S"}, {"AttributeName": "age", "AttributeType": "N"},
    {"AttributeName": "owner", "AttributeType": "S"}],
  "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}, {"AttributeName": "age", "KeyType": "RANGE"}],
  "GlobalSecondaryIndexes": [{"IndexName": "ByOwner", "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"}}]})json";

class ItemOperations : public JsonTest {
 protected:
  void SetUp() override { CreateTable(kTable, "Cats"); }

  // A request on the table with these members.
  static std::string On(std::string_view members) { return Cat(R"({"TableName":"Cats",)", members, "}"); }
  static std::string Key(std::string_view name, int age) {
    return Cat(R"("name":{"S":")", name, R"("},"age":{"N":")", age, R"("})");
  }
  void Put(std::string_view name, int age, std::string_view more = "") {
    ASSERT_EQ(Body("PutItem", On(Cat(R"("Item":{)", Key(name, age), more, "}"))), "{}");
  }
  std::string Invalid(std::string_view text) { return ErrorBody("ValidationException", text); }
};

TEST_F(ItemOperations, WhatWasPutIsGot) {
  Put("Tom", 3, R"(,"x":{"L":[{"BOOL":false},{"B":"aGk="}]})");
  EXPECT_EQ(Body("GetItem", On(Cat(R"("Key":{)", Key("Tom", 3), R"(},"ConsistentRead":true)"))),
            R"({"Item":{"age":{"N":"3"},"name":{"S":"Tom"},"x":{"L":[{"BOOL":false},{"B":"aGk="}]}}})");
  EXPECT_EQ(Body("GetItem", On(Cat(R"("Key":{)", Key("Tom", 4), "}"))), "{}");
  EXPECT_EQ(Body("GetItem", On(Cat(R"("Key":{)", Key("Tom", 3), R"(},"ProjectionExpression":"nothing")"))),
            R"({"Item":{}})");
}

TEST_F(ItemOperations, WritesAnswerWhatWasAskedFor) {
  Put("Tom", 3);
  const JsonAnswer put =
      Ask("PutItem", On(Cat(R"("Item":{)", Key("Tom", 3),
                            R"(,"owner":{"S":"Ann"}},"ReturnValues":"ALL_OLD","ReturnConsumedCapacity":"INDEXES")")));
  EXPECT_EQ(put.body, R"({"Attributes":{"age":{"N":"3"},"name":{"S":"Tom"}},"ConsumedCapacity":{"TableName":"Cats",)"
                      R"("CapacityUnits":2.0,"Table":{"CapacityUnits":1.0},)"
                      R"("GlobalSecondaryIndexes":{"ByOwner":{"CapacityUnits":1.0}}}})");
  EXPECT_GT(put.change_sequence, 0u);
  EXPECT_EQ(Body("UpdateItem", On(Cat(R"("Key":{)", Key("Tom", 3),
                                      R"(},"UpdateExpression":"SET #l = :l","ExpressionAttributeNames":{"#l":"lives"},)"
                                      R"("ExpressionAttributeValues":{":l":{"N":"9"}},"ReturnValues":"UPDATED_NEW")"))),
            R"({"Attributes":{"lives":{"N":"9"}}})");
  EXPECT_EQ(Body("DeleteItem", On(Cat(R"("Key":{)", Key("Tom", 3),
                                      R"(},"ConditionExpression":"lives < :l",)"
                                      R"("ExpressionAttributeValues":{":l":{"N":"9"}},)"
                                      R"("ReturnValuesOnConditionCheckFailure":"ALL_OLD")"))),
            R"(400 {"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",)"
            R"("Message":"The conditional request failed",)"
            R"("Item":{"age":{"N":"3"},"lives":{"N":"9"},"name":{"S":"Tom"},"owner":{"S":"Ann"}}})");
  EXPECT_EQ(Body("DeleteItem", On(Cat(R"("Key":{)", Key("Tom", 3), R"(},"ReturnValues":"NONE")"))), "{}");
}

TEST_F(ItemOperations, PagesHaveItemsCountsAndAKeyToGoOn) {
  for (int age = 1; age <= 3; ++age) Put("Tom", age);
  constexpr std::string_view kQuery = R"("KeyConditionExpression":"#n = :n","ExpressionAttributeNames":{"#n":"name"},)"
                                      R"("ExpressionAttributeValues":{":n":{"S":"Tom"}})";
  EXPECT_EQ(Body("Query", On(Cat(kQuery, R"(,"Limit":2,"ReturnConsumedCapacity":"TOTAL")"))),
            R"({"Items":[{"age":{"N":"1"},"name":{"S":"Tom"}},{"age":{"N":"2"},"name":{"S":"Tom"}}],"Count":2,)"
            R"("ScannedCount":2,"LastEvaluatedKey":{"age":{"N":"2"},"name":{"S":"Tom"}},)"
            R"("ConsumedCapacity":{"TableName":"Cats","CapacityUnits":0.5}})");
  EXPECT_EQ(Body("Query", On(Cat(kQuery, R"(,"ExclusiveStartKey":{)", Key("Tom", 2), "}"))),
            R"({"Items":[{"age":{"N":"3"},"name":{"S":"Tom"}}],"Count":1,"ScannedCount":1})");
  EXPECT_EQ(Body("Query", On(Cat(kQuery, R"(,"ScanIndexForward":false,"Limit":1,"ProjectionExpression":"age")"))),
            R"({"Items":[{"age":{"N":"3"}}],"Count":1,"ScannedCount":1,)"
            R"("LastEvaluatedKey":{"age":{"N":"3"},"name":{"S":"Tom"}}})");
  EXPECT_EQ(Body("Query", On(Cat(kQuery, R"(,"Select":"COUNT")"))), R"({"Count":3,"ScannedCount":3})");
  EXPECT_EQ(Body("Scan", On(R"("FilterExpression":"age > :a","ExpressionAttributeValues":{":a":{"N":"5"}})")),
            R"({"Items":[],"Count":0,"ScannedCount":3})");
  EXPECT_EQ(Body("Scan", On(R"("Segment":0,"TotalSegments":0)")).substr(0, 70),
            Invalid("1 validation error").substr(0, 70));
}

TEST_F(ItemOperations, AQueryOfAnIndexWaitsForAWrite) {
  const JsonAnswer put = Ask("PutItem", On(Cat(R"("Item":{)", Key("Tom", 3), R"(,"owner":{"S":"Ann"}})")));
  ASSERT_GT(put.change_sequence, 0u);
  JsonCall call;
  call.operation = "Query";
  call.body = On(R"("IndexName":"ByOwner","KeyConditions":{"owner":{"ComparisonOperator":"EQ",)"
                 R"("AttributeValueList":[{"S":"Ann"}]}},"Select":"COUNT")");
  call.at_least_sequence = put.change_sequence;
  engine::Answer<JsonAnswer> answer;
  api_.Call(std::move(call),
            [catch_answer = answer.Catch()](JsonAnswer given) mutable { std::move(catch_answer)(std::move(given)); });
  const absl::StatusOr<JsonAnswer> given = answer.Take();
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->body, R"({"Count":1,"ScannedCount":1})");
}

TEST_F(ItemOperations, WhatIsMissingIsNotWhatIsEmpty) {
  constexpr std::string_view kOne = "1 validation error detected: ";
  const auto null = [](std::string_view path) {
    return Cat("Value null at '", path, "' failed to satisfy constraint: Member must not be null");
  };
  EXPECT_EQ(Body("GetItem", "{}"),
            Invalid(Cat("2 validation errors detected: ", null("tableName"), "; ", null("key"))));
  EXPECT_EQ(Body("GetItem", On(R"("Key":null)")), Invalid(Cat(kOne, null("key"))));
  EXPECT_EQ(Body("PutItem", On(R"("Key":{})")), Invalid(Cat(kOne, null("item"))));
  EXPECT_EQ(Body("UpdateItem", On(R"("Item":{})")), Invalid(Cat(kOne, null("key"))));
  EXPECT_EQ(Body("DeleteItem", On(R"("x":{})")), Invalid(Cat(kOne, null("key"))));
  EXPECT_EQ(Body("GetItem", On(R"("Key":{})")), Invalid("The provided key element does not match the schema"));
  EXPECT_EQ(Body("Query", "{}"), Invalid(Cat(kOne, null("tableName"))));
  EXPECT_EQ(Body("Scan", On(R"("FilterExpression":"age > :a","ExpressionAttributeValues":{})")),
            Invalid("ExpressionAttributeValues must not be empty"));
  EXPECT_EQ(Body("Scan", On(R"("ProjectionExpression":"age","ExpressionAttributeNames":{})")),
            Invalid("ExpressionAttributeNames must not be empty"));
  EXPECT_EQ(Body("Scan", On(R"("ExclusiveStartKey":{})")),
            Invalid("The provided starting key is invalid: The provided key element does not match the schema"));
  EXPECT_EQ(Body("Scan", On(R"("FilterExpression":"")")),
            Invalid("Invalid FilterExpression: The expression can not be empty;"));
  EXPECT_EQ(Body("GetItem", On(Cat(R"("Key":{)", Key("x", 1), R"(},"AttributesToGet":[])"))),
            Invalid(Cat(kOne,
                        "Value '[]' at 'attributesToGet' failed to satisfy constraint: Member must have length "
                        "greater than or equal to 1")));
  EXPECT_EQ(
      Body("UpdateItem", On(Cat(R"("Key":{)", Key("new", 1), R"(},"AttributeUpdates":{},"ReturnValues":"ALL_NEW")"))),
      R"({"Attributes":{"age":{"N":"1"},"name":{"S":"new"}}})");
}

TEST_F(ItemOperations, WrongTypesAreToldFirst) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {R"({"TableName":1})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"TableName":"","Item":{"p":{"N":1}},"ReturnValues":"ALL"})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"Item":[]})",
       "Unrecognized collection type java.util.Map<java.lang.String, "
       "com.amazonaws.dynamodb.v20120810.AttributeValue>"},
      {R"({"Expected":{"a":1}})", "Unexpected field type"},
      {R"({"Expected":{"a":[]}})",
       "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.ExpectedAttributeValue"},
      {R"({"Expected":[]})",
       "Unrecognized collection type java.util.Map<java.lang.String, "
       "com.amazonaws.dynamodb.v20120810.ExpectedAttributeValue>"},
      {R"({"Expected":{"a":{"Exists":"perhaps"}}})", "Unexpected token received from parser"},
      {R"({"Expected":{"a":{"AttributeValueList":{}}}})", "Start of structure or map found where not expected"},
      {R"({"ExpressionAttributeNames":{"#a":1}})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"ExpressionAttributeValues":{":a":1}})", "Unexpected value type in payload"},
      {R"({"ConditionExpression":{}})", "Start of structure or map found where not expected"},
  };
  for (const auto& [body, text] : kCases) {
    EXPECT_EQ(Body("PutItem", std::string(body)), ErrorBody("SerializationException", text)) << body;
  }
  EXPECT_EQ(Body("Query", R"({"Limit":"1"})"),
            ErrorBody("SerializationException", "STRING_VALUE cannot be converted to Integer"));
  EXPECT_EQ(Body("PutItem", "[]"), R"(400 {"__type":"com.amazon.coral.service#SerializationException"})");
}

TEST(ItemRequests, HaveAllParameters) {
  const auto put = ParsePutItem(R"json({"TableName": "T", "Item": {"a": {"N": "1"}}, "ConditionExpression": "c",
    "Expected": {"z": {"Value": {"S": "v"}, "Exists": "true"}, "b": {"ComparisonOperator": "EQ",
      "AttributeValueList": [{"N": "1"}, {}]}, "z": {"Exists": false}, "n": null},
    "ConditionalOperator": "OR", "ExpressionAttributeNames": {"#a": "b"}, "ExpressionAttributeValues": {":v": {"S": "x"}},
    "ReturnValues": "A", "ReturnValuesOnConditionCheckFailure": "B", "ReturnConsumedCapacity": "C",
    "ReturnItemCollectionMetrics": "D", "UpdateExpression": "ignored"})json");
  ASSERT_TRUE(put.ok()) << put.status();
  EXPECT_EQ(put->table_name, "T");
  EXPECT_EQ(put->item_wire, codec::Item({{"a", codec::N("1")}}));
  EXPECT_GT(put->message_bytes, 400u);
  EXPECT_EQ(put->return_values, "A");
  EXPECT_EQ(put->return_values_on_condition_check_failure, "B");
  EXPECT_EQ(put->return_consumed_capacity, "C");
  EXPECT_EQ(put->return_item_collection_metrics, "D");
  const engine::ExpressionParameters& parameters = put->expressions;
  EXPECT_EQ(parameters.condition, "c");
  EXPECT_EQ(parameters.update, std::nullopt);
  EXPECT_EQ(parameters.names->at("#a"), "b");
  EXPECT_EQ(parameters.values_wire, codec::Item({{":v", codec::S("x")}}));
  EXPECT_EQ(parameters.legacy.conditional_operator, "OR");
  ASSERT_TRUE(parameters.legacy.expected.has_value());
  ASSERT_EQ(parameters.legacy.expected->size(), 3u) << "in order of their names, the last of each";
  const auto& expected = *parameters.legacy.expected;
  EXPECT_EQ(expected[0].attribute, "b");
  EXPECT_EQ(expected[0].comparison_operator, "EQ");
  EXPECT_EQ(expected[0].argument_wires, (std::vector<std::string>{codec::N("1"), ""}));
  EXPECT_EQ(expected[1].attribute, "n");
  EXPECT_EQ(expected[1].exists, std::nullopt);
  EXPECT_EQ(expected[2].exists, false);
  EXPECT_EQ(expected[2].value_wire, std::nullopt);

  const auto update = ParseUpdateItem(R"json({"Key": {}, "UpdateExpression": "u",
    "AttributeUpdates": {"b": {"Action": "ADD", "Value": {"N": "1"}}, "a": {}}})json");
  ASSERT_TRUE(update.ok()) << update.status();
  EXPECT_EQ(update->table_name, std::nullopt);
  EXPECT_EQ(update->item_wire, "");
  EXPECT_EQ(update->expressions.update, "u");
  ASSERT_EQ(update->expressions.legacy.attribute_updates->size(), 2u);
  EXPECT_EQ(update->expressions.legacy.attribute_updates->at(0).value_wire, std::nullopt);
  EXPECT_EQ(update->expressions.legacy.attribute_updates->at(1).action, "ADD");
  EXPECT_EQ(update->expressions.legacy.attribute_updates->at(1).value_wire, codec::N("1"));
}

TEST(ItemRequests, GroupsKnowTheSizeOfTheirMessages) {
  const std::string json = R"json({"TransactItems": [{"Get": {"TableName": "T", "Key": {"a": {"N": "1"}}}}]})json";
  EXPECT_EQ(ParseTransactGetItems(json)->message_bytes, json.size());
  EXPECT_EQ(ParseTransactWriteItems(json)->message_bytes, json.size());
}

TEST(ItemRequests, ReadsHaveAllParameters) {
  const auto get = ParseGetItem(R"json({"Key": {"a": {"S": "x"}}, "ConsistentRead": "yes", "ProjectionExpression": "p",
    "AttributesToGet": ["b", "a"], "ExpressionAttributeNames": {}, "ReturnConsumedCapacity": "C"})json");
  ASSERT_TRUE(get.ok()) << get.status();
  EXPECT_TRUE(get->consistent_read);
  EXPECT_EQ(get->expressions.projection, "p");
  EXPECT_EQ(get->expressions.legacy.attributes_to_get, (std::vector<std::string>{"b", "a"}));
  EXPECT_TRUE(get->expressions.names.has_value() && get->expressions.names->empty());
  EXPECT_EQ(get->return_consumed_capacity, "C");

  const auto query = ParseQuery(R"json({"TableName": "T", "IndexName": "I", "KeyConditionExpression": "k",
    "FilterExpression": "f", "ProjectionExpression": "p", "Select": "S", "ConsistentRead": true,
    "ScanIndexForward": false, "Limit": 7, "ExclusiveStartKey": {"a": {"S": "x"}}, "ReturnConsumedCapacity": "C",
    "KeyConditions": {"h": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "x"}]}}, "QueryFilter": {},
    "ScanFilter": 1, "Segment": "ignored", "ConditionalOperator": "AND"})json");
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_EQ(query->index_name, "I");
  EXPECT_EQ(query->expressions.key_condition, "k");
  EXPECT_EQ(query->expressions.filter, "f");
  EXPECT_EQ(query->expressions.projection, "p");
  EXPECT_EQ(query->select, "S");
  EXPECT_TRUE(query->consistent_read);
  EXPECT_FALSE(query->scan_index_forward);
  EXPECT_EQ(query->limit, 7);
  EXPECT_EQ(query->exclusive_start_key_wire, codec::Item({{"a", codec::S("x")}}));
  EXPECT_EQ(query->return_consumed_capacity, "C");
  EXPECT_EQ(query->expressions.legacy.conditional_operator, "AND");
  EXPECT_EQ(query->expressions.legacy.key_conditions->at(0).argument_wires, std::vector<std::string>{codec::S("x")});
  EXPECT_TRUE(query->expressions.legacy.query_filter->empty());
  EXPECT_FALSE(query->expressions.legacy.scan_filter.has_value());

  const auto scan = ParseScan(R"json({"ScanFilter": {"x": {"ComparisonOperator": "NULL"}}, "Segment": 1,
    "TotalSegments": 2, "KeyConditionExpression": 1, "ScanIndexForward": 1})json");
  ASSERT_TRUE(scan.ok()) << scan.status();
  EXPECT_EQ(scan->segment, 1);
  EXPECT_EQ(scan->total_segments, 2);
  EXPECT_EQ(scan->expressions.legacy.scan_filter->at(0).comparison_operator, "NULL");
  EXPECT_TRUE(scan->scan_index_forward);
}

TEST(JsonPage, StartsAgainAfterClear) {
  const std::string item = codec::Item({{"p", codec::S("x")}});
  engine::ReadResult result;
  for (const bool with_items : {true, false}) {
    JsonPage page(std::nullopt, with_items);
    if (with_items) page.Add(item);
    page.Clear();
    if (with_items) page.Add(item);
    result.count = 1;
    EXPECT_EQ(page.Finish(result)->text(), with_items ? R"({"Items":[{"p":{"S":"x"}}],"Count":1,"ScannedCount":0})"
                                                      : R"({"Count":1,"ScannedCount":0})");
  }
}

}  // namespace armature::daemon::item_operations_test
