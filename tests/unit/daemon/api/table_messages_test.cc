#include "daemon/api/table_messages.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "storage/base/api_error.h"
#include "tests/unit/engine/backup/sample_table_backup.h"

namespace armature::daemon::table_messages_test {

namespace v1 = ::armature::api::v1;

constexpr char kCreate[] = R"pb(
  table_name: "orders"
  attribute_definitions { attribute_name: "pk" attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
  attribute_definitions { attribute_name: "sk" attribute_type: SCALAR_ATTRIBUTE_TYPE_N }
  attribute_definitions { attribute_name: "g" attribute_type: SCALAR_ATTRIBUTE_TYPE_B }
  key_schema { attribute_name: "pk" key_type: KEY_TYPE_HASH }
  key_schema { attribute_name: "sk" key_type: KEY_TYPE_RANGE }
  local_secondary_indexes {
    index_name: "local"
    key_schema { attribute_name: "pk" key_type: KEY_TYPE_HASH }
    key_schema { attribute_name: "g" key_type: KEY_TYPE_RANGE }
    projection {
      projection_type: PROJECTION_TYPE_INCLUDE
      non_key_attributes: [ "z", "a" ]
    }
  }
  global_secondary_indexes {
    index_name: "global"
    key_schema { attribute_name: "g" key_type: KEY_TYPE_HASH }
    projection { projection_type: PROJECTION_TYPE_KEYS_ONLY }
    on_demand_throughput { max_read_request_units: 7 }
  }
  billing_mode: BILLING_MODE_PAY_PER_REQUEST
  stream_specification { stream_enabled: true stream_view_type: STREAM_VIEW_TYPE_NEW_IMAGE }
  tags { key: "k" value: "v" }
  table_class: TABLE_CLASS_STANDARD
  deletion_protection_enabled: true
)pb";

v1::CreateTableRequest Request(const char* text = kCreate) {
  v1::CreateTableRequest request;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request));
  return request;
}

TEST(TableMessages, RequestBecomesADefinitionInTheWordsOfTheApi) {
  const model::TableDefinition definition = ToTableDefinition(Request());
  EXPECT_EQ(definition.table_name, "orders");
  ASSERT_EQ(definition.attribute_definitions.size(), 3u);
  EXPECT_EQ(definition.attribute_definitions[1].attribute_type, "N");
  EXPECT_EQ(definition.key_schema[1].key_type, "RANGE");
  ASSERT_TRUE(definition.local_indexes.has_value() && definition.global_indexes.has_value());
  EXPECT_EQ(definition.local_indexes->at(0).projection.projection_type, "INCLUDE");
  EXPECT_EQ(definition.local_indexes->at(0).projection.non_key_attributes, (std::vector<std::string>{"z", "a"}));
  EXPECT_EQ(definition.global_indexes->at(0).projection.projection_type, "KEYS_ONLY");
  EXPECT_FALSE(definition.global_indexes->at(0).projection.non_key_attributes.has_value());
  EXPECT_EQ(definition.global_indexes->at(0).on_demand_max, (model::Throughput{7, model::kThroughputNotGiven}));
  EXPECT_FALSE(definition.global_indexes->at(0).provisioned.has_value());
  EXPECT_EQ(definition.billing_mode, "PAY_PER_REQUEST");
  EXPECT_EQ(definition.stream->enabled, true);
  EXPECT_EQ(definition.stream->view_type, "NEW_IMAGE");
  EXPECT_EQ(definition.table_class, "STANDARD");
  EXPECT_EQ(definition.deletion_protection, true);
  EXPECT_EQ(definition.tags, (std::vector<std::pair<std::string, std::string>>{{"k", "v"}}));
}

TEST(TableMessages, WhatIsNotSetIsAbsentAndUnknownEnumsBecomeTheirNumber) {
  v1::CreateTableRequest request = Request("table_name: 't' key_schema { attribute_name: 'a' }");
  request.set_billing_mode(static_cast<v1::BillingMode>(77));
  const model::TableDefinition definition = ToTableDefinition(request);
  EXPECT_EQ(definition.key_schema.at(0).key_type, "");
  EXPECT_EQ(definition.billing_mode, "77");
  EXPECT_FALSE(definition.local_indexes.has_value());
  EXPECT_FALSE(definition.global_indexes.has_value());
  EXPECT_FALSE(definition.stream.has_value());
  EXPECT_FALSE(definition.provisioned.has_value());
}

