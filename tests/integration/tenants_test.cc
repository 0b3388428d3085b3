// Two tenants in one table: each sees its own partitions only, over HTTP and gRPC, by every way to an item.

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/client/wait.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"
#include "tests/support/operation_client.h"
#include "tests/support/security_files.h"

namespace armature::test::tenants_test {

using testing::HasSubstr;

constexpr std::string_view kTable = R"({"TableName": "shared", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "tenant", "AttributeType": "S"}, {"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "tenant", "KeyType": "HASH"}, {"AttributeName": "id", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [{"IndexName": "by_id", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
                                "Projection": {"ProjectionType": "ALL"}}]})";

// Each tenant may do everything with items whose partition key is its name; nobody may write the attribute `audit`.
constexpr std::string_view kCredentials = R"({
  "access_keys": [{"id": "AKROOT", "secret": "SECRET", "policy": "root"},
                  {"id": "AKGUEST", "secret": "SECRET", "policy": "none"}, {"id": "AKOWNER", "secret": "SECRET", "policy": "owner"},
                  {"id": "AKRED", "secret": "SECRET", "policy": "red"}, {"id": "AKBLUE", "secret": "SECRET", "policy": "blue"}],
  "policies": {
    "root": {"allow": [{"operations": ["*"], "tables": ["*"]}], "admin": true},
    "none": {},
    "owner": {"allow": [{"operations": ["*"], "tables": ["shared"]}]},
    "red": {"allow": [{"operations": ["*"], "tables": ["shared"],
                       "condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["red"]}}}],
            "deny": [{"operations": ["*"], "tables": ["*"],
                      "condition": {"ForAnyValue:StringEquals": {"dynamodb:Attributes": ["audit"]}}}]},
    "blue": {"allow": [{"operations": ["*"], "tables": ["shared"],
                        "condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["blue", "blue#*"]}}}]}}})";

struct TenantFiles : SecurityFiles {
  TenantFiles() { Write("credentials.json", absl::StrReplaceAll(Av(kCredentials), {{"SECRET", kRootSecret}})); }
};

class TenantsTest : public testing::TestWithParam<Protocol> {
 protected:
  void SetUp() override {
    const auto created = daemon_.client().CreateTable(FromJson<api::v1::CreateTableRequest>(std::string(kTable)));
    ASSERT_TRUE(created.ok()) << created.status();
    ASSERT_TRUE(client::WaitForTable(daemon_.client(), "shared", absl::Now() + absl::Seconds(30)).ok());
    for (const std::string_view tenant : {"red", "blue", "blue#2"}) {
      EXPECT_THAT(Call("AKROOT", "PutItem",
                       Cat(R"({"TableName": "shared", "Item": {"tenant": {"S": ")", tenant,
                           R"("}, "id": {"S": "1"}, "v": {"S": "of )", tenant, R"("}}})")),
                  testing::StartsWith("OK"));
    }
  }

  // "OK {...}", or the name of the exception.
  std::string Call(std::string_view key_id, std::string_view operation, std::string_view body) const {
    const Outcome outcome = operations_.Call(key_id, operation, body);
    return outcome.is_ok ? Cat("OK ", outcome.body) : outcome.exception;
  }

  TenantFiles files_;
  DaemonProcess daemon_{files_.Flags(), files_.WithKey("AKROOT")};
  OperationClient operations_{GetParam(), daemon_, files_};
};

INSTANTIATE_TEST_SUITE_P(Over, TenantsTest, testing::Values(Protocol::kGrpc, Protocol::kHttp),
                         [](const auto& each) { return ToString(each.param); });

struct Request {
  std::string_view operation;
  std::string_view body;  // TENANT stands for the partition
};

constexpr Request kOnItems[] = {
    {"PutItem", R"({"TableName": "shared", "Item": {"tenant": {"S": "TENANT"}, "id": {"S": "2"}}})"},
    {"GetItem", R"({"TableName": "shared", "Key": {"tenant": {"S": "TENANT"}, "id": {"S": "1"}}})"},
    {"UpdateItem", R"({"TableName": "shared", "Key": {"tenant": {"S": "TENANT"}, "id": {"S": "2"}},
                       "UpdateExpression": "SET v = :v", "ExpressionAttributeValues": {":v": {"S": "x"}}})"},
    {"Query", R"({"TableName": "shared", "KeyConditionExpression": "tenant = :t",
                  "ExpressionAttributeValues": {":t": {"S": "TENANT"}}})"},
    {"Query", R"({"TableName": "shared", "KeyConditions": {"tenant": {"ComparisonOperator": "EQ",
                                                                      "AttributeValueList": [{"S": "TENANT"}]}}})"},
    {"BatchGetItem", R"({"RequestItems": {"shared": {"Keys": [{"tenant": {"S": "OWN"}, "id": {"S": "1"}},
                                                              {"tenant": {"S": "TENANT"}, "id": {"S": "2"}}]}}})"},
    {"BatchWriteItem", R"({"RequestItems": {"shared": [
        {"PutRequest": {"Item": {"tenant": {"S": "OWN"}, "id": {"S": "3"}}}},
        {"PutRequest": {"Item": {"tenant": {"S": "TENANT"}, "id": {"S": "4"}}}}]}})"},
    {"TransactGetItems", R"({"TransactItems": [
        {"Get": {"TableName": "shared", "Key": {"tenant": {"S": "OWN"}, "id": {"S": "1"}}}},
        {"Get": {"TableName": "shared", "Key": {"tenant": {"S": "TENANT"}, "id": {"S": "2"}}}}]})"},
    {"TransactWriteItems", R"({"TransactItems": [
        {"Put": {"TableName": "shared", "Item": {"tenant": {"S": "OWN"}, "id": {"S": "5"}}}},
        {"Delete": {"TableName": "shared", "Key": {"tenant": {"S": "TENANT"}, "id": {"S": "4"}}}}]})"},
    {"ExecuteStatement", R"({"Statement": "SELECT * FROM shared WHERE tenant = 'TENANT'"})"},
    {"ExecuteStatement", R"({"Statement": "SELECT * FROM shared WHERE tenant IN ['OWN', 'TENANT']"})"},
    {"ExecuteTransaction",
     R"({"TransactStatements": [{"Statement": "UPDATE shared SET v = 'y' WHERE tenant = 'TENANT' AND id = '2'"}]})"},
    {"DeleteItem", R"({"TableName": "shared", "Key": {"tenant": {"S": "TENANT"}, "id": {"S": "2"}}})"},
};

