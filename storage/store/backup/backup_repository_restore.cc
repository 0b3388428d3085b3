// Restore of a backup into a data directory.

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

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
#include "storage/store/durable_file.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

namespace fs = std::filesystem;

bool IsKnownEntry(std::string_view name) {
  for (const std::string_view known :
       {kDataFormatFile, kDataLockFile, kDataNewFile, kDataRestoringFile, kDataDatabase}) {
    if (name == known || name == Cat(known, kUnfinishedSuffix)) return true;
  }
  return false;
}

// A directory with the mark is ours, but it may contain foreign files by now.
absl::Status CheckLeftover(const std::string& path) {
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!IsKnownEntry("/" + name)) {
      return FailedPreconditionError(
          Cat("data directory ", path, " holds ", name, ", which no restore has put there: name an empty one"));
    }
  }
  if (error) return ErrnoError("cannot read directory", path, error.value());
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
  static absl::Status CheckFree(const std::string& path);
  // Creates the directory and the mark, and removes the leftovers of an earlier restore. Errors: as CheckFree;
  // FailedPrecondition also if a process holds the directory; Unavailable, ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<RestoredDirectory>> Begin(const std::string& path);
  ~RestoredDirectory();
  RestoredDirectory(const RestoredDirectory&) = delete;
  RestoredDirectory& operator=(const RestoredDirectory&) = delete;

  // Directory for the database files.
  std::string db_path() const { return Cat(path_, kDataDatabase); }
  // Turns the directory durably into a data directory. All files in db_path() must be durable before.
  absl::Status Finish(int format_version, std::string_view database_id);

 private:
  RestoredDirectory(std::string path, LockedFile lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  absl::Status RemoveContents();

  const std::string path_;
  const LockedFile lock_;
  bool finished_ = false;
};

absl::Status RestoredDirectory::CheckFree(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error) && !error) return absl::OkStatus();
  if (fs::exists(Cat(path, kDataRestoringFile), error)) return CheckLeftover(path);
  if (!fs::is_directory(path, error)) return FailedPreconditionError(Cat(path, " is not a directory"));
  ARM_ASSIGN_OR_RETURN(const bool unused, IsUnusedDataDirectory(path));
  if (unused) return absl::OkStatus();
  return FailedPreconditionError(Cat("data directory ", path, " is not empty: a restore needs an empty one"));
}

absl::StatusOr<std::unique_ptr<RestoredDirectory>> RestoredDirectory::Begin(const std::string& path) {
  ARM_RETURN_IF_ERROR(CheckFree(path));
  ARM_RETURN_IF_ERROR(MakeDirectories(path));
  // The directory will hold the whole database, so only the owner gets access.
  std::error_code closed;
  fs::permissions(path, fs::perms::owner_all, closed);
  if (closed) return ErrnoError("cannot close to others", path, closed.value());
  absl::StatusOr<LockedFile> lock = LockedFile::Open(Cat(path, kDataLockFile), LockedFile::Mode::kAlone, /*make=*/true);
  if (!lock.ok()) return WithContext(lock.status(), Cat("data directory ", path, " is in use by another process"));
  // Checked again: before the lock was held, another process could have been writing.
  ARM_RETURN_IF_ERROR(CheckFree(path));
  ARM_RETURN_IF_ERROR(WriteDurably(Cat(path, kDataRestoringFile), ""));
  auto directory = std::unique_ptr<RestoredDirectory>(new RestoredDirectory(path, *std::move(lock)));
  ARM_RETURN_IF_ERROR(directory->RemoveContents());
  ARM_FAULT_POINT("restore.marked");
  std::error_code error;
  fs::create_directory(directory->db_path(), error);
  if (error) return ErrnoError("cannot make directory", directory->db_path(), error.value());
  return directory;
}

RestoredDirectory::~RestoredDirectory() {
  if (finished_) return;
  const absl::Status removed = RemoveContents();
  std::error_code error;
  // The mark stays unless everything was removed: without it, the remainder would pass for a database.
  if (removed.ok()) fs::remove(Cat(path_, kDataRestoringFile), error);
  if (!removed.ok() || error) LOG(WARNING) << "store: cannot remove an unfinished restore path=" << path_;
}

// Removes everything except the mark and the lock, including a kDataNewFile, with which a start would remove the
// database.
absl::Status RestoredDirectory::RemoveContents() {
  for (const std::string_view name : {kDataFormatFile, kDataDatabase, kDataNewFile}) {
    for (const std::string_view suffix : {std::string_view(), kUnfinishedSuffix}) {
      const std::string path = Cat(path_, name, suffix);
      std::error_code error;
      fs::remove_all(path, error);
      if (error) return ErrnoError("cannot remove", path, error.value());
    }
  }
  return SyncDirectory(path_);
}

absl::Status RestoredDirectory::Finish(int format_version, std::string_view database_id) {
  ARM_RETURN_IF_ERROR(SyncDirectory(db_path()));
  ARM_FAULT_POINT("restore.before_format");
  ARM_RETURN_IF_ERROR(WriteDurably(Cat(path_, kDataFormatFile), DataFormatText(format_version, database_id)));
  ARM_FAULT_POINT("restore.before_finish");
  const std::string mark = Cat(path_, kDataRestoringFile);
  std::error_code error;
  fs::remove(mark, error);
  if (error) return ErrnoError("cannot remove", mark, error.value());
  // The directory is complete now, even if the sync fails.
  finished_ = true;
  return SyncDirectory(path_);
}

// Lets RocksDB copy the files to `db_path`. Afterwards the files and their names are durable.
absl::Status CopyBack(const rocksdb::BackupEngineOptions& options, uint32_t engine_id, const std::string& db_path,
                      BackupWork* work) {
  BackupAttempt attempt(db_path, {}, work, nullptr);
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

absl::Status BackupRepository::Restore(BackupId id, const std::string& data_dir, const BackupObserver& observer) {
  ARM_ASSIGN_OR_RETURN(const LockedFile held, impl_->files.Hold(id));
  ARM_ASSIGN_OR_RETURN(const KnownBackup known, impl_->files.Read(id));
  ARM_RETURN_IF_ERROR(known.state);
  ARM_RETURN_IF_ERROR(impl_->CheckDataFormat(known.entry));
  ARM_RETURN_IF_ERROR(RestoredDirectory::CheckFree(data_dir));
  BackupWork work(observer, impl_->limiter.get());
  // All files are read by the verification, then read and written by the copy.
  work.Expect(2 * known.entry.size_bytes);
  ARM_RETURN_IF_ERROR(impl_->CheckContents(*known.manifest, &work));
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<RestoredDirectory> directory, RestoredDirectory::Begin(data_dir));
  const absl::Status copied =
      CopyBack(impl_->EngineOptions(rocksdb::Env::Default()), known.manifest->engine_id, directory->db_path(), &work);
  if (work.cancelled()) return absl::CancelledError("the restore was cancelled");
  ARM_RETURN_IF_ERROR(copied);
  ARM_FAULT_POINT("restore.copied");
  ARM_RETURN_IF_ERROR(directory->Finish(known.entry.format_version, known.entry.database_id));
  LOG(INFO) << "store: backup restored path=" << path() << " backup=" << id << " to=" << data_dir
            << " bytes=" << known.entry.size_bytes;
  return absl::OkStatus();
}

}  // namespace armature::store
