// Restore of a backup into a data directory.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "glog/logging.h"
#include "rocksdb/utilities/backup_engine.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_env.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/backup/backup_repository_impl.h"
#include "storage/store/data_directory.h"
#include "storage/store/files/volume.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

bool IsKnownEntry(std::string_view name) {
  for (const std::string_view known :
       {kDataFormatFile, kDataLockFile, kDataNewFile, kDataRestoringFile, kDataDatabase}) {
    if (name == known || name == Cat(known, kUnfinishedSuffix)) return true;
  }
  return false;
}

// A directory with the mark is ours, but it may contain foreign files by now.
absl::Status CheckLeftover(Volume* volume, const std::string& path) {
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> names, volume->List(path));
  for (const std::string& name : names) {
    if (!IsKnownEntry("/" + name)) {
      return FailedPreconditionError(
          Cat("data directory ", path, " holds ", name, ", which no restore has put there: name an empty one"));
    }
  }
  return absl::OkStatus();
}

// Holds the lock of a data directory that carries a mark until it is finished. DataDirectory::Open refuses a directory
// with the mark. Without Finish, the destructor removes everything that was created.
//
// Thread-safety: owned by one thread.
class RestoredDirectory {
 public:
  // Errors: FailedPrecondition, naming the path, unless the directory is missing, empty, or left behind by an
  // unfinished restore. Changes nothing.
  static absl::Status CheckFree(Volume* volume, const std::string& path);
  // Creates the directory and the mark, and removes the leftovers of an earlier restore. Errors: as CheckFree;
  // FailedPrecondition also if a process holds the directory; Unavailable, ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<RestoredDirectory>> Begin(Volume* volume, const std::string& path);
  ~RestoredDirectory();
  RestoredDirectory(const RestoredDirectory&) = delete;
  RestoredDirectory& operator=(const RestoredDirectory&) = delete;

  // Directory for the database files.
  std::string db_path() const { return Cat(path_, kDataDatabase); }
  // Turns the directory durably into a data directory. All files in db_path() must be durable before.
  absl::Status Finish(int format_version, std::string_view database_id);

 private:
  RestoredDirectory(Volume* volume, std::string path, std::unique_ptr<const VolumeLock> lock)
      : volume_(volume), path_(std::move(path)), lock_(std::move(lock)) {}
  absl::Status RemoveContents();

  Volume* const volume_;
  const std::string path_;
  const std::unique_ptr<const VolumeLock> lock_;
  bool finished_ = false;
};

absl::Status RestoredDirectory::CheckFree(Volume* volume, const std::string& path) {
  ARM_ASSIGN_OR_RETURN(const bool is_marked, volume->Exists(Cat(path, kDataRestoringFile)));
  if (is_marked) return CheckLeftover(volume, path);
  const absl::StatusOr<bool> unused = IsUnusedDataDirectory(volume, path);
  if (absl::IsNotFound(unused.status())) return absl::OkStatus();
  if (absl::IsFailedPrecondition(unused.status())) return FailedPreconditionError(Cat(path, " is not a directory"));
  if (!unused.ok() || *unused) return unused.status();
  return FailedPreconditionError(Cat("data directory ", path, " is not empty: a restore needs an empty one"));
}

absl::StatusOr<std::unique_ptr<RestoredDirectory>> RestoredDirectory::Begin(Volume* volume, const std::string& path) {
  ARM_RETURN_IF_ERROR(CheckFree(volume, path));
  ARM_RETURN_IF_ERROR(volume->MakeDirectories(path));
  // The directory will hold the whole database, so only the owner gets access.
  ARM_RETURN_IF_ERROR(volume->CloseToOthers(path));
  absl::StatusOr<std::unique_ptr<VolumeLock>> lock =
      volume->Lock(Cat(path, kDataLockFile), Volume::LockMode::kAlone, /*make=*/true);
  if (!lock.ok()) return WithContext(lock.status(), Cat("data directory ", path, " is in use by another process"));
  // Checked again: before the lock was held, another process could have been writing.
  ARM_RETURN_IF_ERROR(CheckFree(volume, path));
  ARM_RETURN_IF_ERROR(volume->WriteDurably(Cat(path, kDataRestoringFile), ""));
  auto directory = std::unique_ptr<RestoredDirectory>(new RestoredDirectory(volume, path, *std::move(lock)));
  ARM_RETURN_IF_ERROR(directory->RemoveContents());
  ARM_FAULT_POINT("restore.marked");
  ARM_RETURN_IF_ERROR(volume->MakeDirectories(directory->db_path()));
  return directory;
}

