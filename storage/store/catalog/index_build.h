#ifndef ARMATURE_STORAGE_STORE_CATALOG_INDEX_BUILD_H_
#define ARMATURE_STORAGE_STORE_CATALOG_INDEX_BUILD_H_

// How far the filling of a global index of a live table is.
//
// Writes reach the index through the change log from the moment it is published. When nobody holds the table without it
// any more, the position of the log is noted; the table is read page by page and its entries are written; then the log
// is applied from that position on. Replaying each later change in order makes right whatever entry the reading saw
// too early, so neither locks nor a view of one moment are needed.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strong_type.h"

namespace armature::store {

// Values are on disk: never renumber.
enum class BuildPhase : uint8_t {
  kWaiting = 0,     // for those who hold the table without the index; has no position in the log
  kScanning = 1,    // the log is held at from_sequence
  kCatchingUp = 2,  // the log is applied; done at through_sequence
};

struct BuildState {
  BuildPhase phase = BuildPhase::kWaiting;
  ChangeSequence from_sequence;
  ChangeSequence through_sequence;  // kCatchingUp
  std::string next_key;             // kScanning: rows of the table before it are done
  int64_t scanned = 0;              // rows of the table
  int64_t written = 0;              // of them: in the index
  int64_t skipped = 0;              // of them: not in it, because an attribute has another type, is empty or too long
  int64_t started_ms = 0;           // since the epoch; begin of the scan
  friend bool operator==(const BuildState&, const BuildState&) = default;
};

// docs/FORMAT.md, "The meta family".
std::string EncodeBuildState(const BuildState& state);
// Errors: DataLoss for another version or malformed bytes.
absl::StatusOr<BuildState> ParseBuildState(std::string_view value);

// The state in memory, shared by all states of the catalog. Thread-safety: thread-safe.
class IndexBuild {
 public:
  explicit IndexBuild(BuildState state) : state_(std::move(state)) {}

  BuildState state() const {
    const absl::MutexLock lock(&mutex_);
    return state_;
  }
  BuildPhase phase() const {
    const absl::MutexLock lock(&mutex_);
    return state_.phase;
  }
  void Set(BuildState state) {
    const absl::MutexLock lock(&mutex_);
    state_ = std::move(state);
  }

 private:
  mutable absl::Mutex mutex_;
  BuildState state_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_CATALOG_INDEX_BUILD_H_
