#include "storage/store/restored_directory.h"

#include <vector>

#include "glog/logging.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"

namespace armature::store {
namespace {

bool IsKnownEntry(std::string_view name) {
  for (const std::string_view known :
       {kDataFormatFile, kDataLockFile, kDataNewFile, kDataRestoringFile, kDataPlaceFile, kDataDatabase}) {
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

}  // namespace

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
  for (const std::string_view name : {kDataFormatFile, kDataDatabase, kDataNewFile, kDataPlaceFile}) {
    for (const std::string_view suffix : {std::string_view(), kUnfinishedSuffix}) {
      ARM_RETURN_IF_ERROR(volume_->RemoveTree(Cat(path_, name, suffix)));
    }
  }
  return volume_->SyncDirectory(path_);
}

absl::Status RestoredDirectory::Finish(std::string_view format_text) {
  ARM_RETURN_IF_ERROR(volume_->SyncDirectory(db_path()));
  // Changes that were made behind the backup are gone, and positions in them are known to clients.
  ARM_RETURN_IF_ERROR(volume_->WriteDurably(Cat(path_, kDataPlaceFile), kForeignPlace));
  ARM_FAULT_POINT("restore.before_format");
  ARM_RETURN_IF_ERROR(volume_->WriteDurably(Cat(path_, kDataFormatFile), format_text));
  ARM_FAULT_POINT("restore.before_finish");
  ARM_RETURN_IF_ERROR(volume_->Remove(Cat(path_, kDataRestoringFile)).status());
  // The directory is complete now, even if the sync fails.
  finished_ = true;
  return volume_->SyncDirectory(path_);
}

}  // namespace armature::store
