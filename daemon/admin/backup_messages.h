#ifndef ARMATURE_DAEMON_ADMIN_BACKUP_MESSAGES_H_
#define ARMATURE_DAEMON_ADMIN_BACKUP_MESSAGES_H_

// Backups as messages of the admin service.

#include "armature/admin/v1/admin.pb.h"
#include "engine/backup/backup_jobs.h"

namespace armature::daemon {

engine::StartBackupRequest ToEngine(const admin::v1::StartBackupRequest& from);
void Fill(const store::BackupEntry& from, admin::v1::Backup* to);
void Fill(const engine::BackupJob& from, admin::v1::BackupJob* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_ADMIN_BACKUP_MESSAGES_H_
