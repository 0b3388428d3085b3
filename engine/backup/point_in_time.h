#ifndef ARMATURE_ENGINE_BACKUP_POINT_IN_TIME_H_
#define ARMATURE_ENGINE_BACKUP_POINT_IN_TIME_H_

// RestoreTableToPointInTime. The daemon keeps no history from which it could make a table of the past, so that every
// request ends in an error; those that are wrong get the error of the original service.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "engine/backup/table_backups.h"
#include "storage/store/database.h"

namespace armature::engine {

struct RestoreToPointInTimeRequest {
  RestoreTableRequest restore;  // target and overrides; it has no backup
  std::optional<std::string> source_table_name = {};
  std::optional<std::string> source_table_arn = {};
  std::optional<bool> use_latest_time = {};
  std::optional<int64_t> time_ms = {};
};

// Errors, in this order: ValidationException for members, and for an ARN of another region or account;
// TableNotFoundException; PointInTimeRecoveryUnavailableException. Source of order and texts: answers of the original
// service, captured in October 2026.
absl::Status RestoreTableToPointInTime(const store::Database& database, const RestoreToPointInTimeRequest& request);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_POINT_IN_TIME_H_
