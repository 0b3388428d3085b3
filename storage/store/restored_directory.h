#ifndef ARMATURE_STORAGE_STORE_RESTORED_DIRECTORY_H_
#define ARMATURE_STORAGE_STORE_RESTORED_DIRECTORY_H_

// A data directory that is filled with the files of a backup or of another directory.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"
#include "storage/store/files/volume.h"

namespace armature::store {

// Holds the lock of a data directory that carries a mark until it is finished. DataDirectory::Open refuses a directory
// with the mark. Without Finish, the destructor removes everything that was created.
//
// Thread-safety: owned by one thread.
class RestoredDirectory {
 public:
  // Errors: FailedPrecondition, naming the path, unless the directory is missing, empty, or left behind by an
  // unfinished restore or copy. Changes nothing.
  static absl::Status CheckFree(Volume* volume, const std::string& path);
  // Creates the directory and the mark, and removes the leftovers of an earlier restore. Errors: as CheckFree;
  // FailedPrecondition also if a process holds the directory; Unavailable, ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<RestoredDirectory>> Begin(Volume* volume, const std::string& path);
  ~RestoredDirectory();
  RestoredDirectory(const RestoredDirectory&) = delete;
  RestoredDirectory& operator=(const RestoredDirectory&) = delete;

  // The directory for the files of the database.
  std::string db_path() const { return Cat(path_, kDataDatabase); }
  // Turns the directory durably into a data directory, whose format file is `format_text`. All files in db_path() must
  // be durable before. Its first start begins an epoch of change sequences.
  absl::Status Finish(std::string_view format_text);

 private:
  RestoredDirectory(Volume* volume, std::string path, std::unique_ptr<const VolumeLock> lock)
      : volume_(volume), path_(std::move(path)), lock_(std::move(lock)) {}
  absl::Status RemoveContents();

  Volume* const volume_;
  const std::string path_;
  const std::unique_ptr<const VolumeLock> lock_;
  bool finished_ = false;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_RESTORED_DIRECTORY_H_
