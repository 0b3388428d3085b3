// Requests of programs written before expressions existed: AttributesToGet, AttributeUpdates, Expected, KeyConditions,
// QueryFilter, ScanFilter and ConditionalOperator.

#include <algorithm>

#include "tests/support/daemon_test.h"

namespace armature::test::legacy_parameters_test {

using testing::ElementsAre;

constexpr char kInvalid[] = "One or more parameter values were invalid: ";
constexpr char kVe[] = "ValidationException";

constexpr char kTable[] = R"({"TableName": "Thread", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "ForumName", "AttributeType": "S"},
                             {"AttributeName": "Subject", "AttributeType": "S"},
                             {"AttributeName": "Author", "AttributeType": "S"},
                             {"AttributeName": "Views", "AttributeType": "N"}],
    "KeySchema": [{"AttributeName": "ForumName", "KeyType": "HASH"}, {"AttributeName": "Subject", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [{"IndexName": "ByAuthor", "Projection": {"ProjectionType": "ALL"},
        "KeySchema": [{"AttributeName": "Author", "KeyType": "HASH"}, {"AttributeName": "Views", "KeyType": "RANGE"}]}]})";

class LegacyParameters : public DaemonTest {
 protected:
  LegacyParameters() {
    Create(kTable);
    uint64_t last = 0;
    for (const char* const item :
         {R"({"ForumName": {"S": "S3"}, "Subject": {"S": "aaa"}, "Author": {"S": "ann"}, "Views": {"N": "5"},
              "Tags": {"SS": ["new", "hot"]}})",
          R"({"ForumName": {"S": "S3"}, "Subject": {"S": "abc"}, "Author": {"S": "ann"}, "Views": {"N": "40"}})",
          R"({"ForumName": {"S": "S3"}, "Subject": {"S": "bbb"}, "Author": {"S": "bob"}, "Views": {"N": "300"},
              "Tags": {"SS": ["old"]}, "a.dotted": {"N": "1"}})"}) {
      last = Put("Thread", item);
    }
    WaitForIndexes("Thread", last);
  }

  std::vector<std::string> Subjects(std::string_view query) { return Column(Query(query).items(), "Subject"); }
  std::vector<std::string> Scanned(std::string_view scan) {
    std::vector<std::string> subjects = Column(Scan(scan).items(), "Subject");
    std::sort(subjects.begin(), subjects.end());
    return subjects;
  }
  absl::Status TryPutExpecting(std::string_view expected) {
    return client()
        .PutItem(FromJson<api::v1::PutItemRequest>(
            std::string(R"({"TableName": "Thread", "Item": {"ForumName": {"S": "S3"}, "Subject": {"S": "aaa"}},)") +
            std::string(expected) + "}"))
        .status();
  }
};

TEST_F(LegacyParameters, GetItemWithAttributesToGet) {
  const auto got = client().GetItem(FromJson<api::v1::GetItemRequest>(
      R"({"TableName": "Thread", "Key": {"ForumName": {"S": "S3"}, "Subject": {"S": "bbb"}},
          "AttributesToGet": ["Views", "a.dotted", "Nothing"]})"));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(Names(got->item()), ElementsAre("Views", "a.dotted"));
  EXPECT_THAT(client()
                  .GetItem(FromJson<api::v1::GetItemRequest>(
                      R"({"TableName": "Thread", "Key": {"ForumName": {"S": "S3"}, "Subject": {"S": "bbb"}},
                          "AttributesToGet": ["Views", "Views"]})"))
                  .status(),
              IsRefused(kVe, std::string(kInvalid) + "Duplicate value in attribute name: Views"));
}

TEST_F(LegacyParameters, QueryWithKeyConditions) {
  EXPECT_THAT(Subjects(R"({"TableName": "Thread", "KeyConditions": {
                  "ForumName": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "S3"}]},
                  "Subject": {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [{"S": "a"}]}}})"),
              ElementsAre("aaa", "abc"));
  EXPECT_THAT(Subjects(R"({"TableName": "Thread", "IndexName": "ByAuthor", "ScanIndexForward": false, "KeyConditions": {
                  "Author": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "ann"}]},
                  "Views": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"N": "5"}, {"N": "40.0"}]}}})"),
              ElementsAre("abc", "aaa"));
  EXPECT_THAT(TryQuery(R"({"TableName": "Thread", "KeyConditions": {
                  "ForumName": {"ComparisonOperator": "NE", "AttributeValueList": [{"S": "S3"}]}}})"),
              IsRefused(kVe, "Attempted conditional constraint is not an indexable operation"));
  EXPECT_THAT(TryQuery(R"({"TableName": "Thread"})"),
              IsRefused(kVe,
                        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
                        "request."));
}

TEST_F(LegacyParameters, QueryPagesWithKeyConditionsAndFilter) {
  const std::string head = R"({"TableName": "Thread", "Limit": 2, "KeyConditions": {
      "ForumName": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "S3"}]}},
      "QueryFilter": {"Tags": {"ComparisonOperator": "NOT_CONTAINS", "AttributeValueList": [{"S": "hot"}]}})";
  const api::v1::QueryResponse first = Query(head + "}");
  EXPECT_EQ(first.count(), 0);  // one has the tag, one has no tags
  EXPECT_EQ(first.scanned_count(), 2);
  ASSERT_TRUE(first.has_last_evaluated_key());
  const api::v1::QueryResponse second =
      Query(head + R"(, "ExclusiveStartKey": )" + ToJson(first.last_evaluated_key()) + "}");
  EXPECT_THAT(Column(second.items(), "Subject"), ElementsAre("bbb"));
}

