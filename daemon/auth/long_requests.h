#ifndef ARMATURE_DAEMON_AUTH_LONG_REQUESTS_H_
#define ARMATURE_DAEMON_AUTH_LONG_REQUESTS_H_

// Threads for requests that take long to read or to authorise, so that they do not hold up the threads of the fronts.

#include <cstddef>

#include "daemon/auth/policy.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {

// The queue is bounded in number, and in bytes by the memory budget, which counts the requests.
//
// Thread-safety: thread-safe. Lifetime: outlives the fronts.
class LongRequests {
 public:
  LongRequests(size_t threads, size_t queue_max) : pool_("arm-long-reqs", threads, queue_max) {}

  // True if a request of `bytes` must not run on a thread of a front. `access`: null without authentication.
  // `resource_wildcards`: the patterns of the policy of a resource, at most.
  static bool IsLong(size_t bytes, const Access* access, size_t resource_wildcards) {
    const size_t patterns = access == nullptr ? 0 : access->wildcards() + resource_wildcards;
    return bytes > kBytesMax || patterns * bytes > kStepsMax;
  }

  // See ThreadPool.
  [[nodiscard]] bool TryRun(Task& task) { return pool_.TryRun(task); }
  void Stop() { pool_.Stop(); }

 private:
  // Both take less than a millisecond.
  static constexpr size_t kBytesMax = 256 << 10;
  static constexpr size_t kStepsMax = 512 << 10;

  ThreadPool pool_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_LONG_REQUESTS_H_
