#ifndef ARMATURE_STORAGE_STORE_COMMIT_COMMITTER_H_
#define ARMATURE_STORAGE_STORE_COMMIT_COMMITTER_H_

// Group commit: one thread merges all queued write units into one batch and writes it with one fsync.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strong_type.h"
#include "storage/base/time_histogram.h"
#include "storage/base/worker.h"
#include "storage/store/commit/write_unit.h"
#include "storage/store/options.h"

namespace armature::store {

class ChangeLog;
class RocksDb;
class SequenceTickets;
class StreamLog;

// Result of a commit: the sequence of the unit's change or stream record, or of the last record before it if the unit
// has none.
using CommitCallback = absl::AnyInvocable<void(absl::StatusOr<ChangeSequence>) &&>;

// Number of batches that have failed before. A commit that was decided on the value of a queued commit depends on the
// batch of the queued one; if a batch has failed since, the value may never have been written.
using CommitEpoch = StrongInt<struct CommitEpochTag, uint64_t>;

// Optional terms of a commit.
struct CommitTerms {
  // The commit was decided on values of commits that were queued in this epoch and may not be durable. It is refused if
  // a batch has failed since.
  std::optional<CommitEpoch> decided_on;
  // Memory that is held outside the unit until the commit is answered. Counts in the limit of the queue.
  size_t held_bytes = 0;
};

// A write unit and its callback.
struct Commitment {
  WriteUnit unit;
  CommitCallback done;
  CommitTerms terms = {};
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
  // Changes of global indexes: written with their items, or as change records for the applier.
  uint64_t index_changes_with_item = 0;
  uint64_t index_changes_logged = 0;
  size_t queue_commits = 0;
  size_t queue_bytes = 0;
};

// One thread writes batches, another runs the callbacks of the previous batch, so that answering clients overlaps with
// waiting for the disk. With Durability::kInterval a third one syncs the log.
//
// Units are applied, and their callbacks run, in the order of the calls. A unit is visible to readers only together
// with its durability promise (with Durability::kSync: after the fsync of its batch).
//
// A row's next write may be decided on the value of a queued unit, before that one is durable (QueuedRows). A batch
// that fails therefore fails all commits that are queued behind it, and begins a new epoch: a commit that was decided
// on a value of an earlier epoch is refused, so nothing that builds on a failed write is ever written. A unit without
// counters fails only together with its batch; a unit with counters may be refused alone, so nothing may be decided on
// it before its answer. Sequences are reserved on the disk before they are taken, so a start hands out none of them
// again, neither those of a failed batch nor those of batches that a power cut takes away. Readers get past the
// sequences of a failed batch only when the log that may contain it is not needed any more: a restart may bring it
// back.
//
// Thread-safety: thread-safe.
class Committer {
 public:
  Committer(const DatabaseOptions& options, RocksDb* db, SequenceTickets* tickets, ChangeLog* log, StreamLog* streams);
  // Commits all queued units, runs all callbacks, and joins the threads.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // Commits units atomically in one batch. Their changes to one counter are checked as a sum.
  //
  // Calls `done` exactly once: on the callback thread, or at once on this thread if the queue is full
  // (ThrottlingException) or the committer stops (ServiceUnavailable). On error nothing of the units was written. Other
  // errors: ItemCollectionSizeLimitExceeded if a counter would exceed its limit, and DataLoss if a counter cannot be
  // read (both fail this commit only); disk errors, which fail the whole batch and the queue behind it. Returns the
  // epoch in which the units were queued, or nullopt if they were refused.
  std::optional<CommitEpoch> CommitAll(std::vector<WriteUnit> units, CommitCallback done,
                                       const CommitTerms& terms = {});

  // Commits independent units, each with its own result, as CommitAll does. Queued together, they are written together.
  // Returns a result for each.
  std::vector<std::optional<CommitEpoch>> CommitEach(std::vector<Commitment> commitments);

  // Calls `done`, as CommitAll does, when all commits that are queued now are durable, for an answer that was decided
  // on values of commits queued in the epoch `decided_on`. Nothing is written. `held_bytes`: memory of the answer. Such
  // answers have limits of their own, as many as commits and half of their bytes, so that neither can crowd out the
  // other. Errors: the error of the batch if one has failed since; ThrottlingException, ServiceUnavailable.
  void WhenDurable(CommitEpoch decided_on, size_t held_bytes, CommitCallback done);

