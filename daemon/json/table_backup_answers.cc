#include "daemon/json/table_backup_answers.h"

#include <optional>
#include <string_view>

#include "daemon/json/table_answers.h"
#include "storage/model/table_name.h"

namespace armature::daemon {
namespace {

std::string_view StatusName(engine::BackupStatus status) {
  switch (status) {
    case engine::BackupStatus::kCreating:
      return "CREATING";
    case engine::BackupStatus::kAvailable:
      return "AVAILABLE";
    case engine::BackupStatus::kDeleted:
      return "DELETED";
  }
  return "";
}

// What BackupDetails and BackupSummary have in common. Into an open object.
void WriteWhatAllTell(const engine::TableBackup& backup, JsonWriter* writer) {
  writer->Member("BackupArn", backup.arn).Member("BackupName", backup.name);
  writer->Key("BackupSizeBytes").Integer(backup.totals.size_bytes);
  writer->Member("BackupStatus", StatusName(backup.status)).Member("BackupType", "USER");
  writer->Key("BackupCreationDateTime").Timestamp(backup.creation_time_ms);
}

void WriteDetails(const engine::TableBackup& backup, JsonWriter* writer) {
  WriteWhatAllTell(backup, &writer->Key("BackupDetails").BeginObject());
  writer->EndObject();
}

void WriteTableNames(const model::TableDescriptor& table, JsonWriter* writer) {
  writer->Member("TableName", table.name).Member("TableId", table.uuid);
  writer->Member("TableArn", model::TableArn(table.name));
}

// The units of what is paid by request are reported as zeros.
void WriteProvisioned(const std::optional<model::Throughput>& throughput, JsonWriter* writer) {
  const model::Throughput shown = throughput.value_or(model::Throughput());
  writer->Key("ProvisionedThroughput").BeginObject();
  writer->Key("ReadCapacityUnits").Integer(shown.read_units);
  writer->Key("WriteCapacityUnits").Integer(shown.write_units).EndObject();
}

void WriteSource(const engine::TableBackup& backup, JsonWriter* writer) {
  const model::TableDescriptor& table = backup.table;
  writer->Key("SourceTableDetails").BeginObject();
  WriteTableNames(table, writer);
  writer->Key("TableSizeBytes").Integer(backup.totals.size_bytes);
  WriteKeySchema(table.key, &writer->Key("KeySchema"));
  writer->Key("TableCreationDateTime").Timestamp(table.creation_time_ms);
  WriteProvisioned(table.settings.provisioned, writer);
  WriteOnDemand(table.settings.on_demand_max, writer);
  writer->Key("ItemCount").Integer(backup.totals.item_count);
  writer->Member("BillingMode", model::BillingModeName(table.settings.billing_mode)).EndObject();
}

// Leaves the object open.
void BeginIndex(const model::IndexDescriptor& index, JsonWriter* writer) {
  writer->BeginObject().Member("IndexName", index.name);
  WriteKeySchema(index.key, &writer->Key("KeySchema"));
  WriteProjection(index.projection, &writer->Key("Projection"));
}

void WriteIndexes(const model::TableDescriptor& table, JsonWriter* writer) {
  if (!table.local_indexes.empty()) {
    writer->Key("LocalSecondaryIndexes").BeginArray();
    for (const model::IndexDescriptor& index : table.local_indexes) {
      BeginIndex(index, writer);
      writer->EndObject();
    }
    writer->EndArray();
  }
  if (table.global_indexes.empty()) return;
  writer->Key("GlobalSecondaryIndexes").BeginArray();
  for (const model::IndexDescriptor& index : table.global_indexes) {
    BeginIndex(index, writer);
    WriteProvisioned(index.provisioned, writer);
    WriteOnDemand(index.on_demand_max, writer);
    writer->EndObject();
  }
  writer->EndArray();
}

void WriteFeatures(const model::TableDescriptor& table, JsonWriter* writer) {
  writer->Key("SourceTableFeatureDetails").BeginObject();
  WriteIndexes(table, writer);
  WriteStreamSpecification("StreamDescription", table.settings, writer);
  if (!table.settings.time_to_live_attribute.empty()) {
    writer->Key("TimeToLiveDescription").BeginObject();
    writer->Member("AttributeName", table.settings.time_to_live_attribute);
    writer->Member("TimeToLiveStatus", "ENABLED").EndObject();
  }
  WriteEncryption(table.settings, writer);
  writer->EndObject();
}

}  // namespace

void WriteBackupDetails(const engine::TableBackup& backup, JsonWriter* writer) {
  WriteDetails(backup, &writer->BeginObject());
  writer->EndObject();
}

void WriteBackupDescription(const engine::TableBackup& backup, JsonWriter* writer) {
  writer->BeginObject().Key("BackupDescription").BeginObject();
  WriteDetails(backup, writer);
  WriteSource(backup, writer);
  WriteFeatures(backup.table, writer);
  writer->EndObject().EndObject();
}

void WriteBackupSummaries(const engine::ListTableBackupsResult& result, JsonWriter* writer) {
  writer->BeginObject().Key("BackupSummaries").BeginArray();
  for (const engine::TableBackup& backup : result.backups) {
    WriteTableNames(backup.table, &writer->BeginObject());
    WriteWhatAllTell(backup, writer);
    writer->EndObject();
  }
  writer->EndArray();
  if (result.last_evaluated_arn.has_value()) writer->Member("LastEvaluatedBackupArn", *result.last_evaluated_arn);
  writer->EndObject();
}

}  // namespace armature::daemon
