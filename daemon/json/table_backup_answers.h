#ifndef ARMATURE_DAEMON_JSON_TABLE_BACKUP_ANSWERS_H_
#define ARMATURE_DAEMON_JSON_TABLE_BACKUP_ANSWERS_H_

// Answers about backups of tables as the JSON protocol writes them, each a whole document.

#include "daemon/json/json_writer.h"
#include "engine/backup/table_backups.h"

namespace armature::daemon {

// CreateBackup: BackupDetails.
void WriteBackupDetails(const engine::TableBackup& backup, JsonWriter* writer);
// DescribeBackup and DeleteBackup: BackupDescription.
void WriteBackupDescription(const engine::TableBackup& backup, JsonWriter* writer);
// ListBackups.
void WriteBackupSummaries(const engine::ListTableBackupsResult& result, JsonWriter* writer);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_TABLE_BACKUP_ANSWERS_H_
