// The rights that requests ask for, and the facts that the conditions of policies see.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "storage/base/api_error.h"
#include "tests/unit/daemon/json/json_api_test_util.h"

namespace armature::daemon::access_facts_test {

// Writes down each right that is asked for, and permits it.
class RecordedAccess final : public Access {
 public:
  const std::string& principal() const override { return principal_; }
  absl::Status Check(const access::Request& request) const override {
    std::string text = Cat(request.operation, " ", request.table, request.index.empty() ? "" : "/", request.index);
    const absl::StatusOr<access::Facts> facts = request.facts();
    if (!facts.ok()) text += " unknown";
    for (size_t i = 0; facts.ok() && i < access::kConditionKeyCount; ++i) {
      if (facts->values[i].empty()) continue;
      const std::string_view name = access::ConditionKeyName(static_cast<access::ConditionKey>(i));
      text += Cat(" ", name.substr(name.find(':') + 1), "=", absl::StrJoin(facts->values[i], ","));
    }
    asked_.push_back(std::move(text));
    return absl::OkStatus();
  }
  std::string asked() const { return absl::StrJoin(asked_, "; "); }

 private:
  const std::string principal_ = "someone";
  mutable std::vector<std::string> asked_;
};

class AccessFactsTest : public JsonTest {
 protected:
  void SetUp() override {
    CreateTable(R"({"TableName": "Tab", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}, {"AttributeName": "s", "AttributeType": "N"},
                                 {"AttributeName": "g", "AttributeType": "N"}],
        "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
        "GlobalSecondaryIndexes": [{"IndexName": "by_g", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                                    "Projection": {"ProjectionType": "ALL"}}]})",
                "Tab");
    CreateTable(R"({"TableName": "Bins", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "b", "AttributeType": "B"}],
        "KeySchema": [{"AttributeName": "b", "KeyType": "HASH"}]})",
                "Bins");
  }

  std::string Asked(std::string_view operation, std::string_view body) {
    const auto access = std::make_shared<RecordedAccess>();
    Ask(operation, std::string(body), access);
    return access->asked();
  }
};

struct Case {
  std::string_view operation;
  std::string_view body;
  std::string_view asked;
};

