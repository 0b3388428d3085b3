#ifndef ARMATURE_ENGINE_BACKUP_POINT_IN_TIME_H_
#define ARMATURE_ENGINE_BACKUP_POINT_IN_TIME_H_

// RestoreTableToPointInTime: one table as it was at a moment, made from the archive.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/backup/table_backups.h"
#include "engine/tables/table_description.h"

namespace armature::engine {

struct Parts;

struct RestoreToPointInTimeRequest {
  RestoreTableRequest restore;  // target and overrides; it has no backup
  std::optional<std::string> source_table_name = {};
  std::optional<std::string> source_table_arn = {};
  std::optional<bool> use_latest_time = {};
  std::optional<int64_t> time_ms = {};
};

// Starts the restore without waiting for it. The table is CREATING until it is complete; one whose restore fails is
// deleted, and the reason is logged. Blocks: it reads the archive, and waits some seconds for a time that is not yet in
// it.
//
// Errors, in this order: ValidationException for members, and for an ARN of another region or account;
// TableNotFoundException; PointInTimeRecoveryUnavailableException if the setting is off, or nothing can be restored
// yet; InvalidRestoreTimeException for a time outside of the window; TableAlreadyExistsException;
// TableInUseException; ValidationException for overrides; LimitExceededException; InvalidRestoreTimeException, naming
// the file and the times that can be restored, if the archive is broken before the time. Source of order and texts:
// answers of the original service, captured in October 2026.
absl::StatusOr<TableDescription> RestoreTableToPointInTime(Parts* parts, const RestoreToPointInTimeRequest& request);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_POINT_IN_TIME_H_
