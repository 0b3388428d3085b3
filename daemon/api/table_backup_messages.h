#ifndef ARMATURE_DAEMON_API_TABLE_BACKUP_MESSAGES_H_
#define ARMATURE_DAEMON_API_TABLE_BACKUP_MESSAGES_H_

// Requests and answers about backups of tables between the wire and the engine.

#include "absl/status/statusor.h"
#include "armature/api/v1/tables.pb.h"
#include "engine/backup/table_backups.h"

namespace armature::daemon {

engine::CreateBackupRequest ToCreateBackup(const api::v1::CreateBackupRequest& request);
engine::ListTableBackupsRequest ToListTableBackups(const api::v1::ListBackupsRequest& request);
// Errors: UnknownOperationException for what is documented and not available.
absl::StatusOr<engine::RestoreTableRequest> ToRestoreTable(const api::v1::RestoreTableFromBackupRequest& request);

void Fill(const engine::TableBackup& backup, api::v1::BackupDetails* to);
void Fill(const engine::TableBackup& backup, api::v1::BackupDescription* to);
void Fill(const engine::ListTableBackupsResult& result, api::v1::ListBackupsResponse* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_TABLE_BACKUP_MESSAGES_H_
