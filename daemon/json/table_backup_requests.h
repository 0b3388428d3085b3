#ifndef ARMATURE_DAEMON_JSON_TABLE_BACKUP_REQUESTS_H_
#define ARMATURE_DAEMON_JSON_TABLE_BACKUP_REQUESTS_H_

// Requests about backups of tables, from the document to the engine.
//
// Errors: SerializationException with the documented texts. Everything else is the engine's to judge.

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/backup/table_backups.h"

namespace armature::daemon {

// DescribeBackup, DeleteBackup.
struct BackupArnRequest {
  std::optional<std::string> backup_arn;
};

absl::StatusOr<engine::CreateBackupRequest> ParseCreateBackup(const std::string& json);
absl::StatusOr<BackupArnRequest> ParseBackupArn(const std::string& json);
absl::StatusOr<engine::ListTableBackupsRequest> ParseListBackups(const std::string& json);
// Errors: also UnknownOperationException for what is documented and not available.
absl::StatusOr<engine::RestoreTableRequest> ParseRestoreTable(const std::string& json);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_TABLE_BACKUP_REQUESTS_H_