std::string BodyOf(const Request& request, std::string_view own, std::string_view tenant) {
  std::string body = absl::StrReplaceAll(Av(request.body), {{"OWN", Av(own)}, {"TENANT", Av(tenant)}});
  return body;
}

TEST_P(TenantsTest, EachReachesItsOwnPartitionsByEveryOperation) {
  const struct {
    std::string_view key_id;
    std::string_view own;
    std::string_view another;
  } kTenants[] = {{"AKRED", "red", "blue"}, {"AKBLUE", "blue", "red"}};
  for (const auto& tenant : kTenants) {
    for (const Request& request : kOnItems) {
      SCOPED_TRACE(Cat(tenant.key_id, " ", request.operation, " ", request.body));
      // One key twice is refused, in whatever operation.
      if (request.body.find("OWN") == std::string_view::npos) {
        EXPECT_THAT(Call(tenant.key_id, request.operation, BodyOf(request, tenant.own, tenant.own)),
                    testing::StartsWith("OK"));
      }
      EXPECT_EQ(Call(tenant.key_id, request.operation, BodyOf(request, tenant.own, tenant.another)),
                "AccessDeniedException");
    }
  }
  EXPECT_THAT(
      Call("AKBLUE", "GetItem", R"({"TableName": "shared", "Key": {"tenant": {"S": "blue#2"}, "id": {"S": "1"}}})"),
      HasSubstr("of blue#2"));
  EXPECT_EQ(Call("AKRED", "GetItem", R"({"TableName": "shared", "Key": {"tenant": {"S": "red#2"}, "id": {"S": "1"}}})"),
            "AccessDeniedException");
}

TEST_P(TenantsTest, NoWayAroundTheLeadingKey) {
  constexpr Request kRequests[] = {
      {"Scan", R"({"TableName": "shared"})"},
      {"Scan",
       R"({"TableName": "shared", "FilterExpression": "tenant = :t", "ExpressionAttributeValues": {":t": {"S": "red"}}})"},
      {"Query", R"({"TableName": "shared", "IndexName": "by_id", "KeyConditionExpression": "id = :i",
                    "ExpressionAttributeValues": {":i": {"S": "1"}}})"},
      // The leading key of the index has a permitted value, but the index is not permitted.
      {"Query", R"({"TableName": "shared", "IndexName": "by_id", "KeyConditionExpression": "id = :i",
                    "ExpressionAttributeValues": {":i": {"S": "red"}}})"},
      {"ExecuteStatement", R"({"Statement": "SELECT * FROM shared"})"},
      {"ExecuteStatement", R"({"Statement": "SELECT * FROM shared WHERE tenant = 'red' OR id = '1'"})"},
      {"ExecuteStatement", R"({"Statement": "SELECT * FROM shared.by_id WHERE id = '1'"})"},
      {"DescribeTable", R"({"TableName": "shared"})"},
      {"DeleteTable", R"({"TableName": "shared"})"},
      {"GetItem", R"({"TableName": "shared", "Key": {"id": {"S": "1"}}})"},
      {"GetItem", R"({"TableName": "missing", "Key": {"tenant": {"S": "red"}, "id": {"S": "1"}}})"},
      {"BatchGetItem", R"({"RequestItems": {}})"},
      // An explicit denial overrides what is allowed.
      {"PutItem",
       R"({"TableName": "shared", "Item": {"tenant": {"S": "red"}, "id": {"S": "2"}, "audit": {"S": "x"}}})"},
      {"UpdateItem", R"({"TableName": "shared", "Key": {"tenant": {"S": "red"}, "id": {"S": "1"}},
                         "UpdateExpression": "REMOVE #a", "ExpressionAttributeNames": {"#a": "audit"}})"},
      {"ExecuteStatement", R"({"Statement": "UPDATE shared SET audit = 'x' WHERE tenant = 'red' AND id = '1'"})"},
  };
  for (const Request& request : kRequests) {
    EXPECT_EQ(Call("AKRED", request.operation, request.body), "AccessDeniedException")
        << request.operation << " " << request.body;
  }
}

