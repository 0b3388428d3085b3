#ifndef ARMATURE_STORAGE_STORE_COMMIT_LOCK_TABLE_H_
#define ARMATURE_STORAGE_STORE_COMMIT_LOCK_TABLE_H_

// Row locks for read-modify-write, held until the write is durable or, for contended rows, until it is queued.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"

namespace armature::store {

// A striped lock table. A row hashes to a stripe. Two rows of one stripe wait for each other, which costs time but
// never correctness.
//
// A request that finds its stripe locked parks as a continuation. No thread blocks, so one hot key cannot starve a
// pool. Waiters of a stripe are served in order of arrival. The pool that a waiter continues on must not run long work,
// so that the stripe is not held idle. Several rows are locked one after another in ascending order of their stripes,
// so that no deadlock is possible. Waiting, handing over and expiry cost a logarithm of the number of waiters.
//
// When a waiter's continuation releases its lock, the next waiter continues on the same thread behind it, so a chain of
// waiters costs no change of threads; after kChainMax waiters or kChainTimeMax the chain takes its turn in the pool
// again. A continuation that goes on after the release sends the waiter to the pool (NextWaiter::kOnPool).
//
// A stripe at which a request has parked is contended, and remains so for its next kContendedReleases commits
// (Guard::TakeEarlyRelease). Commits at other stripes keep their locks until they are durable, which costs nothing
// more.
//
// A holder of several rows is a transaction. A single-row request waits for a transaction only for `conflict_wait`, and
// then gets TransactionConflictException. It waits for other single-row requests until its deadline.
//
// Thread-safety: thread-safe. Lifetime: outlives every Guard; destroyed only when no request is in progress.
class LockTable {
  using Stripes = absl::InlinedVector<uint32_t, 1>;

 public:
  // Thread on which the next waiter of a released lock continues.
  enum class NextWaiter : uint8_t {
    kBehindThis,  // behind the running continuation, if there is one: the release is its last act
    kOnPool,      // the continuation has more to do
  };

  // Holds locks and releases them when destroyed. May be destroyed on any thread.
  class Guard {
   public:
    Guard() = default;
    Guard(Guard&& other) noexcept;
    Guard& operator=(Guard&& other) noexcept;
    ~Guard() { Release(); }
    void Release(NextWaiter next = NextWaiter::kBehindThis);
    // True if a lock is contended, so that its holder should release all of them as soon as its commit is queued.
    // Called once for each commit.
    bool TakeEarlyRelease();

   private:
    friend class LockTable;
    Guard(LockTable* table, Stripes stripes) : table_(table), stripes_(std::move(stripes)) {}

    LockTable* table_ = nullptr;
    Stripes stripes_;
  };

  // Limits on parked requests: their number, and the bytes of memory they hold.
  static constexpr size_t kParkedMax = 16384;
  static constexpr size_t kParkedBytesMax = size_t{128} << 20;
  static constexpr int kContendedReleases = 64;
  // Limits on waiters that continue one after another on one thread.
  static constexpr int kChainMax = 64;
  static constexpr absl::Duration kChainTimeMax = absl::Milliseconds(2);

  // Called with the guard, or with DeadlineExceeded if the locks were not free in time, or with ThrottlingException if
  // too many requests are parked, or with the status of Close.
  using Continuation = absl::AnyInvocable<void(absl::StatusOr<Guard>) &&>;
  // The continuation of AcquireAll, with the guard or an error as for Continuation. `stripe`: on error, the stripe that
  // could not be locked.
  using ContinuationOfAll = absl::AnyInvocable<void(absl::StatusOr<Guard>, uint32_t stripe) &&>;

  // `stripes` is rounded up to a power of two. `pool` runs the continuations of parked requests, `timers` their
  // deadlines. Both must outlive the table.
  LockTable(size_t stripes, ThreadPool* pool, TimerQueue* timers,
            absl::Duration conflict_wait = absl::InfiniteDuration());
  ~LockTable();
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;

  // Hash of a row, from its table and key.
  uint64_t HashRow(uint32_t table, std::string_view key) const;

  // Locks one row. `bytes` is the memory that the request holds. If the stripe is free, `then` runs at once on this
  // thread, otherwise later on the pool. Errors passed to `then`: DeadlineExceeded, ThrottlingException,
  // TransactionConflictException.
  void Acquire(uint64_t row_hash, Deadline deadline, Continuation then, size_t bytes = 0);
  // Locks one row if its stripe is free now.
  std::optional<Guard> TryAcquire(uint64_t row_hash);
  // Locks several rows (duplicates are allowed). Errors passed to `then`: DeadlineExceeded, ThrottlingException.
  void AcquireAll(const std::vector<uint64_t>& row_hashes, Deadline deadline, ContinuationOfAll then, size_t bytes = 0);

  // Ends the requests that are parked, and later ones that would have to park, with the error `status`: the server
  // stops. Runs their continuations on this thread. Called once.
  void Close(const absl::Status& status);

  // The stripe of a row hash.
  uint32_t StripeOf(uint64_t row_hash) const { return static_cast<uint32_t>(row_hash >> 32) & mask_; }

  // Number of parked requests.
  size_t waiting() const;

 private:
  struct Request;
  struct Stripe;
  struct Chain;

  // Locks the remaining stripes of a request until it holds all of them or has to wait.
  void Advance(const std::shared_ptr<Request>& request);
  void ReleaseStripe(uint32_t stripe, NextWaiter where);
  // Continues a request that was handed its stripe.
  void HandOver(std::shared_ptr<Request> next, NextWaiter where);
  void RunChain(std::shared_ptr<Request> first);
  // Ends a request that does not wait any more: releases what it holds, and passes on the error.
  void Refuse(const std::shared_ptr<Request>& request, const absl::Status& status);
  // Adds a request to the waiters of its stripe. Called with the stripe's mutex held.
  void Queue(const std::shared_ptr<Request>& request, uint32_t stripe_index);
  void SetTimer(Request* request, uint32_t stripe_index, uint64_t ticket);
  void Expire(uint32_t stripe_index, uint64_t ticket);

  // Counts a request that is about to park. Errors: the table is closed, or a limit is reached. The limits do not apply
  // to a request that holds stripes already.
  absl::Status Park(size_t bytes, bool holds_stripes);
  void Unpark(size_t bytes);

  const uint32_t mask_;
  ThreadPool* const pool_;
  TimerQueue* const timers_;
  const absl::Duration conflict_wait_;
  std::unique_ptr<Stripe[]> stripes_;
  std::atomic<size_t> parked_ = 0;
  std::atomic<size_t> parked_bytes_ = 0;
  std::atomic<bool> is_closed_ = false;
  absl::Status closed_;  // set before is_closed_
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_LOCK_TABLE_H_
