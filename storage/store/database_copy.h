#ifndef ARMATURE_STORAGE_STORE_DATABASE_COPY_H_
#define ARMATURE_STORAGE_STORE_DATABASE_COPY_H_

// Copies of whole databases, file by file: between a local disk and a cluster, for one.

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "storage/store/files/volume.h"

namespace armature::store {

// Copies the database of the data directory `from_path`, which no process may have open, to `to_path`. Both stay locked
// meanwhile. The copy has the same database id, and is durable when the call returns. A copy that does not finish
// leaves nothing, or a directory that a start refuses and another copy replaces. `progress`: called now and then with
// bytes; may be null.
//
// Errors, each with the path: NotFound if there is no database; FailedPrecondition if a directory is in use,
// `from_path` is unfinished, or `to_path` is not empty; DataLoss if a file changes its size; ResourceExhausted;
// Unavailable.
absl::Status CopyDatabase(Volume* from, const std::string& from_path, Volume* to, const std::string& to_path,
                          const std::function<void(uint64_t done, uint64_t total)>& progress);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DATABASE_COPY_H_
