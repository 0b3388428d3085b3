// Documents of table settings in the JSON protocol. tests/conformance/cases covers the meaning of the operations.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "armature/api/v1/tables.pb.h"
#include "daemon/api/table_messages.h"
#include "tests/unit/daemon/json/document_test_util.h"
#include "tests/unit/daemon/json/json_api_test_util.h"

namespace armature::daemon::setting_operations_test {

namespace v1 = ::armature::api::v1;

constexpr std::string_view kArn = "arn:aws:dynamodb:local:000000000000:table/Cats";

class SettingOperations : public JsonTest {
 protected:
  void MakeTable() {
    CreateTable(R"({"TableName":"Cats","BillingMode":"PAY_PER_REQUEST",)"
                R"("AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],)"
                R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]})",
                "Cats");
  }
};

TEST_F(SettingOperations, TaggingAnswersAnEmptyBody) {
  MakeTable();
  EXPECT_EQ(Body("TagResource",
                 Cat(R"({"ResourceArn":")", kArn, R"(","Tags":[{"Key":"a","Value":"x"},{"Key":"b\"","Value":""}]})")),
            ErrorBody("ValidationException", R"(The Tag Key provided is invalid, Key: b\")"));
  EXPECT_EQ(Body("TagResource", Cat(R"({"ResourceArn":")", kArn, R"(","Tags":[{"Key":"a","Value":"x"},{"Key":"b"}]})")),
            ErrorBody("ValidationException",
                      "1 validation error detected: Value null at 'tags.2.member.value' failed to satisfy constraint: "
                      "Member must not be null"));
  EXPECT_EQ(Body("TagResource",
                 Cat(R"({"ResourceArn":")", kArn, R"(","Tags":[{"Key":"a","Value":"x"},{"Key":"b","Value":""}]})")),
            "");
  EXPECT_EQ(Body("ListTagsOfResource", Cat(R"({"ResourceArn":")", kArn, R"("})")),
            R"({"Tags":[{"Key":"a","Value":"x"},{"Key":"b","Value":""}]})");
  EXPECT_EQ(Body("UntagResource", Cat(R"({"ResourceArn":")", kArn, R"(","TagKeys":["a","b"]})")), "");
  EXPECT_EQ(Body("ListTagsOfResource", Cat(R"({"ResourceArn":")", kArn, R"("})")), R"({"Tags":[]})");
}

TEST_F(SettingOperations, TimeToLive) {
  MakeTable();
  EXPECT_EQ(Body("DescribeTimeToLive", R"({"TableName":"Cats"})"),
            R"({"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}})");
  EXPECT_EQ(Body("UpdateTimeToLive",
                 R"({"TableName":"Cats","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"t"}})"),
            R"({"TimeToLiveSpecification":{"Enabled":true,"AttributeName":"t"}})");
  EXPECT_EQ(Body("DescribeTimeToLive", R"({"TableName":"Cats"})"),
            R"({"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"t"}})");
}

TEST_F(SettingOperations, ContinuousBackups) {
  MakeTable();
  EXPECT_EQ(Body("DescribeContinuousBackups", R"({"TableName":"Cats"})"),
            R"({"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED",)"
            R"("PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}})");
  const std::string updated = Body(
      "UpdateContinuousBackups",
      R"({"TableName":"Cats","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":3}})");
  // Without an archive there is no window.
  EXPECT_NE(updated.find(R"({"PointInTimeRecoveryStatus":"ENABLED","RecoveryPeriodInDays":3})"), std::string::npos)
      << updated;
  EXPECT_EQ(Body("DescribeContinuousBackups", R"({"TableName":"Dogs"})"),
            ErrorBody("TableNotFoundException", "Table not found: Dogs"));
}