TEST_P(TenantsTest, AStatementOfABatchIsRefusedByItself) {
  const std::string answer =
      Call("AKRED", "BatchExecuteStatement",
           R"({"Statements": [{"Statement": "SELECT v FROM shared WHERE tenant = 'red' AND id = '1'"},
                                                     {"Statement": "SELECT v FROM shared WHERE tenant = 'blue' AND id = '1'"}]})");
  EXPECT_THAT(answer, HasSubstr("of red"));
  EXPECT_THAT(answer, HasSubstr("AccessDenied"));
  EXPECT_THAT(answer, testing::Not(HasSubstr("of blue")));
}

// Policies of the table and its stream.
class ResourcePolicyTest : public TenantsTest {
 protected:
  static constexpr std::string_view kArn = "arn:aws:dynamodb:local:000000000000:table/shared";

  // Puts a policy with these statements; $T stands for the ARN of the table.
  std::string Put(std::string_view key_id, std::string_view statements, std::string_view more = "",
                  std::string_view arn = kArn) const {
    const std::string document = absl::StrReplaceAll(
        Av(Cat(R"({"Version": "2012-10-17", "Statement": [)", statements, "]}")), {{"$T", Av(kArn)}});
    const std::string quoted = absl::StrReplaceAll(Av(document), {{"\"", "\\\""}, {"\n", " "}});
    return Call(key_id, "PutResourcePolicy",
                Cat(R"({"ResourceArn": ")", arn, R"(", "Policy": ")", quoted, "\"", more, "}"));
  }
  std::string Get(std::string_view key_id, std::string_view tenant) const {
    return Call(key_id, "GetItem",
                Cat(R"({"TableName": "shared", "Key": {"tenant": {"S": ")", tenant, R"("}, "id": {"S": "1"}}})"));
  }
  std::string QueryIndex(std::string_view key_id) const {
    return Call(key_id, "Query", R"({"TableName": "shared", "IndexName": "by_id", "KeyConditionExpression": "id = :i",
                                     "ExpressionAttributeValues": {":i": {"S": "1"}}})");
  }
};

INSTANTIATE_TEST_SUITE_P(Over, ResourcePolicyTest, testing::Values(Protocol::kGrpc, Protocol::kHttp),
                         [](const auto& each) { return ToString(each.param); });

