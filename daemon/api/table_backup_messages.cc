#include "daemon/api/table_backup_messages.h"

#include <string>

#include "daemon/api/table_messages.h"
#include "daemon/message_json/given_fields.h"
#include "storage/base/api_error.h"
#include "storage/model/table_name.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

v1::BackupStatus StatusOf(engine::BackupStatus status) {
  switch (status) {
    case engine::BackupStatus::kCreating:
      return v1::BACKUP_STATUS_CREATING;
    case engine::BackupStatus::kAvailable:
      return v1::BACKUP_STATUS_AVAILABLE;
    case engine::BackupStatus::kDeleted:
      return v1::BACKUP_STATUS_DELETED;
  }
  return v1::BACKUP_STATUS_UNSPECIFIED;
}

// An on-demand table or index reports zeros.
void FillProvisioned(const std::optional<model::Throughput>& from, v1::ProvisionedThroughput* to) {
  to->set_read_capacity_units(from.has_value() ? from->read_units : 0);
  to->set_write_capacity_units(from.has_value() ? from->write_units : 0);
}

void FillSource(const engine::TableBackup& backup, v1::SourceTableDetails* to) {
  const model::TableDescriptor& table = backup.table;
  to->set_table_name(table.name);
  to->set_table_id(table.uuid);
  to->set_table_arn(model::TableArn(table.name));
  to->set_table_size_bytes(backup.size_bytes);
  to->set_item_count(backup.item_count);
  to->set_table_creation_date_time_ms(table.creation_time_ms);
  Fill(table.key, to->mutable_key_schema());
  to->set_billing_mode(static_cast<v1::BillingMode>(table.settings.billing_mode));
  FillProvisioned(table.settings.provisioned, to->mutable_provisioned_throughput());
  if (table.settings.on_demand_max.has_value()) {
    FillOnDemand(*table.settings.on_demand_max, to->mutable_on_demand_throughput());
  }
}

template <class Message>
void FillIndex(const model::IndexDescriptor& index, Message* to) {
  to->set_index_name(index.name);
  Fill(index.key, to->mutable_key_schema());
  Fill(index.projection, to->mutable_projection());
}

void FillFeatures(const model::TableDescriptor& table, v1::SourceTableFeatureDetails* to) {
  for (const model::IndexDescriptor& index : table.local_indexes) FillIndex(index, to->add_local_secondary_indexes());
  for (const model::IndexDescriptor& index : table.global_indexes) {
    v1::GlobalSecondaryIndexInfo* const out = to->add_global_secondary_indexes();
    FillIndex(index, out);
    FillProvisioned(index.provisioned, out->mutable_provisioned_throughput());
    if (index.on_demand_max.has_value()) FillOnDemand(*index.on_demand_max, out->mutable_on_demand_throughput());
  }
  const model::TableSettings& settings = table.settings;
  if (settings.stream_enabled) FillStreamSpecification(settings, to->mutable_stream_description());
  if (!settings.time_to_live_attribute.empty()) {
    to->mutable_time_to_live_description()->set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_ENABLED);
    to->mutable_time_to_live_description()->set_attribute_name(settings.time_to_live_attribute);
  }
  if (settings.sse_enabled) FillSse(settings, to->mutable_sse_description());
}

// Fills common members of BackupDetails and BackupSummary.
template <class Message>
void FillWhatAllTell(const engine::TableBackup& backup, Message* to) {
  to->set_backup_arn(backup.arn);
  to->set_backup_name(backup.name);
  to->set_backup_size_bytes(backup.size_bytes);
  to->set_backup_status(StatusOf(backup.status));
  to->set_backup_type(v1::BACKUP_TYPE_USER);
  to->set_backup_creation_date_time_ms(backup.creation_time_ms);
}

}  // namespace

engine::CreateBackupRequest ToCreateBackup(const v1::CreateBackupRequest& request) {
  return {.table_name = GivenText(request, request.kTableNameFieldNumber),
          .backup_name = GivenText(request, request.kBackupNameFieldNumber)};
}

engine::ListTableBackupsRequest ToListTableBackups(const v1::ListBackupsRequest& request) {
  return {.table_name = GivenText(request, request.kTableNameFieldNumber),
          .limit = GivenInteger(request, request.kLimitFieldNumber),
          .from_ms = GivenInteger(request, request.kTimeRangeLowerBoundMsFieldNumber),
          .until_ms = GivenInteger(request, request.kTimeRangeUpperBoundMsFieldNumber),
          .exclusive_start_arn = GivenText(request, request.kExclusiveStartBackupArnFieldNumber),
          .type = GivenEnum(request, request.kBackupTypeFieldNumber)};
}

absl::StatusOr<engine::RestoreTableRequest> ToRestoreTable(const v1::RestoreTableFromBackupRequest& request) {
  if (request.has_sse_specification_override()) {
    return UnknownOperationError("SSESpecificationOverride is not available in this version");
  }
  engine::RestoreTableRequest to;
  to.target_table_name = GivenText(request, request.kTargetTableNameFieldNumber);
  to.backup_arn = GivenText(request, request.kBackupArnFieldNumber);
  to.billing_mode = GivenEnum(request, request.kBillingModeOverrideFieldNumber);
  if (request.has_local_secondary_index_override()) {
    to.local_indexes = ToIndexes(request.local_secondary_index_override().indexes());
  }
  if (request.has_global_secondary_index_override()) {
    to.global_indexes = ToIndexes(request.global_secondary_index_override().indexes());
  }
  if (request.has_provisioned_throughput_override()) {
    to.provisioned = ToThroughput(request.provisioned_throughput_override());
  }
  if (request.has_on_demand_throughput_override()) {
    to.on_demand_max = ToThroughput(request.on_demand_throughput_override());
  }
  return to;
}

void Fill(const engine::TableBackup& backup, v1::BackupDetails* to) { FillWhatAllTell(backup, to); }

void Fill(const engine::TableBackup& backup, v1::BackupDescription* to) {
  Fill(backup, to->mutable_backup_details());
  FillSource(backup, to->mutable_source_table_details());
  FillFeatures(backup.table, to->mutable_source_table_feature_details());
}

void Fill(const engine::ListTableBackupsResult& result, v1::ListBackupsResponse* to) {
  for (const engine::TableBackup& backup : result.backups) {
    v1::BackupSummary* const summary = to->add_backup_summaries();
    FillWhatAllTell(backup, summary);
    summary->set_table_name(backup.table.name);
    summary->set_table_id(backup.table.uuid);
    summary->set_table_arn(model::TableArn(backup.table.name));
  }
  if (result.last_evaluated_arn.has_value()) to->set_last_evaluated_backup_arn(*result.last_evaluated_arn);
}

}  // namespace armature::daemon
