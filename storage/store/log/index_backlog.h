#ifndef ARMATURE_STORAGE_STORE_LOG_INDEX_BACKLOG_H_
#define ARMATURE_STORAGE_STORE_LOG_INDEX_BACKLOG_H_

// Count of the change records that wait to be applied to one global index.

#include <atomic>
#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/strong_type.h"

namespace armature::store {

// Number of change records that touch an index, and the bytes of their index rows.
struct BacklogLoad {
  uint64_t records = 0;
  uint64_t bytes = 0;
};

// Thread-safety: thread-safe. Cost: Append is called once per batch and Applied once per run; load() takes no lock.
// Memory is bounded however large the backlog is.
class IndexBacklog {
 public:
  struct State {
    BacklogLoad load;
    int64_t oldest_ms = 0;  // commit time of the oldest waiting record, to about a second; 0: nothing waits
  };

  // Notes that records were written, the last one as `last`, at `time_ms` since the epoch. Called before readers of the
  // log may see the records, so that Append always precedes Applied.
  void Append(ChangeSequence last, int64_t time_ms, BacklogLoad load);
  // Notes that `load` was applied, so that no record up to and including `through` waits any more. While records of
  // earlier runs are counted, a run must not go from below their end to behind it.
  void Applied(ChangeSequence through, BacklogLoad load);
  // Empties the backlog: the index begins at `from`. Returns false, and changes nothing, if a later record was counted
  // already; the caller then retries with the next position.
  [[nodiscard]] bool BeginAt(ChangeSequence from);

  // Notes that records of earlier runs of the process, up to and including `end`, may wait. They are counted while
  // records are appended and applied. Called before the first Append.
  void BeginCount(ChangeSequence end);
  // Adds a record, like Append. In ascending order. A record that has been applied meanwhile is ignored.
  void Count(ChangeSequence sequence, int64_t time_ms, BacklogLoad load);
  // Notes that all records are counted.
  void EndCount();
  // False before EndCount, or until all records that are to be counted were applied.
  bool is_counted() const { return is_counted_.load(std::memory_order_relaxed); }

  BacklogLoad load() const {
    return {records_.load(std::memory_order_acquire), bytes_.load(std::memory_order_relaxed)};
  }
  // False if it is certain that no record waits.
  bool may_wait() const { return load().records > 0 || !is_counted(); }
  // True if all records that were appended are applied and their rows written, those of earlier runs of the process,
  // too.
  bool is_empty() const { return has_applied_earlier_.load(std::memory_order_acquire) && load().records == 0; }
  // Returns is_empty(), after a wait of a few milliseconds if little waits: under a steady load, the applier may stay
  // a batch behind the committer, which pauses once for it to catch up. There is one wait in 100 ms at most, since
  // some writes may be logged again and again, and fewer after waits in vain. For the committer only.
  bool AwaitEmpty();
  State state() const;
  // The sequence of the last record that was appended.
  ChangeSequence last() const {
    const absl::MutexLock lock(&mutex_);
    return last_;
  }

 private:
  // Sequence and commit time of a record. Records between two samples were committed between their times.
  struct Sample {
    ChangeSequence sequence;
    int64_t time_ms;
  };
  struct Samples {
    std::deque<Sample> all;
    int64_t spacing_ms = 0;  // minimum distance of samples; grows with the time span they cover

    void Add(Sample sample);
    void Forget(ChangeSequence through);
  };
  void Add(BacklogLoad load) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Take(BacklogLoad load) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<uint64_t> records_ = 0;  // changed under mutex_
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<bool> is_counted_ = true;
  std::atomic<bool> has_applied_earlier_ = true;  // all records of earlier runs
  MonotonicWait emptied_;
  // For AwaitEmpty.
  int64_t next_wait_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t pause_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  mutable absl::Mutex mutex_;
  ChangeSequence last_ ABSL_GUARDED_BY(mutex_);
  ChangeSequence applied_ ABSL_GUARDED_BY(mutex_);
  Samples samples_ ABSL_GUARDED_BY(mutex_);
  // The records of earlier runs of the process.
  ChangeSequence count_end_ ABSL_GUARDED_BY(mutex_);
  ChangeSequence counted_ ABSL_GUARDED_BY(mutex_);    // the last of them that was counted
  BacklogLoad counted_load_ ABSL_GUARDED_BY(mutex_);  // those of them that wait; a part of the whole load
  Samples counted_samples_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_LOG_INDEX_BACKLOG_H_
