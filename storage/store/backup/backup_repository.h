#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_REPOSITORY_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_REPOSITORY_H_

// A directory of backups of whole databases. docs/FORMAT.md, "Backup directory".

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace armature::store {

class Database;

// Numbered from 1 in the order of their making; a number is never used again.
using BackupId = uint32_t;

// What its manifest says of a backup.
struct BackupEntry {
  BackupId id = 0;
  int64_t started_ms = 0;  // since the epoch
  int64_t finished_ms = 0;
  std::string database_id;
  int format_version = 0;    // of the data directory
  uint64_t size_bytes = 0;   // of all its files, also those that it shares with other backups
  uint64_t added_bytes = 0;  // of those that were copied for it
  uint64_t file_count = 0;
  std::string note;  // of whoever asked for it; opaque here, at most kBackupNoteBytesMax
  // Empty, or why it cannot be used, naming the file: as far as can be told without reading the data.
  std::string damage;
};

inline constexpr size_t kBackupNoteBytesMax = size_t{64} << 10;

struct BackupRepositoryOptions {
  enum class Mode {
    kRead,   // others may write meanwhile
    kWrite,  // makes the directory if it does not exist; nobody else may write
  };
  Mode mode = Mode::kRead;
  // Of what is read and written to make, verify or restore a backup, so that clients keep their share of the disk; at
  // least 64 KiB; 0: no limit.
  uint64_t bytes_per_second_max = 0;
};

// How far a backup, its verification or a restore is. `total_bytes` may grow.
struct BackupProgress {
  uint64_t done_bytes = 0;
  uint64_t total_bytes = 0;
};
// False ends the work with Cancelled. Called at least once a file, on any thread.
using BackupObserver = std::function<bool(const BackupProgress& progress)>;

// Backups share the files that they have in common, so one costs what changed since the one before. A backup exists
// when its manifest does, which is written last, after what was copied was read again and compared with its checksums:
// what a crash cuts off is no backup, takes nothing from the earlier ones, and is cleaned away by the next one that
// writes.
//
// Damage is an error (DataLoss) that names the file. It is never healed by guessing and its number not given again;
// while one backup is damaged, only backups that are named may be deleted, and no file that the damaged one may need.
//
// Thread-safety: thread-safe; one operation that writes at a time, others wait.
class BackupRepository {
 public:
  // Errors: FailedPrecondition if the directory is not empty and holds no backups, if its format is newer than this
  // build's, Aborted if somebody else writes there (kWrite); NotFound if it does not exist or is empty (kRead);
  // DataLoss if the directory of the manifests is gone; Unavailable.
  static absl::StatusOr<std::unique_ptr<BackupRepository>> Open(const std::string& path,
                                                                const BackupRepositoryOptions& options);
  ~BackupRepository();
  BackupRepository(const BackupRepository&) = delete;
  BackupRepository& operator=(const BackupRepository&) = delete;

  // In the order of their numbers, the damaged ones among them.
  absl::StatusOr<std::vector<BackupEntry>> List();
  // Errors: NotFound.
  absl::StatusOr<BackupEntry> Find(BackupId id);

  // Backs up `database`, which clients may write meanwhile: all that was acknowledged before the call is in it, and
  // what is in it of later writes is a prefix of them. Errors: FailedPrecondition if the directory holds backups of
  // another database; ResourceExhausted without space; Cancelled; DataLoss if what was written does not read back.
  // After an error there is no new backup.
  absl::StatusOr<BackupEntry> Create(Database* database, std::string_view note, const BackupObserver& observer);

  // Reads all of a backup and compares it with its checksums. Errors: NotFound, DataLoss, Cancelled.
  absl::Status Verify(BackupId id, const BackupObserver& observer);

  // Errors: NotFound; FailedPrecondition while a BackupReader has it open, or it is being verified or restored, also by
  // another process.
  absl::Status Delete(BackupId id);
  // Of the backups that `may_go`, or of all if it is null, deletes all but the newest `keep` (at least one), and
  // returns the deleted ones. Those that are being read stay for the next time. Does nothing but tell
  // FailedPrecondition while there is a damaged one.
  absl::StatusOr<std::vector<BackupId>> Prune(size_t keep, const std::function<bool(const BackupEntry&)>& may_go);

  // Verifies backup `id`, then makes the data directory `data_dir`, which must be empty or not exist, or be what an
  // earlier restore left that did not finish. A directory whose restoring did not finish is refused by
  // DataDirectory::Open. Errors: NotFound, DataLoss, FailedPrecondition (not empty, or a newer format),
  // ResourceExhausted, Cancelled.
  absl::Status Restore(BackupId id, const std::string& data_dir, const BackupObserver& observer);

  const std::string& path() const;

 private:
  friend class BackupReader;
  struct Impl;
  explicit BackupRepository(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_REPOSITORY_H_
