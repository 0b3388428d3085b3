#ifndef ARMATURE_STORAGE_STORE_LOG_INDEX_BACKLOG_H_
#define ARMATURE_STORAGE_STORE_LOG_INDEX_BACKLOG_H_

// Count of the change records that wait to be applied to one global index.

#include <atomic>
#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strong_type.h"

namespace armature::store {

class CatalogSnapshot;
class ChangeLog;

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

  // Records were written, the last one as `last`, at `time_ms` since the epoch. Called before readers of the log may
  // see the records, so that Append always precedes Applied.
  void Append(ChangeSequence last, int64_t time_ms, BacklogLoad load);
  // `load` was applied. No record up to and including `through` waits any more.
  void Applied(ChangeSequence through, BacklogLoad load);
  // Empties the backlog: the index begins at `from`. Returns false, and changes nothing, if a later record was counted
  // already; the caller then retries with the next position.
  [[nodiscard]] bool BeginAt(ChangeSequence from);

  BacklogLoad load() const {
    return {records_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)};
  }
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
  void AddSample(Sample sample) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<uint64_t> records_ = 0;  // changed under mutex_
  std::atomic<uint64_t> bytes_ = 0;
  mutable absl::Mutex mutex_;
  ChangeSequence last_ ABSL_GUARDED_BY(mutex_);
  std::deque<Sample> samples_ ABSL_GUARDED_BY(mutex_);
  int64_t spacing_ms_ ABSL_GUARDED_BY(mutex_) = 0;  // minimum distance of samples; grows with the time span they cover
};

// Sets the backlogs of all global indexes by reading the change log. Called before the first commit. Malformed records
// are skipped; the applier reports them. If the log of a table cannot be read, its count ends there with a log message,
// and the database can still be served. Cost: reads the whole backlog once.
void CountBacklogs(const ChangeLog& log, const CatalogSnapshot& catalog);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_LOG_INDEX_BACKLOG_H_