TEST_F(SettingOperations, LimitsAndEndpoints) {
  EXPECT_EQ(Body("DescribeLimits", "{}"),
            R"({"AccountMaxReadCapacityUnits":80000,"AccountMaxWriteCapacityUnits":80000,)"
            R"("TableMaxReadCapacityUnits":40000,"TableMaxWriteCapacityUnits":40000})");
  JsonCall call;
  call.operation = "DescribeEndpoints";
  call.body = "{}";
  call.host = "db.example:8000";
  engine::Answer<JsonAnswer> answer;
  api_.Call(std::move(call),
            [catch_answer = answer.Catch()](JsonAnswer given) mutable { std::move(catch_answer)(std::move(given)); });
  EXPECT_EQ(answer.Take()->body, R"({"Endpoints":[{"Address":"db.example:8000","CachePeriodInMinutes":1440}]})");
  EXPECT_EQ(Body("DescribeLimits", "[]"), R"(400 {"__type":"com.amazon.coral.service#SerializationException"})");
}

// Records each access check and refuses.
class AskedAccess final : public Access {
 public:
  const std::string& principal() const override { return principal_; }
  absl::Status Check(const access::Request& request) const override {
    asked_.push_back(Cat(request.operation, " ", request.table));
    return ResourceInUseError("no");
  }
  const std::vector<std::string>& asked() const { return asked_; }

 private:
  const std::string principal_ = "someone";
  mutable std::vector<std::string> asked_;
};

// Permits to create tables, and nothing else.
class CreatorAccess final : public Access {
 public:
  const std::string& principal() const override { return principal_; }
  absl::Status Check(const access::Request& request) const override {
    return request.operation == "CreateTable" ? absl::OkStatus() : ResourceInUseError(Cat("no ", request.operation));
  }

 private:
  const std::string principal_ = "creator";
};

TEST_F(SettingOperations, ATableWithAPolicyNeedsTheRightToPutOne) {
  const auto access = std::make_shared<CreatorAccess>();
  const std::string_view table = R"({"TableName":"Dogs","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],"KeySchema":[{"AttributeName":"p","KeyType":"HASH"}])";
  const JsonAnswer refused = Ask("CreateTable", Cat(table, R"(,"ResourcePolicy":"{}"})"), access);
  EXPECT_NE(refused.body.find("no PutResourcePolicy"), std::string::npos) << refused.body;
  EXPECT_EQ(Body("DescribeTable", R"({"TableName":"Dogs"})").substr(0, 3), "400");
  EXPECT_EQ(Ask("CreateTable", Cat(table, "}"), access).status, 200u);
}

TEST_F(SettingOperations, EachAsksWhatTheCallerMay) {
  const auto access = std::make_shared<AskedAccess>();
  const std::string by_name = R"({"TableName":"Cats"})";
  const std::string by_arn = Cat(R"({"ResourceArn":")", kArn, R"("})");
  for (const std::string_view operation : {"UpdateTable", "UpdateTimeToLive", "DescribeTimeToLive",
                                           "UpdateContinuousBackups", "DescribeContinuousBackups"}) {
    EXPECT_EQ(Ask(operation, by_name, access).status, 400u) << operation;
    EXPECT_EQ(access->asked().back(), Cat(operation, " Cats"));
  }
  for (const std::string_view operation : {"TagResource", "UntagResource", "ListTagsOfResource", "PutResourcePolicy",
                                           "GetResourcePolicy", "DeleteResourcePolicy"}) {
    EXPECT_EQ(Ask(operation, by_arn, access).status, 400u) << operation;
    EXPECT_EQ(access->asked().back(), Cat(operation, " ", kArn));
  }
  // A new table with a policy needs both rights; here the first is refused.
  EXPECT_EQ(Ask("CreateTable", R"({"TableName":"Cats","ResourcePolicy":"{}"})", access).status, 400u);
  EXPECT_EQ(access->asked().back(), "CreateTable Cats");
  for (const std::string_view operation : {"DescribeLimits", "DescribeEndpoints"}) {
    EXPECT_EQ(Ask(operation, "{}", access).status, 400u) << operation;
    EXPECT_EQ(access->asked().back(), Cat(operation, " "));
  }
}

// Access to a backup is checked on its table.
TEST_F(SettingOperations, OperationsOnBackupsAskAboutTheirTable) {
  const auto access = std::make_shared<AskedAccess>();
  const std::string backup = Cat(kArn, "/backup/01489602797149-73d8d5bc");
  for (const std::string_view operation : {"CreateBackup", "ListBackups"}) {
    EXPECT_EQ(Ask(operation, R"({"TableName":"Cats"})", access).status, 400u) << operation;
    EXPECT_EQ(access->asked().back(), Cat(operation, " Cats"));
  }
  EXPECT_EQ(Ask("ListBackups", "{}", access).status, 400u);
  EXPECT_EQ(access->asked().back(), "ListBackups ");
  for (const std::string_view operation : {"DescribeBackup", "DeleteBackup", "RestoreTableFromBackup"}) {
    const std::string document = Cat(R"({"TargetTableName":"Dogs","BackupArn":")", backup, R"("})");
    EXPECT_EQ(Ask(operation, document, access).status, 400u) << operation;
    EXPECT_EQ(access->asked().back(), Cat(operation, " ", backup));
  }
}