engine::TableDescription Describe() {
  const absl::StatusOr<model::TableDescriptor> table = model::BuildTableDescriptor(ToTableDefinition(Request()));
  EXPECT_TRUE(table.ok()) << table.status();
  engine::TableDescription description;
  description.descriptor = *table;
  description.descriptor.state = model::TableState::kActive;
  description.descriptor.uuid = "the-uuid";
  description.descriptor.creation_time_ms = 123;
  description.totals = {3, 400};
  description.local_indexes = {{1, 10}};
  description.global_indexes = {{2, 20}};
  return description;
}

TEST(TableMessages, DescriptionGivesBackWhatTheRequestSaid) {
  const v1::CreateTableRequest request = Request();
  v1::TableDescription to;
  Fill(Describe(), &to);
  EXPECT_EQ(to.table_name(), "orders");
  EXPECT_EQ(to.table_status(), v1::TABLE_STATUS_ACTIVE);
  EXPECT_EQ(to.creation_date_time_ms(), 123);
  EXPECT_EQ(to.table_id(), "the-uuid");
  EXPECT_EQ(to.table_arn(), "arn:aws:dynamodb:local:000000000000:table/orders");
  EXPECT_EQ(to.item_count(), 3);
  EXPECT_EQ(to.table_size_bytes(), 400);
  ASSERT_EQ(to.key_schema_size(), 2);
  EXPECT_EQ(to.key_schema(1).SerializeAsString(), request.key_schema(1).SerializeAsString());
  ASSERT_EQ(to.attribute_definitions_size(), 3);
  EXPECT_EQ(to.attribute_definitions(0).attribute_name(), "g");  // sorted by name
  ASSERT_EQ(to.local_secondary_indexes_size(), 1);
  EXPECT_EQ(to.local_secondary_indexes(0).index_size_bytes(), 10);
  const v1::Projection& projection = to.local_secondary_indexes(0).projection();
  EXPECT_EQ(projection.projection_type(), v1::PROJECTION_TYPE_INCLUDE);
  ASSERT_EQ(projection.non_key_attributes_size(), 2);
  EXPECT_EQ(projection.non_key_attributes(0), "a");  // sorted by name
  EXPECT_EQ(projection.non_key_attributes(1), "z");
  ASSERT_EQ(to.global_secondary_indexes_size(), 1);
  EXPECT_EQ(to.global_secondary_indexes(0).item_count(), 2);
  EXPECT_EQ(to.global_secondary_indexes(0).index_status(), v1::INDEX_STATUS_ACTIVE);
  EXPECT_EQ(to.global_secondary_indexes(0).key_schema(0).attribute_name(), "g");
  EXPECT_EQ(to.billing_mode_summary().billing_mode(), v1::BILLING_MODE_PAY_PER_REQUEST);
  EXPECT_TRUE(to.stream_specification().stream_enabled());
  EXPECT_EQ(to.stream_specification().stream_view_type(), v1::STREAM_VIEW_TYPE_NEW_IMAGE);
  EXPECT_EQ(to.table_class_summary().table_class(), v1::TABLE_CLASS_STANDARD);
  EXPECT_TRUE(to.deletion_protection_enabled());
}

TEST(TableMessages, DescriptionOfATableBeingDeletedHasNoKeysAndIndexes) {
  engine::TableDescription description = Describe();
  description.descriptor.state = model::TableState::kDeleting;
  v1::TableDescription to;
  Fill(description, &to);
  EXPECT_EQ(to.table_status(), v1::TABLE_STATUS_DELETING);
  EXPECT_EQ(to.key_schema_size(), 0);
  EXPECT_EQ(to.attribute_definitions_size(), 0);
  EXPECT_EQ(to.local_secondary_indexes_size(), 0);
  EXPECT_EQ(to.global_secondary_indexes_size(), 0);
}

}  // namespace armature::daemon::table_messages_test

