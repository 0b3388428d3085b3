#ifndef ARMATURE_STORAGE_STORE_LOG_CHANGE_LOG_H_
#define ARMATURE_STORAGE_STORE_LOG_CHANGE_LOG_H_

// The durable log of changes behind global indexes: who reads it, and how far.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
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
class SequenceTickets;

// Woken when a table's log grew. Implemented above the store.
class ChangeConsumer {
 public:
  virtual ~ChangeConsumer() = default;
  // Called after a commit, on the committer's thread: must only take a note.
  virtual void OnAppended(const std::vector<TableId>& tables) = 0;
};

// How far one index has consumed its table's log, and who waits for it.
//
// Thread-safety: thread-safe. Lifetime: that of the index's catalog entry, and of those who wait; when the entry is
// replaced, Close it.
class IndexProgress : public std::enable_shared_from_this<IndexProgress> {
 public:
  // `cursor`: the persisted one. `timers` must outlive all waiters.
  IndexProgress(ChangeSequence cursor, TimerQueue* timers) : applied_(cursor), timers_(timers) {}

  // Every change up to and including this sequence is in the index.
  ChangeSequence applied() const;

  // Moves forward (a smaller value is ignored) and runs the waiters that were waiting for it.
  void Advance(ChangeSequence applied);

  // Calls `then(OK)` once applied() >= `sequence`, at once if it is already, or `then(DeadlineExceeded)`, or with the
  // status of Close.
  // `then` runs on the caller's thread, the applier's or the timer's and must be short.
  void WhenApplied(ChangeSequence sequence, absl::Time deadline, absl::AnyInvocable<void(absl::Status) &&> then);

  // Ends all waits, also those to come, with `status`, an error: the index goes away, or the server does.
  void Close(const absl::Status& status);

  // What waits to be applied. Lifetime: as long as this.
  IndexBacklog& backlog() { return backlog_; }

 private:
  struct Waiter {
    ChangeSequence sequence;
    absl::Time deadline;
    TimerQueue::TimerId timer;
    uint64_t id;
    absl::AnyInvocable<void(absl::Status) &&> then;
  };
  void Expire(uint64_t id);

  mutable absl::Mutex mutex_;
  ChangeSequence applied_ ABSL_GUARDED_BY(mutex_);
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);
  TimerQueue* const timers_;
  IndexBacklog backlog_;
};

// Thread-safety: thread-safe.
class ChangeLog {
 public:
  ChangeLog(RocksDb* db, const SequenceTickets* tickets) : db_(db), tickets_(tickets) {}

  // Everything up to this sequence may be read.
  ChangeSequence watermark() const;
  // The highest sequence that was handed out. What is visible in tables has no higher one.
  ChangeSequence last_taken() const;

  struct ReadOutcome {
    // Resume after this one: the last record read, or `up_to` when the log holds no more records up to there.
    ChangeSequence read_through;
    bool drained = false;
    size_t records = 0;
  };
  // Calls fn(sequence, record) for the records of `table` in (after, up_to], in order, at most `records_max` records
  // and until `bytes_max` bytes of them were read. Begins at the remembered position, never at the first key.
  // Errors: DataLoss, or what fn returned.
  absl::StatusOr<ReadOutcome> Read(TableId table, ChangeSequence after, ChangeSequence up_to, size_t records_max,
                                   size_t bytes_max,
                                   absl::FunctionRef<absl::Status(ChangeSequence, std::string_view)> fn) const;

  // Forgets the records of `table` up to and including `through`. Not durable by itself: what comes back after a crash
  // is skipped by the cursors.
  absl::Status Trim(TableId table, ChangeSequence through);

  // At most one consumer; null to take it away, after which it is called no more.
  void SetConsumer(ChangeConsumer* consumer);
  void NotifyAppended(const std::vector<TableId>& tables);

 private:
  RocksDb* const db_;
  const SequenceTickets* const tickets_;
  absl::Mutex mutex_;
  ChangeConsumer* consumer_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_LOG_CHANGE_LOG_H_
