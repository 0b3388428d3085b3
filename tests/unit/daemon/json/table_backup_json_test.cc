// Documents of table backups in the JSON protocol. tests/conformance/cases covers the meaning of the operations.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "armature/api/v1/tables.pb.h"
#include "daemon/api/table_messages.h"
#include "daemon/message_json/given_fields.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "tests/unit/daemon/json/document_test_util.h"
#include "tests/unit/engine/backup/sample_table_backup.h"

namespace armature::daemon::table_backup_json_test {

namespace v1 = ::armature::api::v1;

constexpr std::string_view kDetails =
    R"("BackupArn":"arn:aws:dynamodb:local:000000000000:table/Cats/backup/01489602797149-73d8d5bc","BackupName":"first",)"
    R"("BackupSizeBytes":300,"BackupStatus":"STATUS","BackupType":"USER","BackupCreationDateTime":1489602797.149)";

std::string Details(std::string_view status) {
  std::string text(kDetails);
  return text.replace(text.find("STATUS"), 6, status);
}

// The document with sorted members.
std::string Made(const engine::TableBackup& backup) {
  v1::CreateBackupResponse answer;
  Fill(backup, answer.mutable_backup_details());
  return Sorted(Written(answer));
}

std::string Described(const engine::TableBackup& backup) {
  v1::DescribeBackupResponse answer;
  Fill(backup, answer.mutable_backup_description());
  return Written(answer);
}

std::string Listed(const engine::ListTableBackupsResult& result) {
  v1::ListBackupsResponse answer;
  Fill(result, &answer);
  return Sorted(Written(answer));
}

std::string Described(const engine::TableDescription& description) {
  v1::DescribeTableResponse answer;
  Fill(description, answer.mutable_table());
  return Written(answer);
}

TEST(TableBackupJson, DetailsOfEachStatus) {
  engine::TableBackup backup = engine::PlainTableBackup();
  for (const auto& [status, name] : {std::pair(engine::BackupStatus::kCreating, "CREATING"),
                                     std::pair(engine::BackupStatus::kAvailable, "AVAILABLE"),
                                     std::pair(engine::BackupStatus::kDeleted, "DELETED")}) {
    backup.status = status;
    EXPECT_EQ(Made(backup), Sorted(Cat(R"({"BackupDetails":{)", Details(name), "}}")));
  }
}

TEST(TableBackupJson, DescriptionOfAPlainTable) {
  EXPECT_EQ(Sorted(Described(engine::PlainTableBackup())),
            Sorted(Cat(
                R"({"BackupDescription":{"BackupDetails":{)", Details("AVAILABLE"), R"(},"SourceTableDetails":{)",
                R"("TableName":"Cats","TableId":"the-id","TableArn":"arn:aws:dynamodb:local:000000000000:table/Cats",)",
                R"("TableSizeBytes":300,"KeySchema":[{"AttributeName":"p","KeyType":"HASH"}],)",
                R"("TableCreationDateTime":1400000000.500,)",
                R"("ProvisionedThroughput":{"ReadCapacityUnits":0,"WriteCapacityUnits":0},"ItemCount":2,)",
                R"("BillingMode":"PAY_PER_REQUEST"},"SourceTableFeatureDetails":{}}})")));
}

TEST(TableBackupJson, DescriptionOfATableWithEverything) {
  const std::string text = Described(engine::FullTableBackup());
  EXPECT_EQ(
      text.substr(text.find(R"("KeySchema")")),
      R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}],)"
      R"("TableCreationDateTime":1400000000.500,"ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":4},)"
      R"("OnDemandThroughput":{"MaxWriteRequestUnits":8},"ItemCount":2,)"
      R"("BillingMode":"PROVISIONED"},"SourceTableFeatureDetails":{)"
      R"("LocalSecondaryIndexes":[{"IndexName":"Local","KeySchema":[{"AttributeName":"p","KeyType":"HASH"},)"
      R"({"AttributeName":"g","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}],)"
      R"("GlobalSecondaryIndexes":[{"IndexName":"Global","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],)"
      R"("Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["a","z"]},)"
      R"("ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6},)"
      R"("OnDemandThroughput":{"MaxReadRequestUnits":7}}],)"
      R"("StreamDescription":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},)"
      R"("TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"ends"},)"
      R"("SSEDescription":{"Status":"ENABLED","SSEType":"KMS","KMSMasterKeyArn":"key"}}}})");
}

