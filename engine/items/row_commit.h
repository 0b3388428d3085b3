#ifndef ARMATURE_ENGINE_ITEMS_ROW_COMMIT_H_
#define ARMATURE_ENGINE_ITEMS_ROW_COMMIT_H_

// The last steps of every write: a job that holds the locks of its rows and has read them is decided, then committed or
// answered without a write. Single writes, members of batches, transactions and deletions of expired items are jobs.
//
// Early lock release: the locks of a job with a contended row are released when its commit is queued, not when it is
// durable. The next holder of the lock decides on the queued value (store::QueuedRows). Nothing that was decided on it
// is answered before it is durable, and all of it fails if its batch fails.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/items/request.h"
#include "engine/items/row_write.h"
#include "engine/parts.h"
#include "engine/request_trace.h"
#include "storage/store/commit/committer.h"
#include "storage/store/commit/lock_table.h"
#include "storage/store/commit/queued_rows.h"
#include "storage/store/commit/write_unit.h"

namespace armature::engine {

using QueuedRowList = absl::InlinedVector<std::shared_ptr<store::QueuedRow>, 1>;

// The locks of a commit that releases them when it is queued, and the rows that it writes. Kept apart from the job,
// which may be answered, on another thread, before the commit returns. The callback of the commit has a share of the
// locks, too: a commit that waits for its column family is not queued yet, and keeps its locks until it is answered.
struct EarlyRelease {
  std::shared_ptr<store::LockTable::Guard> guard;  // null: the locks are held until the commit is durable
  QueuedRowList rows;
};

// A write of rows as a whole. Each kind of write derives from it and adds its answer.
//
// Thread-safety: owned by one request, whose steps run one after another, on different threads. Lifetime: shared by
// these steps. It has, or is part of an object that has, a token of WaitingRequests.
struct RowJob {
  explicit RowJob(Parts* shared_parts) : parts(shared_parts) {}
  virtual ~RowJob() = default;
  RowJob(const RowJob&) = delete;
  RowJob& operator=(const RowJob&) = delete;

  // Releases the locks and answers. `outcome`: the sequence of the write, or why nothing was written. Called once: by
  // the functions below, or by the owner for a job that they do not get, such as one that failed before its decision.
  void End(absl::StatusOr<ChangeSequence> outcome);
  void Refuse(const absl::Status& status) { End(status); }

  WaitingRequests::Token token;  // first, so that it is destroyed last
  Parts* const parts;
  std::shared_ptr<RequestTrace> trace;     // may be null
  absl::InlinedVector<RowWrite*, 1> rows;  // owned by the derived object
  store::LockTable::Guard guard;           // the locks of `rows`
  bool is_gated = false;                   // counts in the WriteGate while it is committed

  // For the functions below.
  QueuedRowList queued;         // the rows that were queued with early release; may be empty
  int64_t commit_begin_ns = 0;  // 0: the commit is not traced

  // Takes from the rows what the answer needs, when the job was decided: their images are released after it.
  virtual void FillAnswer() {}
  // Gives the answer, as the last act. The locks are released.
  virtual void Answer(absl::StatusOr<ChangeSequence> outcome) = 0;
};
using RowJobPtr = std::shared_ptr<RowJob>;

// Decides the write of a single row that was read: checks the condition, computes the new item, and takes memory (into
// `result`) and capacity. A write that failed its condition is charged for the item that it read. Errors:
// ConditionalCheckFailedException, and those of AdmitWrite, MakeEffect, CheckBacklogs and TakeWrite.
absl::Status DecideAlone(const Parts& parts, RowWrite* row, WriteResult* result);

// Ends a job with the decision `decided`. If it is OK, commits what the rows change, and `further` units, in one
// commit; otherwise, or if that is nothing, nothing is written. The answer is given when the commit is durable, or when
// all values are that the job was decided on.
//
// Locks that are released early are released as the last act: the next waiter may continue behind it.
void CommitDecided(const RowJobPtr& job, absl::Status decided, std::vector<store::WriteUnit> further = {});

// Jobs that are queued together, and succeed or fail each by itself. The waits for their commits are not traced.
//
// Thread-safety: used by one thread.
class CommitGroup {
 public:
  CommitGroup(Parts* parts, size_t jobs_max);

  // Adds a decided job of one row. A job that writes nothing is answered, as by CommitDecided, but its next waiter
  // continues on the pool, because the caller has more to do.
  void Add(const RowJobPtr& job, absl::Status decided);
  // Queues the commits. Called once.
  void Commit();

 private:
  Parts* const parts_;
  std::vector<store::Commitment> commits_;
  std::vector<EarlyRelease> releases_;  // one for each commit
};

// An answer without a write.
struct UnwrittenAnswer {
  DecidedOn decided_on;
  size_t bytes = 0;               // estimate of its memory
  store::LockTable::Guard guard;  // the locks of its rows
  std::shared_ptr<RequestTrace> trace;
  // Thread of the next waiter, if the answer waits.
  store::LockTable::NextWaiter next = store::LockTable::NextWaiter::kBehindThis;
};

// Estimate of the memory of an answer with an item. `stored`: the item as stored.
size_t AnswerBytes(std::string_view stored);

// Releases the locks, and calls `then` when the values are durable that the answer was decided on: at once if they are,
// otherwise on the thread of commit callbacks, or on the pool of lock holders for more than kInlineBytesMax. The
// argument is `outcome`, or the error of a batch that failed. The caller owns a token of WaitingRequests, and returns
// after it.
void AfterQueued(Parts* parts, UnwrittenAnswer answer, absl::Status outcome,
                 absl::AnyInvocable<void(absl::Status) &&> then);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_ROW_COMMIT_H_
