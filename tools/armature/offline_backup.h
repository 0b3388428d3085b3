#ifndef ARMATURE_TOOLS_ARMATURE_OFFLINE_BACKUP_H_
#define ARMATURE_TOOLS_ARMATURE_OFFLINE_BACKUP_H_

// Creates backups and restores tables, and helps all commands about backups.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "armature/admin/v1/admin.pb.h"
#include "storage/store/backup/backup_repository.h"
#include "tools/armature/json_text.h"
#include "tools/armature/progress_bar.h"
#include "tools/armature/session.h"

namespace armature::cli {

struct CreateBackupOptions {
  std::string directory;            // empty: the backup directory of the daemon
  std::string data_dir;             // data directory of a stopped daemon; empty: ask the running daemon
  uint32_t keep = 0;                // 0: keep all backups
  std::optional<uint32_t> rate_mb;  // absent: the limit of the daemon; 0: no limit
  std::string note;
  bool no_wait = false;
};

struct CancelBackupOptions {
  uint64_t job = 0;
};

// Both print the backup, or its job.
absl::Status CreateBackup(const Session& session, const CreateBackupOptions& options);
absl::Status CancelBackup(const Session& session, const CancelBackupOptions& options);

struct RestoreTableOptions {
  std::string directory;  // on the daemon's machine; empty: the backup directory of the daemon
  uint32_t id = 0;
  std::string table_name;
  std::string target;
  bool wait = false;
};
absl::Status RestoreTable(const Session& session, const RestoreTableOptions& options);

// Turns an error of a repository into a UsageError or InputError.
absl::Status BackupError(const absl::Status& error);

// An observer that shows the progress of a repository in `bar`.
store::BackupObserver ObserverOf(ProgressBar* bar, const std::string& what);

// The first line of a note, which is for people. The other lines are for programs.
std::string NoteLine(const std::string& note);

admin::v1::Backup ToMessage(const store::BackupEntry& entry);
void PrintBackup(const Session& session, const admin::v1::Backup& backup);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_OFFLINE_BACKUP_H_
