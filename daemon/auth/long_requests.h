#ifndef ARMATURE_DAEMON_AUTH_LONG_REQUESTS_H_
#define ARMATURE_DAEMON_AUTH_LONG_REQUESTS_H_

// Threads for requests that take long to read or to authorise, so that they do not hold up the threads of the fronts.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "daemon/auth/policy.h"
#include "engine/access/pattern.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {

// The queue is bounded in number, and in bytes by the memory budget, which counts the requests.
//
// Thread-safety: thread-safe. Lifetime: outlives the fronts.
class LongRequests {
 public:
  LongRequests(size_t threads, size_t queue_max) : pool_("arm-long-reqs", threads, queue_max) {}

  // A BatchGetItem compares the attributes of its projection for each key; other requests compare each attribute once.
  enum class Projection : uint8_t { kOfOneElement, kOfEachKey };

  // True if a request of `bytes` must not run on a thread of a front. `access`: null without authentication.
  // `of_resources`: the most work of the policy of a resource.
  static bool IsLong(size_t bytes, Projection projection, const Access* access,
                     const access::MatchWeight& of_resources) {
    if (bytes > kBytesMax) return true;
    if (access == nullptr) return false;
    const access::MatchWeight weight = access->weight() + of_resources;
    const size_t elements = std::min(kElementsMax, 1 + bytes / kElementBytesMin);
    const size_t values = projection == Projection::kOfEachKey ? ProjectedBytesMax(bytes) : bytes;
    return weight.values * values + weight.names * elements * kNameBytes > kStepsMax;
  }
  static constexpr Projection ProjectionOf(std::string_view operation) {
    return operation == "BatchGetItem" ? Projection::kOfEachKey : Projection::kOfOneElement;
  }

  // See ThreadPool.
  [[nodiscard]] bool TryRun(Task& task) {
    const bool runs = pool_.TryRun(task);
    (runs ? accepted_ : refused_).fetch_add(1, std::memory_order_relaxed);
    return runs;
  }
  void Stop() { pool_.Stop(); }

  // Number of requests that wait for a thread.
  size_t queue_length() const { return pool_.queue_length(); }
  // Since the start: requests that left the threads of the fronts, and those that were throttled instead.
  uint64_t accepted() const { return accepted_.load(std::memory_order_relaxed); }
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  // Bounds of a request that a front runs itself. Either takes less than a millisecond.
  static constexpr size_t kBytesMax = 256 << 10;
  static constexpr size_t kStepsMax = 512 << 10;
  // Elements of a batch or a transaction, whose rights are checked one by one; and the names of each, which are those
  // of an operation, a table and an index.
  static constexpr size_t kElementsMax = 100;
  static constexpr size_t kElementBytesMin = 16;
  static constexpr size_t kNameBytes = 96;

  // The most bytes of the attributes of a projection, times the keys beside it, of a request of `bytes`.
  static constexpr size_t ProjectedBytesMax(size_t bytes) {
    const size_t keys = std::min(kElementsMax, 1 + bytes / (2 * kElementBytesMin));
    return std::max(bytes, keys * (bytes - std::min(bytes, keys * kElementBytesMin)));
  }

  std::atomic<uint64_t> accepted_ = 0;
  std::atomic<uint64_t> refused_ = 0;
  ThreadPool pool_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_LONG_REQUESTS_H_
