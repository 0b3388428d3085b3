#ifndef ARMATURE_STORAGE_STORE_COMMIT_LOCK_TABLE_H_
#define ARMATURE_STORAGE_STORE_COMMIT_LOCK_TABLE_H_

// Row locks for read-modify-write, held across the asynchronous commit.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"

namespace armature::store {

// A striped table of locks. A row hashes to a stripe; two rows of one stripe wait for each other, which costs
// time and never correctness.
//
// A request that finds its row locked parks as a continuation: no thread blocks, so one hot key cannot starve a
// pool. Waiters of a stripe go in the order they came, and once their turn has come ahead of what else waits for the
// pool: a stripe that changes hands is not idle meanwhile. Several rows are locked one after another in ascending order
// of their stripes, so that requests never wait for each other in a circle.
//
// Who holds several rows is a transaction. A request for one row that a transaction holds waits for it, but not for
// ever: after `conflict_wait` it gets a TransactionConflictException. Behind other requests for one row it waits until
// its deadline.
//
// Thread-safety: thread-safe. Lifetime: outlives every Guard; destroy it only when no request is under way.
class LockTable {
  using Stripes = absl::InlinedVector<uint32_t, 1>;

 public:
  // Holds locks; gives them back when destroyed. May be destroyed on any thread.
  class Guard {
   public:
    Guard() = default;
    Guard(Guard&& other) noexcept;
    Guard& operator=(Guard&& other) noexcept;
    ~Guard() { Release(); }
    void Release();

   private:
    friend class LockTable;
    LockTable* table_ = nullptr;
    Stripes stripes_;
  };

  // Requests that may be parked at once, and bytes that they may hold while they are.
  static constexpr size_t kParkedMax = 16384;
  static constexpr size_t kParkedBytesMax = size_t{128} << 20;

  // Gets the guard, or DeadlineExceeded if the locks were not free in time, or ThrottlingException if too many others
  // wait already.
  using Continuation = absl::AnyInvocable<void(absl::StatusOr<Guard>) &&>;
  // The same for several rows. `stripe`: with an error, the one that was not to be had.
  using ContinuationOfAll = absl::AnyInvocable<void(absl::StatusOr<Guard>, uint32_t stripe) &&>;

  // `stripes` is rounded up to a power of two. `pool` runs the continuations of requests that had to wait, `timers`
  // their deadlines; both must outlive the table.
  LockTable(size_t stripes, ThreadPool* pool, TimerQueue* timers,
            absl::Duration conflict_wait = absl::InfiniteDuration());
  ~LockTable();
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;

  // The hash of a row, from its table and key.
  uint64_t HashRow(uint32_t table, std::string_view key) const;

  // Locks one row; `bytes` is what the request holds in memory. If it is free `then` runs at once on this thread,
  // otherwise later on the pool. Errors given to `then`: DeadlineExceeded, ThrottlingException,
  // TransactionConflictException.
  void Acquire(uint64_t row_hash, absl::Time deadline, Continuation then, size_t bytes = 0);
  // Locks one row if it is free now.
  std::optional<Guard> TryAcquire(uint64_t row_hash);
  // Locks several rows (repetitions are legal). Errors given to `then`: DeadlineExceeded, ThrottlingException.
  void AcquireAll(const std::vector<uint64_t>& row_hashes, absl::Time deadline, ContinuationOfAll then,
                  size_t bytes = 0);

  // The stripe of a row, from its hash.
  uint32_t StripeOf(uint64_t row_hash) const { return static_cast<uint32_t>(row_hash >> 32) & mask_; }

  // Requests that wait now.
  size_t waiting() const;

 private:
  struct Request;
  struct Stripe;

  // Goes on with a request until it holds all its stripes or has to wait.
  void Advance(const std::shared_ptr<Request>& request);
  void ReleaseStripe(uint32_t stripe);
  // Sets the timer of a request that is about to wait for `stripe`. Under its mutex.
  void SetTimer(const std::shared_ptr<Request>& request, uint32_t stripe_index);
  void Expire(const std::shared_ptr<Request>& request, uint32_t stripe);

  // Counts a request that is about to park; false if there is no room for it.
  bool Park(size_t bytes);
  // Counts it, too, and never refuses: it may hold stripes already.
  void ParkAnyway(size_t bytes);
  void Unpark(size_t bytes);

  const uint32_t mask_;
  ThreadPool* const pool_;
  TimerQueue* const timers_;
  const absl::Duration conflict_wait_;
  std::unique_ptr<Stripe[]> stripes_;
  std::atomic<size_t> parked_ = 0;
  std::atomic<size_t> parked_bytes_ = 0;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_LOCK_TABLE_H_
