#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_PLACE_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_PLACE_H_

// Where a directory of backups is: in the file systems of this machine, or in a volume that is opened for it.

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/store/files/volume.h"

namespace armature::store {

// A place that is open. Its last user gives it back, on any thread that may block.
//
// Thread-safety: thread-safe. Lifetime: outlives the repositories and readers in it.
class BackupPlace {
 public:
  virtual ~BackupPlace() = default;
  // As operators name it.
  virtual const std::string& name() const = 0;
  virtual Volume* volume() const = 0;
  // The directory in the volume.
  virtual const std::string& path() const = 0;
  // Unavailable, with the reason, once another process has the volume: everything in it fails then.
  virtual absl::Status state() const = 0;
};

using BackupPlacePtr = std::shared_ptr<const BackupPlace>;

// The error of work in `place`: the loss of the place if it explains the error; otherwise `error`, with the name of the
// place. OK stays OK.
absl::Status ErrorIn(const BackupPlace& place, const absl::Status& error);

// Opens places by name.
//
// Thread-safety: thread-safe. Lifetime: outlives the places that it has opened.
class BackupPlaces {
 public:
  virtual ~BackupPlaces() = default;

  // OK if `name` can name a place. Errors: InvalidArgument, with a text that follows the words "The directory for
  // backups".
  virtual absl::Status CheckName(const std::string& name) const = 0;

  // kRead: the place must be there. kWrite: makes it.
  enum class Use { kRead, kWrite };
  // Blocks. If another process owns the place, waits for some time, or until `is_cancelled`, which may be null. Errors:
  // InvalidArgument, as CheckName; NotFound (kRead); Cancelled; Unavailable, also if another process keeps the place,
  // which the text names then.
  virtual absl::StatusOr<BackupPlacePtr> Open(const std::string& name, Use use,
                                              const std::function<bool()>& is_cancelled) = 0;
};

// Directories of the local volume, which any number of processes may have open. Exists until the process ends.
BackupPlaces* LocalBackupPlaces();

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_PLACE_H_
