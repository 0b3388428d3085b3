#ifndef ARMATURE_ENGINE_BACKUP_LOADED_CHUNKS_H_
#define ARMATURE_ENGINE_BACKUP_LOADED_CHUNKS_H_

// Chunks of rows that were committed to a table that is being filled, until its global indexes contain them.

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "storage/base/strong_type.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

struct Parts;

// Interval at which the waits of a load check for a server stop.
inline constexpr absl::Duration kLoadPatience = absl::Milliseconds(100);

// Bounds the part of the change log that a load adds, so that the log stays short.
//
// Thread-safety: owned by one thread. Lifetime: `parts` outlives it.
class LoadedChunks {
 public:
  // `is_stopped`: true if waits should end soon, with Cancelled.
  LoadedChunks(Parts* parts, std::function<bool()> is_stopped) : parts_(parts), is_stopped_(std::move(is_stopped)) {}

  // Adds a chunk, and waits while too many are missing in an index. Errors: Cancelled; those of IndexProgress.
  absl::Status Add(const store::Table& table, ChangeSequence chunk);
  // Waits until the indexes contain all chunks. Errors: as Add.
  absl::Status AwaitAll(const store::Table& table) { return AwaitAllBut(table, 0); }

 private:
  absl::Status AwaitAllBut(const store::Table& table, size_t chunks_max);
  absl::Status Await(const store::Table& table, store::IndexProgress& progress, ChangeSequence chunk) const;

  Parts* const parts_;
  const std::function<bool()> is_stopped_;
  std::deque<ChangeSequence> waiting_;  // sequences of chunks that the indexes may not contain yet
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_LOADED_CHUNKS_H_