TEST_F(AccessFactsTest, OfReadsAndWritesOfOneItem) {
  constexpr Case kCases[] = {
      {"GetItem", R"({"TableName": "Tab", "Key": {"p": {"S": "t1"}, "s": {"N": "1"}}})",
       "GetItem Tab LeadingKeys=t1 Attributes=p,s Select=ALL_ATTRIBUTES"},
      {"GetItem",
       R"({"TableName": "arn:aws:dynamodb:local:000000000000:table/Tab", "Key": {"p": {"S": "t1"}, "s": {"N": "1"}},
           "ProjectionExpression": "a.b[0], #c", "ExpressionAttributeNames": {"#c": "c d"}})",
       "GetItem arn:aws:dynamodb:local:000000000000:table/Tab LeadingKeys=t1 Attributes=a,c d,p,s "
       "Select=SPECIFIC_ATTRIBUTES"},
      {"GetItem", R"({"TableName": "Tab", "Key": {"p": {"S": "t1"}, "s": {"N": "1"}}, "AttributesToGet": ["x"]})",
       "GetItem Tab LeadingKeys=t1 Attributes=p,s,x Select=SPECIFIC_ATTRIBUTES"},
      {"GetItem", R"({"TableName": "Bins", "Key": {"b": {"B": "AAEC"}}})",
       "GetItem Bins LeadingKeys=AAEC Attributes=b Select=ALL_ATTRIBUTES"},
      {"GetItem", R"({"TableName": "None", "Key": {"p": {"S": "t1"}}})", "GetItem None unknown"},
      {"GetItem", R"({"TableName": "Tab", "Key": {"s": {"N": "1"}}})", "GetItem Tab unknown"},
      {"GetItem", R"({"TableName": "Tab", "Key": {"p": {"N": "1"}}})", "GetItem Tab unknown"},
      {"GetItem", R"({"TableName": "Tab", "Key": {"p": {"S": "t1"}}, "ProjectionExpression": "a,"})",
       "GetItem Tab unknown"},
      {"GetItem", R"({"TableName": "Tab"})", "GetItem Tab unknown"},
      {"PutItem", R"({"TableName": "Tab", "Item": {"p": {"S": "t1"}, "s": {"N": "1"}, "x": {"NULL": true}}})",
       "PutItem Tab LeadingKeys=t1 Attributes=p,s,x ReturnValues=NONE"},
      {"PutItem",
       R"json({"TableName": "Tab", "Item": {"p": {"S": "t1"}, "s": {"N": "1"}}, "ReturnValues": "ALL_OLD",
           "ConditionExpression": "NOT (size(y) > :v AND contains(z, w) OR u IN (v, :v)) OR q BETWEEN r AND :v",
           "ExpressionAttributeValues": {":v": {"N": "1"}}})json",
       "PutItem Tab LeadingKeys=t1 Attributes=p,q,r,s,u,v,w,y,z ReturnValues=ALL_OLD"},
      {"PutItem",
       R"({"TableName": "Tab", "Item": {"p": {"S": "t1"}, "s": {"N": "1"}}, "Expected": {"old": {"Exists": false}}})",
       "PutItem Tab LeadingKeys=t1 Attributes=old,p,s ReturnValues=NONE"},
      {"DeleteItem",
       R"json({"TableName": "Tab", "Key": {"p": {"S": "t1"}, "s": {"N": "1"}}, "ConditionExpression": "attribute_exists(a)",
           "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})json",
       "DeleteItem Tab LeadingKeys=t1 Attributes=a,p,s ReturnValues=ALL_OLD,NONE"},
      {"UpdateItem",
       R"json({"TableName": "Tab", "Key": {"p": {"S": "t1"}, "s": {"N": "1"}}, "ReturnValues": "UPDATED_NEW",
           "UpdateExpression": "SET a.x = if_not_exists(b, :v) + c REMOVE d ADD e :v DELETE f :s",
           "ExpressionAttributeValues": {":v": {"N": "1"}, ":s": {"SS": ["x"]}}})json",
       "UpdateItem Tab LeadingKeys=t1 Attributes=a,b,c,d,e,f,p,s ReturnValues=UPDATED_NEW"},
      {"UpdateItem",
       R"({"TableName": "Tab", "Key": {"p": {"S": "t1"}, "s": {"N": "1"}}, "AttributeUpdates": {"a": {"Action": "DELETE"}}})",
       "UpdateItem Tab LeadingKeys=t1 Attributes=a,p,s ReturnValues=NONE"},
  };
  for (const Case& c : kCases) EXPECT_EQ(Asked(c.operation, c.body), c.asked) << c.body;
}

TEST_F(AccessFactsTest, OfQueriesAndScans) {
  constexpr Case kCases[] = {
      {"Query",
       R"({"TableName": "Tab", "KeyConditionExpression": "p = :p AND s > :s", "FilterExpression": "f = :s",
           "ExpressionAttributeValues": {":p": {"S": "t1"}, ":s": {"N": "1"}}})",
       "Query Tab LeadingKeys=t1 Attributes=f,p,s Select=ALL_ATTRIBUTES FullTableScan=false"},
      {"Query",
       R"({"TableName": "Tab", "IndexName": "by_g", "KeyConditionExpression": ":g = g", "Select": "COUNT",
           "ExpressionAttributeValues": {":g": {"N": "1.50e1"}}})",
       "Query Tab/by_g LeadingKeys=15 Attributes=g Select=COUNT FullTableScan=false"},
      {"Query",
       R"({"TableName": "Tab", "IndexName": "by_g", "KeyConditionExpression": "g = :g",
           "ExpressionAttributeValues": {":g": {"N": "1e125"}}})",
       "Query Tab/by_g LeadingKeys=1<zeros> Attributes=g Select=ALL_PROJECTED_ATTRIBUTES FullTableScan=false"},
      {"Query",
       R"({"TableName": "Tab", "KeyConditions": {"p": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "t1"}]}},
           "QueryFilter": {"f": {"ComparisonOperator": "NULL"}}, "AttributesToGet": ["x"]})",
       "Query Tab LeadingKeys=t1 Attributes=f,p,x Select=SPECIFIC_ATTRIBUTES FullTableScan=false"},
      {"Query",
       R"({"TableName": "Tab", "KeyConditionExpression": "p > :p", "ExpressionAttributeValues": {":p": {"S": "t1"}}})",
       "Query Tab unknown"},
      {"Query",
       R"({"TableName": "Tab", "IndexName": "none", "KeyConditionExpression": "p = :p",
           "ExpressionAttributeValues": {":p": {"S": "t1"}}})",
       "Query Tab/none unknown"},
      {"Query", R"({"TableName": "Tab"})", "Query Tab unknown"},
      {"Scan", R"({"TableName": "Tab"})", "Scan Tab Select=ALL_ATTRIBUTES FullTableScan=true"},
      {"Scan",
       R"({"TableName": "Tab", "IndexName": "by_g", "ProjectionExpression": "x", "FilterExpression": "p = :p",
           "ExpressionAttributeValues": {":p": {"S": "t1"}}})",
       "Scan Tab/by_g Attributes=p,x Select=SPECIFIC_ATTRIBUTES FullTableScan=true"},
      {"Scan", R"({"TableName": "Tab", "ScanFilter": {"f": {"ComparisonOperator": "NULL"}}})",
       "Scan Tab Attributes=f Select=ALL_ATTRIBUTES FullTableScan=true"},
  };
  for (const Case& c : kCases) {
    std::string asked = Asked(c.operation, c.body);
    const size_t zeros = asked.find(std::string(125, '0'));
    if (zeros != std::string::npos) asked.replace(zeros, 125, "<zeros>");
    EXPECT_EQ(asked, c.asked) << c.body;
  }
}