namespace armature::daemon::table_backup_messages_test {

namespace v1 = ::armature::api::v1;

template <class Message>
Message Parsed(const char* text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

// The differences from `expected`; empty if there are none.
template <class Message>
std::string Difference(const Message& actual, const char* expected) {
  std::string difference;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  differencer.Compare(Parsed<Message>(expected), actual);
  return difference;
}

TEST(TableBackupMessages, DetailsOfEachStatus) {
  engine::TableBackup backup = engine::PlainTableBackup();
  for (const auto& [status, told] : {std::pair(engine::BackupStatus::kCreating, v1::BACKUP_STATUS_CREATING),
                                     std::pair(engine::BackupStatus::kAvailable, v1::BACKUP_STATUS_AVAILABLE),
                                     std::pair(engine::BackupStatus::kDeleted, v1::BACKUP_STATUS_DELETED)}) {
    backup.status = status;
    v1::BackupDetails details;
    Fill(backup, &details);
    EXPECT_EQ(details.backup_status(), told);
    details.clear_backup_status();
    EXPECT_EQ(Difference(details, R"pb(
                backup_arn: "arn:aws:dynamodb:local:000000000000:table/Cats/backup/01489602797149-73d8d5bc"
                backup_name: "first"
                backup_size_bytes: 300
                backup_type: BACKUP_TYPE_USER
                backup_creation_date_time_ms: 1489602797149
              )pb"),
              "");
  }
}

TEST(TableBackupMessages, DescriptionOfAPlainTable) {
  v1::BackupDescription description;
  Fill(engine::PlainTableBackup(), &description);
  EXPECT_EQ(description.backup_details().backup_name(), "first");
  EXPECT_EQ(Difference(description.source_table_details(), R"pb(
              table_name: "Cats"
              table_id: "the-id"
              table_arn: "arn:aws:dynamodb:local:000000000000:table/Cats"
              table_size_bytes: 300
              key_schema { attribute_name: "p" key_type: KEY_TYPE_HASH }
              table_creation_date_time_ms: 1400000000500
              provisioned_throughput { read_capacity_units: 0 write_capacity_units: 0 }
              item_count: 2
              billing_mode: BILLING_MODE_PAY_PER_REQUEST
            )pb"),
            "");
  EXPECT_TRUE(description.has_source_table_feature_details());
  EXPECT_EQ(Difference(description.source_table_feature_details(), ""), "");
}

TEST(TableBackupMessages, DescriptionOfATableWithEverything) {
  v1::BackupDescription description;
  Fill(engine::FullTableBackup(), &description);
  const v1::SourceTableDetails& source = description.source_table_details();
  EXPECT_EQ(source.key_schema_size(), 2);
  EXPECT_EQ(source.key_schema(1).key_type(), v1::KEY_TYPE_RANGE);
  EXPECT_EQ(source.billing_mode(), v1::BILLING_MODE_PROVISIONED);
  EXPECT_EQ(source.provisioned_throughput().write_capacity_units(), 4);
  EXPECT_EQ(source.on_demand_throughput().max_write_request_units(), 8);
  EXPECT_EQ(Difference(description.source_table_feature_details(), R"pb(
              local_secondary_indexes {
                index_name: "Local"
                key_schema { attribute_name: "p" key_type: KEY_TYPE_HASH }
                key_schema { attribute_name: "g" key_type: KEY_TYPE_RANGE }
                projection { projection_type: PROJECTION_TYPE_ALL }
              }
              global_secondary_indexes {
                index_name: "Global"
                key_schema { attribute_name: "g" key_type: KEY_TYPE_HASH }
                projection {
                  projection_type: PROJECTION_TYPE_INCLUDE
                  non_key_attributes: [ "a", "z" ]
                }
                provisioned_throughput { read_capacity_units: 5 write_capacity_units: 6 }
                on_demand_throughput { max_read_request_units: 7 }
              }
              stream_description { stream_enabled: true stream_view_type: STREAM_VIEW_TYPE_NEW_IMAGE }
              time_to_live_description { time_to_live_status: TIME_TO_LIVE_STATUS_ENABLED attribute_name: "ends" }
              sse_description { status: SSE_STATUS_ENABLED sse_type: SSE_TYPE_KMS kms_master_key_arn: "key" }
            )pb"),
            "");
}

TEST(TableBackupMessages, Summaries) {
  engine::ListTableBackupsResult result;
  v1::ListBackupsResponse empty;
  Fill(result, &empty);
  EXPECT_EQ(Difference(empty, ""), "");
  result.backups = {engine::PlainTableBackup()};
  result.last_evaluated_arn = "last";
  v1::ListBackupsResponse response;
  Fill(result, &response);
  EXPECT_EQ(Difference(response, R"pb(
              backup_summaries {
                table_name: "Cats"
                table_id: "the-id"
                table_arn: "arn:aws:dynamodb:local:000000000000:table/Cats"
                backup_arn: "arn:aws:dynamodb:local:000000000000:table/Cats/backup/01489602797149-73d8d5bc"
                backup_name: "first"
                backup_creation_date_time_ms: 1489602797149
                backup_status: BACKUP_STATUS_AVAILABLE
                backup_type: BACKUP_TYPE_USER
                backup_size_bytes: 300
              }
              last_evaluated_backup_arn: "last"
            )pb"),
            "");
}

TEST(TableBackupMessages, ARestoredTableTellsWhereItComesFrom) {
  engine::TableDescription description;
  description.descriptor = engine::PlainTableBackup().table;
  v1::TableDescription plain;
  Fill(description, &plain);
  EXPECT_FALSE(plain.has_restore_summary());
  description.descriptor.restore = {"the backup", "the table", 77, true};
  v1::TableDescription restored;
  Fill(description, &restored);
  EXPECT_EQ(Difference(restored.restore_summary(), R"pb(
              source_backup_arn: "the backup"
              source_table_arn: "the table"
              restore_date_time_ms: 77
              restore_in_progress: true
            )pb"),
            "");
}

TEST(TableBackupMessages, RequestsKeepAllThatWasSent) {
  const engine::CreateBackupRequest create =
      ToCreateBackup(Parsed<v1::CreateBackupRequest>("table_name: 'T' backup_name: 'b'"));
  EXPECT_EQ(create.table_name, "T");
  EXPECT_EQ(create.backup_name, "b");
  const engine::ListTableBackupsRequest list = ToListTableBackups(Parsed<v1::ListBackupsRequest>(R"pb(
    table_name: "T"
    limit: 5
    time_range_lower_bound_ms: 6
    time_range_upper_bound_ms: 7
    exclusive_start_backup_arn: "a"
    backup_type: BACKUP_TYPE_FILTER_AWS_BACKUP
  )pb"));
  EXPECT_EQ(list.table_name, "T");
  EXPECT_EQ(list.limit, 5);
  EXPECT_EQ(list.from_ms, 6);
  EXPECT_EQ(list.until_ms, 7);
  EXPECT_EQ(list.exclusive_start_arn, "a");
  EXPECT_EQ(list.type, "AWS_BACKUP");
  const auto restore = ToRestoreTable(Parsed<v1::RestoreTableFromBackupRequest>(R"pb(
    target_table_name: "T"
    backup_arn: "a"
    billing_mode_override: BILLING_MODE_PAY_PER_REQUEST
    provisioned_throughput_override { write_capacity_units: 2 }
    on_demand_throughput_override { max_read_request_units: 3 }
    global_secondary_index_override { indexes { index_name: "g" } }
    local_secondary_index_override {}
    sse_specification_override { enabled: true sse_type: SSE_TYPE_KMS kms_master_key_id: "key-1" }
  )pb"));
  EXPECT_EQ(restore.target_table_name, "T");
  EXPECT_EQ(restore.backup_arn, "a");
  EXPECT_EQ(restore.billing_mode, "PAY_PER_REQUEST");
  EXPECT_EQ(restore.provisioned, (model::Throughput{model::kThroughputNotGiven, 2}));
  EXPECT_EQ(restore.on_demand_max, (model::Throughput{3, model::kThroughputNotGiven}));
  ASSERT_EQ(restore.global_indexes->size(), 1u);
  EXPECT_EQ(restore.global_indexes->at(0).index_name, "g");
  EXPECT_TRUE(restore.local_indexes.has_value() && restore.local_indexes->empty()) << "no index is not all of them";
  ASSERT_TRUE(restore.sse.has_value());
  EXPECT_EQ(restore.sse->enabled, true);
  EXPECT_EQ(restore.sse->type, "KMS");
  EXPECT_EQ(restore.sse->kms_key, "key-1");
}

TEST(TableBackupMessages, WhatIsNotSentIsAbsentAndUnknownEnumsBecomeTheirNumber) {
  const engine::ListTableBackupsRequest list = ToListTableBackups({});
  EXPECT_FALSE(list.table_name.has_value() || list.limit.has_value() || list.from_ms.has_value() ||
               list.until_ms.has_value() || list.exclusive_start_arn.has_value() || list.type.has_value());
  const auto restore = ToRestoreTable({});
  EXPECT_FALSE(restore.billing_mode.has_value() || restore.local_indexes.has_value() ||
               restore.global_indexes.has_value() || restore.provisioned.has_value() ||
               restore.on_demand_max.has_value() || restore.sse.has_value());
  v1::ListBackupsRequest unknown;
  unknown.set_backup_type(static_cast<v1::BackupTypeFilter>(77));
  EXPECT_EQ(ToListTableBackups(unknown).type, "77");
}

}  // namespace armature::daemon::table_backup_messages_test
