#ifndef ARMATURE_STORAGE_STORE_BACKUP_RESTORED_DIRECTORY_H_
#define ARMATURE_STORAGE_STORE_BACKUP_RESTORED_DIRECTORY_H_

// A data directory that a backup is copied into. Inside the store only.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/store/durable_file.h"

namespace armature::store {

// Holds the lock of a data directory, which carries a mark until it is finished: DataDirectory::Open refuses one with
// the mark. Unless Finish has been called, the destructor takes away what was made.
//
// Thread-safety: none.
class RestoredDirectory {
 public:
  // Errors: FailedPrecondition, with the path, unless the directory is empty, does not exist, or is what an earlier
  // restore left that did not finish. Changes nothing.
  static absl::Status CheckFree(const std::string& path);
  // Makes the directory and the mark, and removes what an earlier restore has left. Errors: as CheckFree;
  // FailedPrecondition too if a process holds the directory; Unavailable, ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<RestoredDirectory>> Begin(const std::string& path);
  ~RestoredDirectory();
  RestoredDirectory(const RestoredDirectory&) = delete;
  RestoredDirectory& operator=(const RestoredDirectory&) = delete;

  // To be filled.
  std::string db_path() const;
  // Makes it a data directory, durably, after all in db_path() is durable.
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