TEST_P(ResourcePolicyTest, PermitsWhatTheCredentialsDoNot) {
  EXPECT_EQ(Get("AKGUEST", "red"), "AccessDeniedException");
  EXPECT_THAT(
      Put("AKROOT",
          R"({"Effect": "Allow", "Principal": {"AWS": "AKGUEST"}, "Action": ["dynamodb:GetItem", "dynamodb:Query"],
      "Resource": "$T", "Condition": {"StringEquals": {"dynamodb:LeadingKeys": "red"}}})"),
      testing::StartsWith("OK"));
  EXPECT_THAT(Get("AKGUEST", "red"), HasSubstr("of red"));
  EXPECT_EQ(Get("AKGUEST", "blue"), "AccessDeniedException");
  EXPECT_EQ(Get("AKBLUE", "red"), "AccessDeniedException") << "another principal";
  EXPECT_EQ(QueryIndex("AKGUEST"), "AccessDeniedException");
  EXPECT_EQ(Call("AKGUEST", "Scan", R"({"TableName": "shared"})"), "AccessDeniedException");
  EXPECT_EQ(Call("AKGUEST", "ListTables", "{}"), "AccessDeniedException");
  EXPECT_THAT(
      Put("AKROOT", R"({"Effect": "Allow", "Principal": "*", "Action": "dynamodb:*", "Resource": "$T/index/*"})"),
      testing::StartsWith("OK"));
  EXPECT_THAT(QueryIndex("AKGUEST"), HasSubstr("of red"));
  EXPECT_EQ(Get("AKGUEST", "red"), "AccessDeniedException") << "the policy was replaced";
}

TEST_P(ResourcePolicyTest, DeniesWhatTheCredentialsPermit) {
  EXPECT_THAT(
      Put("AKOWNER", R"({"Effect": "Deny", "Principal": {"AWS": ["AKRED", "AKOWNER"]}, "Action": "dynamodb:GetItem",
      "Resource": "*"}, {"Effect": "Allow", "Principal": "*", "Action": "dynamodb:GetItem", "Resource": "*"})"),
      testing::StartsWith("OK"));
  EXPECT_EQ(Get("AKRED", "red"), "AccessDeniedException");
  EXPECT_EQ(Get("AKOWNER", "blue"), "AccessDeniedException");
  EXPECT_THAT(Get("AKBLUE", "blue"), HasSubstr("of blue"));
  EXPECT_EQ(Call("AKRED", "TransactGetItems", R"({"TransactItems": [{"Get": {"TableName": "shared",
      "Key": {"tenant": {"S": "red"}, "id": {"S": "1"}}}}]})"),
            "AccessDeniedException");
  // The denial of the credentials file overrides the policy's permission.
  EXPECT_EQ(Call("AKRED", "PutItem",
                 R"({"TableName": "shared", "Item": {"tenant": {"S": "red"}, "id": {"S": "2"}, "audit": {"S": "x"}}})"),
            "AccessDeniedException");
  daemon_.Restart();
  EXPECT_EQ(Get("AKOWNER", "blue"), "AccessDeniedException") << "a policy is durable";
  EXPECT_THAT(Call("AKOWNER", "DeleteResourcePolicy", Cat(R"({"ResourceArn": ")", kArn, R"("})")),
              testing::StartsWith("OK"));
  EXPECT_THAT(Get("AKOWNER", "blue"), HasSubstr("of blue"));
}

TEST_P(ResourcePolicyTest, ACallerMustConfirmToLockItselfOut) {
  constexpr std::string_view kNobody = R"({"Effect": "Deny", "Principal": "*", "Action": "*", "Resource": "*"})";
  EXPECT_EQ(Put("AKOWNER", kNobody), "ValidationException");
  EXPECT_THAT(Get("AKOWNER", "blue"), HasSubstr("of blue"));
  EXPECT_THAT(Put("AKOWNER", kNobody, R"(, "ConfirmRemoveSelfResourceAccess": true)"), testing::StartsWith("OK"));
  for (const std::string_view operation : {"GetResourcePolicy", "DeleteResourcePolicy"}) {
    const std::string body = Cat(R"({"ResourceArn": ")", kArn, R"("})");
    EXPECT_EQ(Call("AKOWNER", operation, body), "AccessDeniedException");
    EXPECT_THAT(Call("AKROOT", operation, body), testing::StartsWith("OK")) << "a key with admin can remove it";
  }
  EXPECT_THAT(Get("AKOWNER", "blue"), HasSubstr("of blue"));
  EXPECT_THAT(Put("AKROOT", kNobody), testing::StartsWith("OK")) << "no confirmation is needed";
  EXPECT_EQ(Get("AKROOT", "blue"), "AccessDeniedException");
}

TEST_P(ResourcePolicyTest, NeedsARightOfItsOwn) {
  const std::string body = Cat(R"({"ResourceArn": ")", kArn, R"("})");
  EXPECT_EQ(Put("AKGUEST", R"({"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"})"),
            "AccessDeniedException");
  EXPECT_EQ(Put("AKRED", R"({"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"})"),
            "AccessDeniedException");
  EXPECT_EQ(Call("AKGUEST", "GetResourcePolicy", body), "AccessDeniedException");
  EXPECT_EQ(Call("AKGUEST", "DeleteResourcePolicy", body), "AccessDeniedException");
  // A permission for everything does not reach the admin service.
  EXPECT_THAT(Put("AKROOT", R"({"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"})"),
              testing::StartsWith("OK"));
  EXPECT_THAT(Call("AKGUEST", "GetResourcePolicy", body), testing::StartsWith("OK"));
  const client::Client guest = daemon_.ConnectWith(files_.WithKey("AKGUEST"));
  EXPECT_TRUE(guest.Scan(FromJson<api::v1::ScanRequest>(R"({"TableName": "shared"})")).ok());
  EXPECT_EQ(
      client::ErrorName(
          guest.ListIndexStatus(FromJson<admin::v1::ListIndexStatusRequest>(R"({"TableName": "shared"})")).status()),
      "AccessDeniedException");
}

}  // namespace armature::test::tenants_test