TEST(TableBackupJson, Summaries) {
  engine::ListTableBackupsResult result;
  EXPECT_EQ(Listed(result), Sorted(R"({"BackupSummaries":[]})"));
  result.backups = {engine::PlainTableBackup(), engine::FullTableBackup()};
  result.last_evaluated_arn = "last";
  const std::string_view table =
      R"({"TableName":"Cats","TableId":"the-id","TableArn":"arn:aws:dynamodb:local:000000000000:table/Cats",)";
  EXPECT_EQ(Listed(result), Sorted(Cat(R"({"BackupSummaries":[)", table, Details("AVAILABLE"), "},", table,
                                       Details("CREATING"), R"(}],"LastEvaluatedBackupArn":"last"})")));
}

TEST(TableBackupJson, ATableTellsWhereItComesFromWhileItIsRestored) {
  engine::TableDescription description;
  description.descriptor = engine::PlainTableBackup().table;
  EXPECT_EQ(Described(description).find("RestoreSummary"), std::string::npos);
  description.descriptor.restore = {"the backup", "the table", 1'489'602'797'149, /*in_progress=*/true};
  const std::string text = Described(description);
  EXPECT_NE(text.find(R"("RestoreSummary":{"SourceBackupArn":"the backup","SourceTableArn":"the table",)"
                      R"("RestoreDateTime":1489602797.149,"RestoreInProgress":true})"),
            std::string::npos)
      << text;
  description.descriptor.restore->in_progress = false;
  EXPECT_EQ(Described(description).find("RestoreSummary"), std::string::npos);
}

// Parses a document and converts it to the engine's request.
template <class Message, class Translate>
auto Parsed(const std::string& json, Translate translate) -> absl::StatusOr<decltype(translate(Message()))> {
  const absl::StatusOr<Message> message = ReadAs<Message>(json);
  if (!message.ok()) return message.status();
  return translate(*message);
}
absl::StatusOr<engine::CreateBackupRequest> ParseCreateBackup(const std::string& json) {
  return Parsed<v1::CreateBackupRequest>(json, ToCreateBackup);
}
absl::StatusOr<engine::ListTableBackupsRequest> ParseListBackups(const std::string& json) {
  return Parsed<v1::ListBackupsRequest>(json, ToListTableBackups);
}
absl::StatusOr<engine::RestoreTableRequest> ParseRestoreTable(const std::string& json) {
  const absl::StatusOr<v1::RestoreTableFromBackupRequest> message = ReadAs<v1::RestoreTableFromBackupRequest>(json);
  if (!message.ok()) return message.status();
  return ToRestoreTable(*message);
}
std::optional<std::string> BackupArnOf(const std::string& json) {
  const auto message = ReadAs<v1::DescribeBackupRequest>(json);
  return message.ok() ? GivenText(*message, v1::DescribeBackupRequest::kBackupArnFieldNumber) : "no message";
}

TEST(TableBackupJson, RequestsKeepAllThatWasSent) {
  const auto create = ParseCreateBackup(R"({"TableName": "T", "BackupName": "b", "Other": 1})");
  ASSERT_TRUE(create.ok()) << create.status();
  EXPECT_EQ(create->table_name, "T");
  EXPECT_EQ(create->backup_name, "b");
  EXPECT_EQ(BackupArnOf(R"({"BackupArn": "a"})"), "a");
  const auto list = ParseListBackups(R"({"TableName": "T", "Limit": 5, "TimeRangeLowerBound": 1489602797.149,
      "TimeRangeUpperBound": 1500000000, "ExclusiveStartBackupArn": "a", "BackupType": "MINE"})");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->table_name, "T");
  EXPECT_EQ(list->limit, 5);
  EXPECT_EQ(list->from_ms, 1'489'602'797'149);
  EXPECT_EQ(list->until_ms, 1'500'000'000'000);
  EXPECT_EQ(list->exclusive_start_arn, "a");
  EXPECT_EQ(list->type, "MINE");
  const auto restore = ParseRestoreTable(R"({"TargetTableName": "T", "BackupArn": "a", "BillingModeOverride": "FREE",
      "GlobalSecondaryIndexOverride": [{"IndexName": "g", "ProvisionedThroughput": {"ReadCapacityUnits": 1}}],
      "LocalSecondaryIndexOverride": [], "ProvisionedThroughputOverride": {"WriteCapacityUnits": 2},
      "OnDemandThroughputOverride": {"MaxReadRequestUnits": 3},
      "SSESpecificationOverride": {"Enabled": true, "SSEType": "KMS", "KMSMasterKeyId": "key-1"}})");
  ASSERT_TRUE(restore.ok()) << restore.status();
  constexpr int64_t kNone = model::kThroughputNotGiven;
  EXPECT_EQ(restore->target_table_name, "T");
  EXPECT_EQ(restore->backup_arn, "a");
  EXPECT_EQ(restore->billing_mode, "FREE");
  ASSERT_EQ(restore->global_indexes->size(), 1u);
  EXPECT_EQ(restore->global_indexes->at(0).index_name, "g");
  EXPECT_EQ(restore->global_indexes->at(0).provisioned, (model::Throughput{1, kNone}));
  EXPECT_TRUE(restore->local_indexes.has_value() && restore->local_indexes->empty()) << "no index is not all of them";
  EXPECT_EQ(restore->provisioned, (model::Throughput{kNone, 2}));
  EXPECT_EQ(restore->on_demand_max, (model::Throughput{3, kNone}));
  ASSERT_TRUE(restore->sse.has_value());
  EXPECT_EQ(restore->sse->enabled, true);
  EXPECT_EQ(restore->sse->type, "KMS");
  EXPECT_EQ(restore->sse->kms_key, "key-1");
}

