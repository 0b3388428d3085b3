#ifndef ARMATURE_STORAGE_ARCHIVE_ARCHIVE_RESTORE_H_
#define ARMATURE_STORAGE_ARCHIVE_ARCHIVE_RESTORE_H_

// Restores from an archive.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "storage/archive/archive_check.h"
#include "storage/archive/archive_directory.h"
#include "storage/archive/restore_plan.h"
#include "storage/store/files/volume.h"

namespace armature::archive {

struct RestoreReport {
  uint64_t chain = 0;
  store::BackupId base = 0;
  uint64_t segments = 0;  // that were read
  uint64_t batches = 0;   // that were written
  uint64_t last_sequence = 0;
  int64_t last_ms = 0;   // time of the last batch; 0: all that was needed is in the base
  std::string broken{};  // why the target was not reached; empty: it was
};

// Makes the data directory `data_dir` in `volume`, which must be missing, empty, or left behind by an unfinished
// restore. The newest base before the target is verified and copied; all segments that are needed are checked before
// anything is written. An unfinished restore leaves nothing, or a directory that a start refuses and another restore
// replaces.
//
// Errors: FailedPrecondition, naming the broken file and what can be restored, if the target cannot be reached, or is a
// sequence of several chains; also if `data_dir` is not empty; DataLoss; ResourceExhausted; Unavailable; Cancelled.
absl::StatusOr<RestoreReport> RestoreArchive(const ArchiveDirectory& directory, const RestoreTarget& target,
                                             store::Volume* volume, const std::string& data_dir,
                                             const ArchiveObserver& observer);

}  // namespace armature::archive

#endif  // ARMATURE_STORAGE_ARCHIVE_ARCHIVE_RESTORE_H_
