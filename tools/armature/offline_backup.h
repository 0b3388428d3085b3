#ifndef ARMATURE_TOOLS_ARMATURE_OFFLINE_BACKUP_H_
#define ARMATURE_TOOLS_ARMATURE_OFFLINE_BACKUP_H_

// Making backups, and what all commands about backups share.

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
  std::string directory;            // empty: that of the daemon
  std::string data_dir;             // of a daemon that is stopped; empty: ask the one that runs
  uint32_t keep = 0;                // 0: all
  std::optional<uint32_t> rate_mb;  // absent: the daemon's; 0: no limit
  std::string note;
  bool no_wait = false;
};

// Both print what was made.
absl::Status CreateBackup(const Session& session, const CreateBackupOptions& options);
absl::Status CancelBackup(const Session& session, uint64_t job);

struct RestoreTableOptions {
  std::string directory;  // of the daemon's machine; empty: that of the daemon
  uint32_t id = 0;
  std::string table_name;
  std::string target;
  bool wait = false;
};
absl::Status RestoreTable(const Session& session, const RestoreTableOptions& options);

// `error` of a repository, as one about a file.
absl::Status BackupError(const absl::Status& error);

// A bar that shows the work of a repository.
store::BackupObserver ObserverOf(ProgressBar* bar, const std::string& what);

// What people want to see of a note: its first line. The rest of some is for programs.
std::string NoteLine(const std::string& note);

admin::v1::Backup ToMessage(const store::BackupEntry& entry);
void PrintBackup(const Session& session, const admin::v1::Backup& backup);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_OFFLINE_BACKUP_H_
