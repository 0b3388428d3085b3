#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_REPOSITORY_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_REPOSITORY_H_

// A directory of backups of whole databases. docs/reference/format.md, "Backup directory".

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/store/files/volume.h"

namespace armature::store {

class Database;

// Ids are assigned from 1 in ascending order and never reused.
using BackupId = uint32_t;

// Facts about a backup, from its manifest.
struct BackupEntry {
  BackupId id = 0;
  int64_t started_ms = 0;  // since the epoch
  int64_t finished_ms = 0;
  std::string database_id;
  int format_version = 0;    // format of the data directory
  uint64_t size_bytes = 0;   // size of all its files, including those shared with other backups
  uint64_t added_bytes = 0;  // size of the files copied for this backup
  uint64_t file_count = 0;
  std::string note;  // opaque text from the creator, at most kBackupNoteBytesMax bytes
  // Reason why the backup is unusable, naming the file, or empty. Checked without reading the data.
  std::string damage;
};

inline constexpr size_t kBackupNoteBytesMax = size_t{64} << 10;

struct BackupRepositoryOptions {
  enum class Mode {
    kRead,   // other processes may write meanwhile
    kWrite,  // creates a missing directory; no other process may write
  };
  Mode mode = Mode::kRead;
  // Limit on bytes read and written per second to create, verify or restore a backup, so that clients keep their share
  // of the disk. At least 64 KiB; 0: no limit.
  uint64_t bytes_per_second_max = 0;
  Volume* volume = LocalVolume();  // holds the directory; outlives the repository
};

// Progress of creating, verifying or restoring a backup. `total_bytes` may grow.
struct BackupProgress {
  uint64_t done_bytes = 0;
  uint64_t total_bytes = 0;
};
// Returns false to end the operation with Cancelled. Called at least once per file, on any thread.
using BackupObserver = std::function<bool(const BackupProgress& progress)>;

// Backups share their common files, so the cost of a backup is the data changed since the previous one. A backup exists
// when its manifest does. The manifest is written last, after the copied files were read back and compared with their
// checksums. An attempt cut off by a crash is not a backup, does not affect earlier backups, and is cleaned up by the
// next writer.
//
// Damage is an error (DataLoss) that names the file. A damaged backup is never repaired and its id never reused. While
// one exists, only backups given by id may be deleted, and no file is removed that the damaged one may need.
//
// Thread-safety: thread-safe. Writing operations run one at a time; others wait.
class BackupRepository {
 public:
  // Errors: FailedPrecondition if the directory is not empty and holds no backups, or if its format is newer than this
  // build's; Aborted if another process writes there (kWrite); NotFound if it does not exist or is empty (kRead);
  // DataLoss if the directory of the manifests is missing; Unavailable.
  static absl::StatusOr<std::unique_ptr<BackupRepository>> Open(const std::string& path,
                                                                const BackupRepositoryOptions& options);
  ~BackupRepository();
  BackupRepository(const BackupRepository&) = delete;
  BackupRepository& operator=(const BackupRepository&) = delete;

  // All backups in ascending order of their ids, including damaged ones.
  absl::StatusOr<std::vector<BackupEntry>> List();
  // Errors: NotFound.
  absl::StatusOr<BackupEntry> Find(BackupId id);

  // Backs up `database` while clients may write. The backup contains every write acknowledged before the call, and a
  // prefix of the later writes. Errors: FailedPrecondition if the directory holds backups of another database;
  // ResourceExhausted without space; Cancelled; DataLoss if the written files do not read back. After an error there is
  // no new backup.
  absl::StatusOr<BackupEntry> Create(Database* database, std::string_view note, const BackupObserver& observer);

  // Reads a whole backup and compares it with its checksums. Errors: NotFound, DataLoss, Cancelled.
  absl::Status Verify(BackupId id, const BackupObserver& observer);

  // Errors: NotFound; FailedPrecondition while any process has the backup open, verifies it or restores it.
  absl::Status Delete(BackupId id);
  // Deletes all but the newest `keep` (at least one) of the backups that `may_go` accepts (null accepts all), and
  // returns the deleted ones. Backups that are being read are skipped. While a damaged backup exists, deletes nothing
  // and returns FailedPrecondition.
  absl::StatusOr<std::vector<BackupId>> Prune(size_t keep, const std::function<bool(const BackupEntry&)>& may_go);

  // Verifies backup `id`, then creates the data directory `data_dir` in `volume`. The directory must be missing, empty,
  // or left behind by an unfinished restore. DataDirectory::Open refuses a directory whose restore did not finish.
  // `before_finish`, which may be null, gets the directory of the database while the backup is in it and a start still
  // refuses the data directory. Its writes must be durable when it returns.
  // Errors: NotFound, DataLoss, FailedPrecondition (not empty, or a newer format), ResourceExhausted, Cancelled; those
  // of `before_finish`.
  absl::Status Restore(BackupId id, Volume* volume, const std::string& data_dir, const BackupObserver& observer,
                       const std::function<absl::Status(const std::string& db_path)>& before_finish = nullptr);

  const std::string& path() const;

 private:
  friend class BackupReader;
  struct Impl;
  explicit BackupRepository(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_REPOSITORY_H_