TEST_F(AccessFactsTest, OfEachElementOfBatchesAndTransactions) {
  constexpr Case kCases[] = {
      {"BatchGetItem",
       R"({"RequestItems": {"Tab": {"Keys": [{"p": {"S": "t1"}, "s": {"N": "1"}}, {"p": {"S": "t2"}, "s": {"N": "1"}}],
                                  "ProjectionExpression": "x"}}})",
       "BatchGetItem Tab LeadingKeys=t1 Attributes=p,s,x Select=SPECIFIC_ATTRIBUTES; "
       "BatchGetItem Tab LeadingKeys=t2 Attributes=p,s,x Select=SPECIFIC_ATTRIBUTES"},
      {"BatchGetItem", R"({"RequestItems": {"Tab": {"Keys": []}}})", "BatchGetItem Tab"},
      {"BatchGetItem", R"({"RequestItems": {}})", "BatchGetItem "},
      {"BatchWriteItem",
       R"({"RequestItems": {"Tab": [{"PutRequest": {"Item": {"p": {"S": "t1"}, "s": {"N": "1"}, "x": {"S": "y"}}}},
                                  {"DeleteRequest": {"Key": {"p": {"S": "t2"}, "s": {"N": "1"}}}}, {}]}})",
       "BatchWriteItem Tab LeadingKeys=t1 Attributes=p,s,x; BatchWriteItem Tab LeadingKeys=t2 Attributes=p,s; "
       "BatchWriteItem Tab unknown"},
      {"TransactGetItems",
       R"({"TransactItems": [{"Get": {"TableName": "Tab", "Key": {"p": {"S": "t1"}, "s": {"N": "1"}}}}, {}]})",
       "GetItem Tab LeadingKeys=t1 Attributes=p,s Select=ALL_ATTRIBUTES EnclosingOperation=TransactGetItems; "
       "GetItem  unknown"},
      {"TransactWriteItems",
       R"json({"TransactItems": [{"Put": {"TableName": "Tab", "Item": {"p": {"S": "t1"}, "s": {"N": "1"}}}},
           {"ConditionCheck": {"TableName": "Tab", "Key": {"p": {"S": "t2"}, "s": {"N": "1"}},
                               "ConditionExpression": "attribute_exists(a)"}},
           {"Update": {"TableName": "Tab", "Key": {"p": {"S": "t3"}, "s": {"N": "1"}}, "UpdateExpression": "REMOVE b"}},
           {"Delete": {"TableName": "Tab", "Key": {"p": {"S": "t4"}, "s": {"N": "1"}}}}]})json",
       "PutItem Tab LeadingKeys=t1 Attributes=p,s ReturnValues=NONE EnclosingOperation=TransactWriteItems; "
       "ConditionCheckItem Tab LeadingKeys=t2 Attributes=a,p,s ReturnValues=NONE "
       "EnclosingOperation=TransactWriteItems; "
       "UpdateItem Tab LeadingKeys=t3 Attributes=b,p,s ReturnValues=NONE EnclosingOperation=TransactWriteItems; "
       "DeleteItem Tab LeadingKeys=t4 Attributes=p,s ReturnValues=NONE EnclosingOperation=TransactWriteItems"},
  };
  for (const Case& c : kCases) EXPECT_EQ(Asked(c.operation, c.body), c.asked) << c.body;
}

