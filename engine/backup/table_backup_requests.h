#ifndef ARMATURE_ENGINE_BACKUP_TABLE_BACKUP_REQUESTS_H_
#define ARMATURE_ENGINE_BACKUP_TABLE_BACKUP_REQUESTS_H_

// Checks of requests about table backups that need no table or backup, and the format of backup ARNs.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backup/table_backups.h"
#include "storage/model/constraint_list.h"

namespace armature::engine {

// After OK, required members are present and all members are within their limits.
//
// Errors: ValidationException with the documented text, AccessDeniedException for an ARN of another account. Shape
// violations are collected in the order of the operation's members; the parts of ARNs and rules between members are
// checked after that. Source: the API reference of each operation; the order of index lists is that of CreateTable.
absl::Status CheckCreateBackup(const CreateBackupRequest& request);
absl::Status CheckListTableBackups(const ListTableBackupsRequest& request);
// For DescribeBackup and DeleteBackup.
absl::Status CheckBackupArn(const std::optional<std::string>& arn);
// Parts of all restores: each adds the violations of its members to `faults`.
void CheckTargetShape(const RestoreTableRequest& request, model::ConstraintList* faults);
void CheckOverrideShapes(const RestoreTableRequest& request, model::ConstraintList* faults);
// Does not check rules that depend on the table in the backup: whether the overrides match its indexes, and whether it
// has the throughput that a billing mode requires.
absl::Status CheckRestoreTable(const RestoreTableRequest& request);

// BackupNotFoundException.
absl::Status NoSuchBackupError(std::string_view arn);

// The parts of a backup ARN. Views into the text.
struct BackupArnParts {
  std::string_view table_name;
  bool is_of_this_region = true;
  bool is_of_this_account = true;
  int64_t time_ms = 0;  // since the epoch
  uint32_t random = 0;  // distinguishes backups of the same millisecond
};

// Parses <table's ARN>/backup/<14 digits>-<8 hex digits>, of any region and account. Errors: ValidationException.
// Source: ARNs and error texts of the original service.
absl::StatusOr<BackupArnParts> ParseBackupArn(std::string_view arn);

// The ARN of the same backup in this region, under which it is kept: DescribeBackup and DeleteBackup take no notice of
// the region. A text that is no ARN stays as it is.
std::string LocalBackupArn(std::string_view arn);

// The inverse of ParseBackupArn. `time_ms` is not negative and has at most 14 digits (before the year 5138).
std::string MakeBackupArn(std::string_view table_arn, int64_t time_ms, uint32_t random);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_TABLE_BACKUP_REQUESTS_H_