TEST_F(LegacyParameters, ScanWithScanFilter) {
  EXPECT_THAT(Scanned(R"({"TableName": "Thread", "ScanFilter": {
                  "Tags": {"ComparisonOperator": "CONTAINS", "AttributeValueList": [{"S": "old"}]},
                  "Subject": {"ComparisonOperator": "LT", "AttributeValueList": [{"S": "abc"}]}},
                  "ConditionalOperator": "OR", "AttributesToGet": ["Subject"]})"),
              ElementsAre("aaa", "bbb"));
  EXPECT_THAT(Scanned(R"({"TableName": "Thread", "ScanFilter": {"Tags": {"ComparisonOperator": "NULL"}}})"),
              ElementsAre("abc"));
  EXPECT_THAT(TryScan(R"({"TableName": "Thread", "ConditionalOperator": "AND"})"),
              IsRefused(kVe, "ConditionalOperator cannot be used without Filter or Expected"));
  EXPECT_THAT(TryScan(R"({"TableName": "Thread", "FilterExpression": "Views > :v",
                  "ScanFilter": {
    "Tags" : { "ComparisonOperator" : "NULL" }}
})"),
              IsRefused(kVe,
                        "Can not use both expression and non-expression parameters in the same request: "
                        "Non-expression parameters: {ScanFilter} Expression parameters: {FilterExpression}"));
}

TEST_F(LegacyParameters, WritesWithExpected) {
  constexpr char kFailed[] = "The conditional request failed";
  constexpr char kCcf[] = "ConditionalCheckFailedException";
  EXPECT_THAT(TryPutExpecting(R"("Expected": {"ForumName": {"Exists": false}})"), IsRefused(kCcf, kFailed));
  EXPECT_THAT(TryPutExpecting(R"("Expected": {"Views": {"Value": {"N": "6"}}})"), IsRefused(kCcf, kFailed));
  EXPECT_THAT(TryPutExpecting(R"("Expected": {"Views": {"Exists": true}})"),
              IsRefused(kVe, std::string("1 validation error detected: ") + kInvalid +
                                 "Value must be provided when Exists is true for Attribute: Views"));
  EXPECT_THAT(TryPutExpecting(R"("Expected": {"Views": {"Value": {"N": "5.00"}}, "Nothing": {"Exists": false}})"),
              absl::OkStatus());
  // The item has no other attributes now.
  EXPECT_THAT(TryPutExpecting(R"("ConditionalOperator": "OR", "Expected": {
                  "Views": {"ComparisonOperator": "NULL"},
                  "Tags": {"ComparisonOperator": "IN", "AttributeValueList": [{"S": "x"}]}})"),
              absl::OkStatus());
  const std::string deletion = R"({"TableName": "Thread", "Key": {"ForumName": {"S": "S3"}, "Subject": {"S": "abc"}},
      "Expected": {"Views": {"ComparisonOperator": "GT", "Value": {"N": )";
  EXPECT_THAT(client().DeleteItem(FromJson<api::v1::DeleteItemRequest>(deletion + R"("40"}}}})")).status(),
              IsRefused(kCcf, kFailed));
  EXPECT_TRUE(client().DeleteItem(FromJson<api::v1::DeleteItemRequest>(deletion + R"("39.9"}}}})")).ok());
  EXPECT_THAT(Scanned(R"({"TableName": "Thread"})"), ElementsAre("aaa", "bbb"));
}

TEST_F(LegacyParameters, UpdatesWithAttributeUpdates) {
  const auto updated = client().UpdateItem(FromJson<api::v1::UpdateItemRequest>(
      R"({"TableName": "Thread", "Key": {"ForumName": {"S": "S3"}, "Subject": {"S": "aaa"}},
          "AttributeUpdates": {"Views": {"Action": "ADD", "Value": {"N": "1"}}, "Author": {"Value": {"S": "eve"}},
                               "Tags": {"Action": "DELETE", "Value": {"SS": ["hot"]}}},
          "Expected": {"Views": {"Value": {"N": "5"}}}, "ReturnValues": "ALL_NEW"})"));
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(ToJson(updated->attributes()),
            Canonical(R"({"Author": {"S": "eve"}, "ForumName": {"S": "S3"}, "Subject": {"S": "aaa"},
                          "Tags": {"SS": ["new"]}, "Views": {"N": "6"}})"));
  EXPECT_THAT(client()
                  .UpdateItem(FromJson<api::v1::UpdateItemRequest>(
                      R"({"TableName": "Thread", "Key": {"ForumName": {"S": "S3"}, "Subject": {"S": "aaa"}},
                          "AttributeUpdates": {"Tags": {"Action": "ADD", "Value": {"N": "1"}}}})"))
                  .status(),
              IsRefused(kVe, "Type mismatch for attribute to update"));
}

}  // namespace armature::test::legacy_parameters_test