RestoredDirectory::~RestoredDirectory() {
  if (finished_) return;
  absl::Status removed = RemoveContents();
  // The mark stays unless everything was removed: without it, the remainder would pass for a database.
  if (removed.ok()) removed = volume_->Remove(Cat(path_, kDataRestoringFile)).status();
  if (!removed.ok()) LOG(WARNING) << "store: cannot remove an unfinished restore path=" << path_;
}

// Removes everything except the mark and the lock, including a kDataNewFile, with which a start would remove the
// database.
absl::Status RestoredDirectory::RemoveContents() {
  for (const std::string_view name : {kDataFormatFile, kDataDatabase, kDataNewFile}) {
    for (const std::string_view suffix : {std::string_view(), kUnfinishedSuffix}) {
      ARM_RETURN_IF_ERROR(volume_->RemoveTree(Cat(path_, name, suffix)));
    }
  }
  return volume_->SyncDirectory(path_);
}

absl::Status RestoredDirectory::Finish(int format_version, std::string_view database_id) {
  ARM_RETURN_IF_ERROR(volume_->SyncDirectory(db_path()));
  ARM_FAULT_POINT("restore.before_format");
  ARM_RETURN_IF_ERROR(volume_->WriteDurably(Cat(path_, kDataFormatFile), DataFormatText(format_version, database_id)));
  ARM_FAULT_POINT("restore.before_finish");
  ARM_RETURN_IF_ERROR(volume_->Remove(Cat(path_, kDataRestoringFile)).status());
  // The directory is complete now, even if the sync fails.
  finished_ = true;
  return volume_->SyncDirectory(path_);
}

// Lets RocksDB copy the files to `db_path` in `volume`. Afterwards the files and their names are durable.
absl::Status CopyBack(const rocksdb::BackupEngineOptions& options, uint32_t engine_id, Volume* volume,
                      const std::string& db_path, BackupWork* work) {
  BackupAttempt attempt(volume, db_path, {}, work, nullptr);
  const std::unique_ptr<rocksdb::Env> env = MakeBackupEnv(&attempt);
  rocksdb::BackupEngineReadOnly* raw = nullptr;
  ARM_RETURN_IF_ERROR(FromRocks(rocksdb::BackupEngineReadOnly::Open(options, env.get(), &raw),
                                Cat("open backup directory ", options.backup_dir)));
  const std::unique_ptr<rocksdb::BackupEngineReadOnly> engine(raw);
  const rocksdb::Status copied = engine->RestoreDBFromBackup(rocksdb::RestoreOptions(), engine_id, db_path, db_path);
  return FromRocks(copied, Cat("restore from ", options.backup_dir));
}

}  // namespace

absl::Status BackupRepository::Impl::CheckDataFormat(const BackupEntry& entry) const {
  if (entry.format_version <= kFormatVersion) return absl::OkStatus();
  return FailedPreconditionError(Cat("backup ", entry.id, " in ", files.path(), " has data format ",
                                     entry.format_version, "; this build reads formats up to ", kFormatVersion,
                                     ": use a newer armatured"));
}

absl::Status BackupRepository::Restore(BackupId id, Volume* volume, const std::string& data_dir,
                                       const BackupObserver& observer) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<VolumeLock> held, impl_->files.Hold(id));
  ARM_ASSIGN_OR_RETURN(const KnownBackup known, impl_->files.Read(id));
  ARM_RETURN_IF_ERROR(known.state);
  ARM_RETURN_IF_ERROR(impl_->CheckDataFormat(known.entry));
  ARM_RETURN_IF_ERROR(RestoredDirectory::CheckFree(volume, data_dir));
  BackupWork work(observer, impl_->limiter.get());
  // All files are read by the verification, then read and written by the copy.
  work.Expect(2 * known.entry.size_bytes);
  ARM_RETURN_IF_ERROR(impl_->CheckContents(*known.manifest, &work));
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<RestoredDirectory> directory, RestoredDirectory::Begin(volume, data_dir));
  const absl::Status copied = CopyBack(impl_->EngineOptions(impl_->volume().env()), known.manifest->engine_id, volume,
                                       directory->db_path(), &work);
  if (work.cancelled()) return absl::CancelledError("the restore was cancelled");
  ARM_RETURN_IF_ERROR(copied);
  ARM_FAULT_POINT("restore.copied");
  ARM_RETURN_IF_ERROR(directory->Finish(known.entry.format_version, known.entry.database_id));
  LOG(INFO) << "store: backup restored path=" << path() << " backup=" << id << " to=" << data_dir
            << " bytes=" << known.entry.size_bytes;
  return absl::OkStatus();
}

}  // namespace armature::store
