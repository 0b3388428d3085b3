#ifndef ARMATURE_STORAGE_STORE_COMMIT_COMMITTER_H_
#define ARMATURE_STORAGE_STORE_COMMIT_COMMITTER_H_

// Group commit: one thread merges all write units that wait into one batch and writes it with one fsync.

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
#include "storage/base/strong_type.h"
#include "storage/base/time_histogram.h"
#include "storage/store/commit/write_unit.h"
#include "storage/store/options.h"

namespace armature::store {

class ChangeLog;
class ColumnFamily;
class RocksDb;
class SequenceTickets;

// What a commit answers: the sequence of the unit's change record, or of the last record before it if it has none.
using CommitCallback = absl::AnyInvocable<void(absl::StatusOr<ChangeSequence>) &&>;

// A unit, and who waits for it.
struct Commitment {
  WriteUnit unit;
  CommitCallback done;
};

// Totals since the start, and what waits now.
struct CommitterCounters {
  // Upper bounds of the sizes of batches, in units: 1, 2, 4 and so on; one more bucket holds larger ones.
  static constexpr size_t kSizeBounds = 11;

  uint64_t batches = 0;
  uint64_t units = 0;
  uint64_t bytes = 0;
  std::array<uint64_t, kSizeBounds + 1> sizes = {};  // each batch in one of them
  TimeHistogram::Counts write_times;                 // of batches, with their fsync
  size_t queue_commits = 0;
  size_t queue_bytes = 0;
};

// The number in a stored counter. Errors: DataLoss.
absl::StatusOr<uint64_t> ParseCounter(std::string_view stored, const ColumnFamily& family);

// Two threads: one writes batches, the other runs the callbacks of the batch before, so that answering clients and
// waiting for the disk overlap.
//
// Units are applied in the order of Commit. A unit is visible to readers only together with its durability promise
// (with Durability::kSync: after the fsync of its batch).
//
// Thread-safety: thread-safe.
class Committer {
 public:
  Committer(const DatabaseOptions& options, RocksDb* db, SequenceTickets* tickets, ChangeLog* log);
  // Commits what waits, runs all callbacks, joins.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // Calls `done` exactly once, on the callback thread, or at once on this one if the queue is full
  // (ThrottlingException) or the committer stops (ServiceUnavailable). On error nothing of the unit was written.
  // Errors beside these: ItemCollectionSizeLimitExceeded for a counter that would grow too large, DataLoss for one that
  // cannot be read (no other commit suffers from either); those of the disk, which fail the whole batch.
  void Commit(WriteUnit unit, CommitCallback done);
  // Several units in one batch: all or nothing. What they add to one counter is judged as a sum.
  void CommitAll(std::vector<WriteUnit> units, CommitCallback done);

  // Units that have nothing to do with each other, each with its own answer, as if by Commit; as they come together,
  // they are written together.
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
  // Why a commit of so many bytes cannot wait for its turn, or OK.
  absl::Status CheckRoom(size_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a batch's worth from the queue; empty when stopping and nothing waits.
  std::vector<Pending> TakeBatch();
  // Writes what of `pending` can be written; fills their answers.
  void WriteBatch(std::vector<Pending>& pending);

  const DatabaseOptions options_;
  RocksDb* const db_;
  SequenceTickets* const tickets_;
  ChangeLog* const log_;

  mutable absl::Mutex mutex_;
  absl::CondVar work_;
  absl::CondVar finished_work_;
  absl::CondVar sync_stop_;
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