TEST_F(SettingOperations, WrongTypesAreSerializationErrors) {
  struct TypeCase {
    std::string_view operation;
    std::string_view body;
    std::string_view text;
  };
  for (const auto& [operation, body, text] : {
           TypeCase{"UpdateTable", R"({"TableName":1})", "NUMBER_VALUE cannot be converted to String"},
           TypeCase{"UpdateTable", R"({"ProvisionedThroughput":{"ReadCapacityUnits":"5x"}})",
                    "STRING_VALUE cannot be converted to Long"},
           TypeCase{"UpdateTable", R"({"DeletionProtectionEnabled":"maybe"})", "Unexpected token received from parser"},
           TypeCase{"UpdateTimeToLive", R"({"TimeToLiveSpecification":"on"})", "Unexpected field type"},
           TypeCase{"TagResource", R"({"Tags":"a"})", "Unexpected field type"},
           TypeCase{"UntagResource", R"({"TagKeys":[1]})", "NUMBER_VALUE cannot be converted to String"},
           TypeCase{"UpdateContinuousBackups", R"({"PointInTimeRecoverySpecification":{"RecoveryPeriodInDays":"1"}})",
                    "STRING_VALUE cannot be converted to Integer"},
       }) {
    EXPECT_EQ(Body(operation, std::string(body)), ErrorBody("SerializationException", text)) << body;
  }
}

TEST_F(SettingOperations, AnUpdateKeepsAllThatWasSent) {
  const absl::StatusOr<v1::UpdateTableRequest> request = ReadAs<v1::UpdateTableRequest>(R"json({
    "TableName": "T", "BillingMode": "FREE", "TableClass": "COLD", "DeletionProtectionEnabled": false,
    "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
    "ProvisionedThroughput": {"ReadCapacityUnits": 1},
    "GlobalSecondaryIndexUpdates": [
      {"Update": {"IndexName": "u", "OnDemandThroughput": {"MaxReadRequestUnits": 2}, "WarmThroughput": {"WriteUnitsPerSecond": 3}}},
      {"Create": {"IndexName": "c", "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}},
      {"Delete": {"IndexName": "d"}}, {}, {"Delete": null}],
    "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "ALL"},
    "SSESpecification": {"Enabled": true, "SSEType": "X", "KMSMasterKeyId": "k"},
    "OnDemandThroughput": {}, "WarmThroughput": null, "Unknown": 1})json");
  ASSERT_TRUE(request.ok()) << request.status();
  const std::optional<model::TableUpdate> read = ToTableUpdate(*request);
  constexpr int64_t kNone = model::kThroughputNotGiven;
  EXPECT_EQ(read->table_name, "T");
  EXPECT_EQ(read->billing_mode, "FREE");
  EXPECT_EQ(read->table_class, "COLD");
  EXPECT_EQ(read->deletion_protection, false);
  EXPECT_EQ(read->attribute_definitions.size(), 1u);
  EXPECT_EQ(read->provisioned, (model::Throughput{1, kNone}));
  ASSERT_EQ(read->global_index_updates->size(), 5u);
  const model::IndexThroughputUpdate& index = *read->global_index_updates->at(0).update;
  EXPECT_EQ(index.index_name, "u");
  EXPECT_EQ(index.on_demand_max, (model::Throughput{2, kNone}));
  EXPECT_EQ(index.warm, (model::Throughput{kNone, 3}));
  EXPECT_EQ(read->global_index_updates->at(1).create->index_name, "c");
  EXPECT_EQ(read->global_index_updates->at(2).remove, "d");
  EXPECT_FALSE(read->global_index_updates->at(4).remove.has_value());
  EXPECT_EQ(read->stream->view_type, "ALL");
  EXPECT_EQ(read->sse->type, "X");
  EXPECT_EQ(read->sse->kms_key, "k");
  EXPECT_EQ(read->on_demand_max, (model::Throughput{kNone, kNone}));
  EXPECT_FALSE(read->warm.has_value());
}

}  // namespace armature::daemon::setting_operations_test
