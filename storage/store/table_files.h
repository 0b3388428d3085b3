#ifndef ARMATURE_STORAGE_STORE_TABLE_FILES_H_
#define ARMATURE_STORAGE_STORE_TABLE_FILES_H_

// The table files of a database whose manifest cannot be read.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/store/files/volume.h"

namespace armature::store {

// Links the table files of `data_dir` into the new directory `work_dir`, with a manifest that is made anew from them: a
// data directory with the rows of these files and nothing of the log. A file is copied if it cannot be linked hard.
// Returns the names of files that could not be read as a whole; they are left out. Changes nothing in `data_dir`.
// Errors: Unavailable, DataLoss.
// Cost: reads all files.
absl::StatusOr<std::vector<std::string>> MakeManifestOf(Volume* volume, const std::string& data_dir,
                                                        const std::string& work_dir, LinkKind kind);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_TABLE_FILES_H_