  // The sequence with which a write that changes nothing is answered. Errors: ServiceUnavailable after a write has
  // failed: the restart decides whether the failed write is there, so nothing may be acknowledged behind it.
  absl::StatusOr<ChangeSequence> CommitNothing() const;

  CommitterCounters counters() const;
  // Limit on the bytes of queued commits.
  size_t queue_bytes_max() const { return options_.commit_queue_bytes_max; }

 private:
  struct Load;
  struct Pending {
    std::vector<WriteUnit> units;
    CommitCallback done;
    size_t bytes = 0;       // counted in `load`
    size_t unit_bytes = 0;  // those of the units
    Load* load = nullptr;
    absl::StatusOr<ChangeSequence> answer = ChangeSequence();
  };
  // Number and bytes of the commits, or of the answers without a write, in the queue.
  struct Load {
    size_t count = 0;
    size_t bytes = 0;
  };
  struct Batch;

  void WriteLoop();
  void CallbackLoop();
  Worker::Next Sync();
  // OK if `bytes` more may be queued beside `load`, whose limit is `bytes_max`, else the reason.
  absl::Status CheckQueue(const Load& load, size_t bytes, size_t bytes_max) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds a commit to the queue, or returns the reason why it is refused.
  absl::Status Queue(std::vector<WriteUnit>* units, CommitCallback* done, const CommitTerms& terms)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckEpoch(std::optional<CommitEpoch> decided_on) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds to the end of the queue.
  void Push(Load* load, Pending pending) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a batch from the queue. Empty if the committer stops and the queue is empty.
  std::vector<Pending> TakeBatch();
  // Writes the commits of `pending` that pass their checks. Sets the answers of all.
  void WriteBatch(std::vector<Pending>& pending);
  // Adds the commits that pass their checks to `batch`, and takes their sequences.
  absl::Status Build(std::vector<Pending>& pending, Batch* batch);
  absl::Status Write(Batch* batch);
  // Shows a written batch to the readers of the log and of streams.
  void Publish(Batch* batch);
  // Makes sure that `count` more sequences may be taken: that a start would continue behind them.
  absl::Status ReserveSequences(uint64_t count);
  // Takes `count` sequences, and returns the first. With `count` 0, returns the sequence that would be next.
  ChangeSequence TakeSequences(uint64_t count);
  // Keeps the sequences of a failed batch, if it took any, and of all later ones away from readers: what is in the
  // write-ahead log may become visible with a restart.
  void KeepBack(std::optional<ChangeSequence> first);
  void ReleaseKeptBack();
  // Answers the commits of a batch that was not written, and those that are queued, with `status` or what is known of
  // it. `first`: see KeepBack.
  void Fail(const absl::Status& status, std::optional<ChangeSequence> first, std::vector<Pending>* pending);
  // Answers a batch that writes nothing.
  void AnswerUnwritten(std::vector<Pending>& pending) const;
  // Begins a new epoch after `failure`, and moves the queue to the end of `pending`, answered with it.
  void FailQueue(const absl::Status& failure, std::vector<Pending>* pending);

  const DatabaseOptions options_;
  RocksDb* const db_;
  SequenceTickets* const tickets_;
  ChangeLog* const log_;
  StreamLog* const streams_;
  ChangeSequence reserved_;  // a start continues behind it; for the writing thread
  // First sequence of the first failed batch since the last written one, or since a resumption; for the writing thread.
  std::optional<ChangeSequence> kept_back_;

  mutable absl::Mutex mutex_;
  absl::CondVar work_;
  absl::CondVar finished_work_;
  std::deque<Pending> queue_ ABSL_GUARDED_BY(mutex_);
  Load commits_ ABSL_GUARDED_BY(mutex_);
  Load answers_ ABSL_GUARDED_BY(mutex_);  // of WhenDurable
  CommitEpoch epoch_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);  // of the last failed batch
  std::deque<std::vector<Pending>> finished_ ABSL_GUARDED_BY(mutex_);
  bool writer_idle_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_resumed_ ABSL_GUARDED_BY(mutex_) = false;  // since the writing thread last looked
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool writer_done_ ABSL_GUARDED_BY(mutex_) = false;
  CommitterCounters counters_ ABSL_GUARDED_BY(mutex_);
  TimeHistogram write_times_;
  std::atomic<uint64_t> index_changes_with_item_ = 0;
  std::atomic<uint64_t> index_changes_logged_ = 0;

  Worker sync_worker_{"arm-sync", [this] { return Sync(); }, [this] { Sync(); }};
  std::thread callback_thread_;
  std::thread write_thread_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_COMMITTER_H_