TEST_F(AccessFactsTest, OfStatements) {
  constexpr Case kCases[] = {
      {"ExecuteStatement", R"({"Statement": "SELECT * FROM Tab WHERE p = 't1' AND s = 1"})",
       "PartiQLSelect Tab LeadingKeys=t1 Attributes=p,s Select=ALL_ATTRIBUTES FullTableScan=false"},
      {"ExecuteStatement", R"({"Statement": "SELECT a, b.c FROM Tab WHERE p IN ['t1', 't2'] AND d > 1"})",
       "PartiQLSelect Tab LeadingKeys=t1,t2 Attributes=a,b,d,p Select=SPECIFIC_ATTRIBUTES FullTableScan=false"},
      {"ExecuteStatement",
       R"({"Statement": "SELECT * FROM Tab WHERE p = ? OR p = ?", "Parameters": [{"S": "t1"}, {"S": "t2"}]})",
       "PartiQLSelect Tab LeadingKeys=t1,t2 Attributes=p Select=ALL_ATTRIBUTES FullTableScan=false"},
      {"ExecuteStatement", R"({"Statement": "SELECT * FROM Tab WHERE p = 't1' OR s = 1"})",
       "PartiQLSelect Tab Attributes=p,s Select=ALL_ATTRIBUTES FullTableScan=true"},
      {"ExecuteStatement", R"({"Statement": "SELECT * FROM Tab"})",
       "PartiQLSelect Tab Select=ALL_ATTRIBUTES FullTableScan=true"},
      {"ExecuteStatement", R"({"Statement": "SELECT p FROM Tab.by_g WHERE g = 7"})",
       "PartiQLSelect Tab/by_g LeadingKeys=7 Attributes=g,p Select=SPECIFIC_ATTRIBUTES FullTableScan=false"},
      {"ExecuteStatement", R"({"Statement": "SELECT * FROM None WHERE p = 't1'"})", "PartiQLSelect None unknown"},
      {"ExecuteStatement", R"({"Statement": "INSERT INTO Tab VALUE {'p': 't1', 's': 1, 'x': 'y'}"})",
       "PartiQLInsert Tab LeadingKeys=t1 Attributes=p,s,x ReturnValues=NONE"},
      {"ExecuteStatement", R"({"Statement": "UPDATE Tab SET x = 1 WHERE p = 't1' AND s = 1 RETURNING ALL NEW *"})",
       "PartiQLUpdate Tab LeadingKeys=t1 Attributes=p,s,x ReturnValues=ALL_NEW"},
      {"ExecuteStatement", R"({"Statement": "DELETE FROM Tab WHERE p = 't1' AND s = 1 AND x = 2"})",
       "PartiQLDelete Tab LeadingKeys=t1 Attributes=p,s,x ReturnValues=NONE"},
      {"BatchExecuteStatement",
       R"({"Statements": [{"Statement": "SELECT * FROM Tab WHERE p = 't1' AND s = 1"},
                          {"Statement": "SELECT * FROM Tab WHERE p = 't2' AND s = 1"}]})",
       "PartiQLSelect Tab LeadingKeys=t1 Attributes=p,s Select=ALL_ATTRIBUTES FullTableScan=false; "
       "PartiQLSelect Tab LeadingKeys=t2 Attributes=p,s Select=ALL_ATTRIBUTES FullTableScan=false"},
      {"ExecuteTransaction",
       R"json({"TransactStatements": [{"Statement": "DELETE FROM Tab WHERE p = 't1' AND s = 1"},
                                  {"Statement": "EXISTS(SELECT * FROM Tab WHERE p = 't2' AND s = 1 AND x = 1)"}]})json",
       "PartiQLDelete Tab LeadingKeys=t1 Attributes=p,s ReturnValues=NONE EnclosingOperation=ExecuteTransaction; "
       "PartiQLSelect Tab LeadingKeys=t2 Attributes=p,s,x ReturnValues=NONE EnclosingOperation=ExecuteTransaction"},
  };
  for (const Case& c : kCases) EXPECT_EQ(Asked(c.operation, c.body), c.asked) << c.body;
}

TEST_F(AccessFactsTest, OperationsOnTablesHaveNone) {
  EXPECT_EQ(Asked("DescribeTable", R"({"TableName": "Tab"})"), "DescribeTable Tab");
  EXPECT_EQ(Asked("ListTables", "{}"), "ListTables ");
}

}  // namespace armature::daemon::access_facts_test
