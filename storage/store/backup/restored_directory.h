#ifndef ARMATURE_STORAGE_STORE_BACKUP_RESTORED_DIRECTORY_H_
#define ARMATURE_STORAGE_STORE_BACKUP_RESTORED_DIRECTORY_H_

// A data directory while a backup is copied into it. Inside the store only.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/store/durable_file.h"

namespace armature::store {

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
  std::string db_path() const;
  // Turns the directory durably into a data directory. All files in db_path() must be durable before.
  absl::Status Finish(int format_version, std::string_view database_id);

 private:
  RestoredDirectory(std::string path, LockedFile lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  absl::Status RemoveContents();

  const std::string path_;
  const LockedFile lock_;
  bool finished_ = false;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_RESTORED_DIRECTORY_H_
