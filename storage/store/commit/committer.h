#ifndef ARMATURE_STORAGE_STORE_COMMIT_COMMITTER_H_
#define ARMATURE_STORAGE_STORE_COMMIT_COMMITTER_H_

// Group commit: one thread merges all queued write units into one batch and writes it with one fsync.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/strong_type.h"
#include "storage/base/time_histogram.h"
#include "storage/store/commit/write_unit.h"
#include "storage/store/options.h"

namespace armature::store {

class ChangeLog;
class ColumnFamily;
class RocksDb;
class SequenceTickets;
class StreamLog;

// Result of a commit: the sequence of the unit's change or stream record, or of the last record before it if the unit
// has none.
using CommitCallback = absl::AnyInvocable<void(absl::StatusOr<ChangeSequence>) &&>;

// A write unit and its callback.
struct Commitment {
  WriteUnit unit;
  CommitCallback done;
};

// Totals since the start, and current queue sizes.
struct CommitterCounters {
  // Histogram bounds of batch sizes in units: 1, 2, 4 and so on. One more bucket holds larger batches.
  static constexpr size_t kSizeBounds = 11;

  uint64_t batches = 0;
  uint64_t units = 0;
  uint64_t bytes = 0;
  std::array<uint64_t, kSizeBounds + 1> sizes = {};  // number of batches per bucket
  TimeHistogram::Counts write_times;                 // time per batch, including its fsync
  size_t queue_commits = 0;
  size_t queue_bytes = 0;
};

// Decodes a stored counter. Errors: DataLoss.
absl::StatusOr<uint64_t> ParseCounter(std::string_view stored, const ColumnFamily& family);

// Two threads: one writes batches, the other runs the callbacks of the previous batch, so that answering clients
// overlaps with waiting for the disk.
//
// Units are applied in the order of Commit. A unit is visible to readers only together with its durability promise
// (with Durability::kSync: after the fsync of its batch).
//
// Thread-safety: thread-safe.
class Committer {
 public:
  Committer(const DatabaseOptions& options, RocksDb* db, SequenceTickets* tickets, ChangeLog* log, StreamLog* streams);
  // Commits all queued units, runs all callbacks, and joins the threads.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // Calls `done` exactly once: on the callback thread, or at once on this thread if the queue is full
  // (ThrottlingException) or the committer stops (ServiceUnavailable). On error nothing of the unit was written. Other
  // errors: ItemCollectionSizeLimitExceeded if a counter would exceed its limit, and DataLoss if a counter cannot be
  // read (both fail this commit only); disk errors, which fail the whole batch.
  void Commit(WriteUnit unit, CommitCallback done);
  // Commits several units atomically in one batch. Their changes to one counter are checked as a sum.
  void CommitAll(std::vector<WriteUnit> units, CommitCallback done);

  // Commits independent units, each with its own result, as Commit does. Queued together, they are written together.
  void CommitEach(std::vector<Commitment> commitments);

  CommitterCounters counters() const;

 private:
  struct Pending {
    std::vector<WriteUnit> units;
    CommitCallback done;
    absl::StatusOr<ChangeSequence> answer = ChangeSequence();
  };
  class BatchBuilder;

  void WriteLoop();
  void CallbackLoop();
  void SyncLoop();
  // OK if a commit of `bytes` may be queued, else the reason.
  absl::Status CheckRoom(size_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a batch from the queue. Empty if the committer stops and the queue is empty.
  std::vector<Pending> TakeBatch();
  // Writes the commits of `pending` that pass their checks. Sets the answers of all.
  void WriteBatch(std::vector<Pending>& pending);

  const DatabaseOptions options_;
  RocksDb* const db_;
  SequenceTickets* const tickets_;
  ChangeLog* const log_;
  StreamLog* const streams_;

  mutable absl::Mutex mutex_;
  absl::CondVar work_;
  absl::CondVar finished_work_;
  MonotonicWait sync_stop_;
  std::deque<Pending> queue_ ABSL_GUARDED_BY(mutex_);
  size_t queue_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::vector<Pending>> finished_ ABSL_GUARDED_BY(mutex_);
  bool writer_idle_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool writer_done_ ABSL_GUARDED_BY(mutex_) = false;
  CommitterCounters counters_ ABSL_GUARDED_BY(mutex_);
  TimeHistogram write_times_;

  std::thread sync_thread_;
  std::thread callback_thread_;
  std::thread write_thread_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_COMMITTER_H_
