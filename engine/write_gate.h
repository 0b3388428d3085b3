#ifndef ARMATURE_ENGINE_WRITE_GATE_H_
#define ARMATURE_ENGINE_WRITE_GATE_H_

// Bound on the writes that wait for their commit during an overload.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "engine/parked_requests.h"
#include "storage/base/thread_pool.h"

namespace armature::engine {

struct Parts;

// Counts the writes of single items between their decision and the end of their commit; batches and transactions are
// bounded by the queue of the committer only. More than kCrowd, and more than sixteen times as many as the limit, are
// an overload: a write waits for all in front of it. From then on, until no write is parked, and while requests crowd
// at a front, new writes are parked (ParkedRequests) while there are as many as the limit.
//
// The limit is several times the number of writes that are committed, at the present rate, while the disk takes a
// batch. Such a limit keeps both the disk and the processors busy, and grows while they are not; a further write would
// only wait longer.
//
// Thread-safety: thread-safe. Lifetime: Close before the pools of `parts` stop.
class WriteGate {
 public:
  using Refused = ParkedRequests::Refused;

  static constexpr size_t kWritesMin = 64;  // the limit at least
  static constexpr size_t kWritesMax = 4096;
  static constexpr size_t kCrowd = 2048;
  static constexpr size_t kCrowdFactor = 16;
  static constexpr size_t kParkedMax = 16'384;

  // Work of the committer in a time.
  struct Written {
    int64_t in_ns = 0;
    uint64_t batches = 0;
    uint64_t units = 0;
    uint64_t busy_ns = 0;  // sum of the times of the batches
  };
  // At least one batch.
  static size_t LimitFor(const Written& written);

  explicit WriteGate(Parts* parts) : parts_(parts) {}
  WriteGate(const WriteGate&) = delete;
  WriteGate& operator=(const WriteGate&) = delete;

  // True if a new write may begin; if not, it is to be parked.
  bool MayBegin();
  // Calls one of both later: `run` on the pool of lock holders, or `refused` on any thread, also this one.
  void Park(Task run, Refused refused);

  // CrowdBegins notes that more requests wait at a part of a front than it can serve, CrowdEnds that this has ended. In
  // a crowd, parked writes are late, too.
  void CrowdBegins() { crowds_.fetch_add(1, std::memory_order_relaxed); }
  void CrowdEnds() { crowds_.fetch_sub(1, std::memory_order_relaxed); }
  // True while writes are parked.
  bool is_overloaded() const { return is_overloaded_.load(std::memory_order_relaxed); }

  void CommitBegins() { committing_.fetch_add(1, std::memory_order_relaxed); }
  void CommitEnds() { committing_.fetch_sub(1, std::memory_order_relaxed); }

  // Refuses all parked writes, and further ones, with `status`.
  void Close(const absl::Status& status);

  size_t parked() const;
  // Number of writes that were refused.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  size_t Limit();
  void StartTimer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tick();
  void Refuse(ParkedRequests::Request request, const absl::Status& status);

  Parts* const parts_;
  std::atomic<size_t> committing_ = 0;
  std::atomic<bool> is_overloaded_ = false;
  std::atomic<int> crowds_ = 0;
  std::atomic<size_t> limit_ = kWritesMin;
  std::atomic<int64_t> limit_due_ns_ = 0;  // when it is computed again
  std::atomic<uint64_t> refused_ = 0;

  mutable absl::Mutex mutex_;
  ParkedRequests parked_ ABSL_GUARDED_BY(mutex_){kParkedMax};
  bool is_timed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);  // not OK: closed
  Written seen_ ABSL_GUARDED_BY(mutex_);         // until the limit was computed last
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_WRITE_GATE_H_
