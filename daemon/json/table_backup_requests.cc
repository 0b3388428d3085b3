#include "daemon/json/table_backup_requests.h"

#include <string_view>

#include "daemon/json/json_reader.h"
#include "daemon/json/table_requests.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kNotAvailable = "SSESpecificationOverride";

absl::Status ReadRestoreMember(std::string_view name, JsonValue value, engine::RestoreTableRequest* to) {
  if (name == "TargetTableName") return ReadString(value, &to->target_table_name);
  if (name == "BackupArn") return ReadString(value, &to->backup_arn);
  if (name == "BillingModeOverride") return ReadString(value, &to->billing_mode);
  if (name == "GlobalSecondaryIndexOverride") return ReadIndexes(value, "GlobalSecondaryIndex", &to->global_indexes);
  if (name == "LocalSecondaryIndexOverride") return ReadIndexes(value, "LocalSecondaryIndex", &to->local_indexes);
  if (name == "ProvisionedThroughputOverride") return ReadProvisionedThroughput(value, &to->provisioned);
  if (name == "OnDemandThroughputOverride") return ReadOnDemandThroughput(value, &to->on_demand_max);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<engine::CreateBackupRequest> ParseCreateBackup(const std::string& json) {
  engine::CreateBackupRequest request;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "CreateBackupInput", [&](std::string_view name, JsonValue value) {
    if (name == "TableName") return ReadString(value, &request.table_name);
    if (name == "BackupName") return ReadString(value, &request.backup_name);
    return absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<BackupArnRequest> ParseBackupArn(const std::string& json) {
  BackupArnRequest request;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "BackupArnInput", [&](std::string_view name, JsonValue value) {
    return name == "BackupArn" ? ReadString(value, &request.backup_arn) : absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<engine::ListTableBackupsRequest> ParseListBackups(const std::string& json) {
  engine::ListTableBackupsRequest request;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "ListBackupsInput", [&](std::string_view name, JsonValue value) {
    if (name == "TableName") return ReadString(value, &request.table_name);
    if (name == "Limit") return ReadInteger(value, &request.limit);
    if (name == "TimeRangeLowerBound") return ReadTimestamp(value, &request.from_ms);
    if (name == "TimeRangeUpperBound") return ReadTimestamp(value, &request.until_ms);
    if (name == "ExclusiveStartBackupArn") return ReadString(value, &request.exclusive_start_arn);
    if (name == "BackupType") return ReadString(value, &request.type);
    return absl::OkStatus();
  }));
  return request;
}

absl::StatusOr<engine::RestoreTableRequest> ParseRestoreTable(const std::string& json) {
  engine::RestoreTableRequest request;
  bool is_available = true;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "RestoreTableFromBackupInput", [&](std::string_view name, JsonValue value) {
    if (name == kNotAvailable) is_available = false;
    return ReadRestoreMember(name, value, &request);
  }));
  if (!is_available) return UnknownOperationError(Cat(kNotAvailable, " is not available in this version"));
  return request;
}

}  // namespace armature::daemon
