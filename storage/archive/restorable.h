#ifndef ARMATURE_STORAGE_ARCHIVE_RESTORABLE_H_
#define ARMATURE_STORAGE_ARCHIVE_RESTORABLE_H_

// The moments that an archive can restore while it is written, in memory: requests ask for them often.

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/archive/archive_directory.h"
#include "storage/base/monotonic_wait.h"

namespace armature::archive {

// All moments from `from_ms` to `until_ms`, in milliseconds since 1970.
struct Span {
  int64_t from_ms = 0;
  int64_t until_ms = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

struct KnownSpan {
  Span span{};
  bool is_growing = false;  // ends where the present chain ends
};

// Reads names, and the last segments, as SurveyArchive. `chain`: the number of the one that is written. `damaged`:
// segments of it that were found damaged or missing. `unreadable`: see Survey. Errors: Unavailable.
absl::StatusOr<std::vector<KnownSpan>> FindSpans(const ArchiveDirectory& directory, uint64_t chain,
                                                 const std::set<uint64_t>& damaged, absl::Status* unreadable);

// Thread-safety: thread-safe.
class Restorable {
 public:
  // The spans that were found, while `chain` was the one that is written.
  void Set(std::vector<KnownSpan> spans, uint64_t chain);
  // The head of `chain`, the one that is written, says that it is complete until then.
  void NoteHead(uint64_t chain, int64_t until_ms);

  // Ascending; spans that meet are one. Nullopt: they are not known yet.
  std::optional<std::vector<Span>> spans() const;
  // Waits until the spans are known and the archive is complete until `at_ms`, or until `due_ns` of MonotonicNs.
  // Returns true if they are. May return early.
  bool Await(int64_t at_ms, int64_t due_ns);

 private:
  mutable absl::Mutex mutex_;
  MonotonicWait moved_;
  std::optional<std::vector<KnownSpan>> spans_ ABSL_GUARDED_BY(mutex_);
  uint64_t spans_chain_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t head_chain_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t until_ms_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace armature::archive

#endif  // ARMATURE_STORAGE_ARCHIVE_RESTORABLE_H_
