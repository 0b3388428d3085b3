#ifndef ARMATURE_STORAGE_STORE_LOG_CHANGE_LOG_H_
#define ARMATURE_STORAGE_STORE_LOG_CHANGE_LOG_H_

// The durable change log behind global indexes, and its consumers' progress.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/base/strong_type.h"
#include "storage/base/timer_queue.h"
#include "storage/store/log/index_backlog.h"

namespace armature::store {

class RocksDb;
class WriteUnit;

// Notified when a table's log grows. Implemented above the store.
class ChangeConsumer {
 public:
  virtual ~ChangeConsumer() = default;
  // Called after a commit, on the committer's thread. Must only take a note.
  virtual void OnAppended(const std::vector<TableId>& tables) = 0;
};

// Position of one index in its table's change log, and the requests that wait for it to advance.
//
// Thread-safety: thread-safe. Lifetime: shared by the index's catalog entry and by waiters. When the entry is replaced,
// it must be closed.
class IndexProgress : public std::enable_shared_from_this<IndexProgress> {
 public:
  // `cursor`: the persisted cursor. `timers` must outlive all waiters.
  IndexProgress(ChangeSequence cursor, TimerQueue* timers) : applied_(cursor), timers_(timers) {}

  // The index contains all changes up to and including this sequence.
  ChangeSequence applied() const {
    const absl::MutexLock lock(&mutex_);
    return applied_;
  }

  // Moves the cursor forward (a smaller value is ignored) and runs the waiters that it reaches.
  void Advance(ChangeSequence applied);

  // Calls `then(OK)` when applied() >= `sequence`, which may be at once. Calls `then` with DeadlineExceeded at the
  // deadline, or with the status of Close. `then` runs on the caller's, the applier's or the timer's thread and must be
  // short.
  void WhenApplied(ChangeSequence sequence, Deadline deadline, absl::AnyInvocable<void(absl::Status) &&> then);

  // Ends all waits, present and future, with the error `status`: the index is removed, or the server stops.
  void Close(const absl::Status& status);

  // True while the changes of the index cannot be applied, because its table's log or the index is damaged.
  bool is_stalled() const { return stalled_.load(std::memory_order_relaxed); }
  void set_stalled(bool is_stalled) { stalled_.store(is_stalled, std::memory_order_relaxed); }

  // The changes that are not applied yet. Lifetime: that of this object.
  IndexBacklog& backlog() { return backlog_; }

 private:
  struct Waiter {
    TimerQueue::TimerId timer;
    absl::AnyInvocable<void(absl::Status) &&> then;
  };
  using WaiterKey = std::pair<ChangeSequence, uint64_t>;  // the awaited sequence, and a number of its own
  void Expire(const WaiterKey& key);

  mutable absl::Mutex mutex_;
  ChangeSequence applied_ ABSL_GUARDED_BY(mutex_);
  absl::btree_map<WaiterKey, Waiter> waiters_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);
  TimerQueue* const timers_;
  std::atomic<bool> stalled_ = false;
  IndexBacklog backlog_;
};

// Assigns sequences to change records, and computes the log's watermark.
//
// A ticket is a run of sequences that its holder is about to write. Batches may finish in another order than they took
// their tickets. Therefore a reader of the log never reads past the lowest outstanding ticket: it would skip the late
// records for ever.
//
// Thread-safety: thread-safe.
class SequenceTickets {
 public:
  // `last`: the highest sequence that may have been handed out before. `epoch_base`: see sequence_epoch.h.
  explicit SequenceTickets(ChangeSequence last, ChangeSequence epoch_base = {})
      : epoch_base_(epoch_base), next_(last.value() + 1) {}

  // Takes `count` (at least 1) sequences; returns the first.
  ChangeSequence Take(uint64_t count);
  // Returns the ticket whose first sequence is `first`, after its batch was written or abandoned.
  void Release(ChangeSequence first);

  // Leaves out the sequences up to this one: the next is greater.
  void Skip(ChangeSequence last);

  // The base of the epoch: positions below it are of another history of the database.
  ChangeSequence epoch_base() const { return epoch_base_; }
  // Every sequence up to and including this one is in the log or never will be.
  ChangeSequence watermark() const;
  // The highest sequence handed out.
  ChangeSequence last_taken() const;

 private:
  const ChangeSequence epoch_base_;
  mutable absl::Mutex mutex_;
  uint64_t next_ ABSL_GUARDED_BY(mutex_);
  std::set<uint64_t> out_ ABSL_GUARDED_BY(mutex_);
};

// Thread-safety: thread-safe.
class ChangeLog {
 public:
  ChangeLog(RocksDb* db, const SequenceTickets* tickets)
      : db_(db), tickets_(tickets), opened_at_(tickets->last_taken()) {}

  // All records up to this sequence may be read.
  ChangeSequence watermark() const { return tickets_->watermark(); }
  // The base of the epoch: positions below it are of another history of the database.
  ChangeSequence epoch_base() const { return tickets_->epoch_base(); }
  // The last sequence of earlier runs of the process.
  ChangeSequence opened_at() const { return opened_at_; }
  // All changes up to this sequence are in the index of `progress`, which is built: the end of the log, if no record of
  // it waits, because other changes are written with their items.
  ChangeSequence AppliedBy(IndexProgress* progress) const {
    const ChangeSequence end = watermark();  // before the look at the backlog, which counts all records up to it
    return progress->backlog().is_empty() ? std::max(end, progress->applied()) : progress->applied();
  }
  // The highest sequence handed out. No change visible in a table has a higher one.
  ChangeSequence last_taken() const { return tickets_->last_taken(); }

  struct ReadOutcome {
    // Position to resume after: the last record read, or `up_to` if no more records exist up to there.
    ChangeSequence read_through;
    bool drained = false;
    size_t records = 0;
    size_t bytes = 0;  // the sum of what fn returned
  };
  // Calls fn(sequence, record) for the records of `table` in (after, up_to], in order. Stops after `records_max`
  // records or once the numbers that fn returned, the bytes that it made of each record, add up to `bytes_max`. Seeks
  // to `after`, never to the table's first key.
  // Errors: DataLoss, or what fn returned.
  absl::StatusOr<ReadOutcome> Read(
      TableId table, ChangeSequence after, ChangeSequence up_to, size_t records_max, size_t bytes_max,
      absl::FunctionRef<absl::StatusOr<size_t>(ChangeSequence, std::string_view)> fn) const;

  // For the consumer: writes `unit` and moves the cursors of `table` in one batch, without fsync. The batch is atomic,
  // so changes are applied exactly once: a consumer repeats what a crash undoes.
  absl::Status CommitConsumed(const WriteUnit& unit, TableId table,
                              const std::vector<std::pair<IndexId, ChangeSequence>>& cursors);

  // Removes the records of `table` up to and including `through`, without fsync: cursors skip records that a crash
  // brings back.
  absl::Status Trim(TableId table, ChangeSequence through);

  // Sets the consumer (at most one). Null removes it; no call to it is made after that.
  void SetConsumer(ChangeConsumer* consumer);
  void NotifyAppended(const std::vector<TableId>& tables);

 private:
  RocksDb* const db_;
  const SequenceTickets* const tickets_;
  const ChangeSequence opened_at_;
  absl::Mutex mutex_;
  ChangeConsumer* consumer_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_LOG_CHANGE_LOG_H_