TEST(TableBackupJson, WhatIsNotSentIsAbsent) {
  EXPECT_FALSE(ParseCreateBackup("{}")->backup_name.has_value());
  EXPECT_FALSE(BackupArnOf(R"({"BackupArn": null})").has_value());
  const engine::ListTableBackupsRequest list = *ParseListBackups(R"({"TimeRangeLowerBound": null})");
  EXPECT_FALSE(list.table_name.has_value() || list.limit.has_value() || list.from_ms.has_value() ||
               list.until_ms.has_value() || list.exclusive_start_arn.has_value() || list.type.has_value());
  const engine::RestoreTableRequest restore = *ParseRestoreTable(R"({"SSESpecificationOverride": null})");
  EXPECT_FALSE(restore.target_table_name.has_value() || restore.backup_arn.has_value() ||
               restore.billing_mode.has_value() || restore.local_indexes.has_value() ||
               restore.global_indexes.has_value() || restore.provisioned.has_value() ||
               restore.on_demand_max.has_value() || restore.sse.has_value());
}

TEST(TableBackupJson, WrongTypesAreSerializationErrors) {
  const auto told = [](const absl::Status& status) {
    const std::optional<ApiError> error = GetApiError(status);
    return error.has_value() ? Cat(ApiErrorName(error->type), ": ", error->message) : status.ToString();
  };
  EXPECT_EQ(told(ParseCreateBackup(R"({"BackupName": 1})").status()),
            "SerializationException: NUMBER_VALUE cannot be converted to String");
  EXPECT_EQ(told(ParseListBackups(R"({"Limit": 1.5})").status()),
            "SerializationException: DECIMAL_VALUE cannot be converted to Integer");
  EXPECT_EQ(told(ParseListBackups(R"({"TimeRangeLowerBound": "now"})").status()),
            "SerializationException: STRING_VALUE cannot be converted to Date");
  EXPECT_EQ(told(ParseRestoreTable(R"({"GlobalSecondaryIndexOverride": "all"})").status()),
            "SerializationException: Unexpected field type");
  EXPECT_EQ(told(ParseRestoreTable(R"({"SSESpecificationOverride": true})").status()),
            "SerializationException: Unexpected field type");
}

// Times beyond the range of 64 bits are limited to it, neither refused nor wrapped around.
TEST(TableBackupJson, TimesBeyondAllBoundsAreTheNearestOnes) {
  EXPECT_GT(*ParseListBackups(R"({"TimeRangeLowerBound": 1e300})")->from_ms, int64_t{1} << 62);
  EXPECT_LT(*ParseListBackups(R"({"TimeRangeLowerBound": -1e300})")->from_ms, -(int64_t{1} << 62));
  EXPECT_GT(*ParseListBackups(R"({"TimeRangeUpperBound": 18446744073709551615})")->until_ms, int64_t{1} << 62);
  EXPECT_EQ(*ParseListBackups(R"({"TimeRangeUpperBound": -0.0004})")->until_ms, 0);
}

}  // namespace armature::daemon::table_backup_json_test
