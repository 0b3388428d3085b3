#ifndef ARMATURE_STORAGE_STORE_LOG_INDEX_BACKLOG_H_
#define ARMATURE_STORAGE_STORE_LOG_INDEX_BACKLOG_H_

// What of a table's change log waits to be applied to one of its global indexes, counted as it comes and goes.

#include <atomic>
#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strong_type.h"

namespace armature::store {

// Change records that touch an index, and the bytes of their rows for it.
struct BacklogLoad {
  uint64_t records = 0;
  uint64_t bytes = 0;
};

// Thread-safety: thread-safe. Cost: Append and Applied are called once a batch and a run; load() takes no lock. Memory
// stays the same however much waits.
class IndexBacklog {
 public:
  struct State {
    BacklogLoad load;
    int64_t oldest_ms = 0;  // when the oldest waiting record was committed, to about a second; 0: nothing waits
  };

  // Records were written, the last of them as `last`, at `time_ms` since the epoch. To be called before readers of the
  // log may see them, or Applied would come first.
  void Append(ChangeSequence last, int64_t time_ms, BacklogLoad load);
  // `load` was applied; nothing up to and including `through` waits any more.
  void Applied(ChangeSequence through, BacklogLoad load);
  // Forgets everything up to `from`: the index begins there. False, and nothing is forgotten, if a later record was
  // counted already: ask again with the next position.
  [[nodiscard]] bool BeginAt(ChangeSequence from);

  BacklogLoad load() const {
    return {records_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)};
  }
  State state() const;

 private:
  // A record, and when it came. Those between two samples came between them.
  struct Sample {
    ChangeSequence sequence;
    int64_t time_ms;
  };
  void AddSample(Sample sample) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<uint64_t> records_ = 0;  // changed under mutex_
  std::atomic<uint64_t> bytes_ = 0;
  mutable absl::Mutex mutex_;
  ChangeSequence last_ ABSL_GUARDED_BY(mutex_);
  std::deque<Sample> samples_ ABSL_GUARDED_BY(mutex_);
  int64_t spacing_ms_ ABSL_GUARDED_BY(mutex_) = 0;  // between samples; grows with the time that they span
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_LOG_INDEX_BACKLOG_H_
