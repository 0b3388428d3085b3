#include "storage/store/backup/restored_directory.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "glog/logging.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"

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

}  // namespace

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

std::string RestoredDirectory::db_path() const { return Cat(path_, kDataDatabase); }

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

}  // namespace armature::store
