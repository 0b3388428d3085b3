#ifndef ARMATURE_DAEMON_TELEMETRY_SLOW_REQUESTS_H_
#define ARMATURE_DAEMON_TELEMETRY_SLOW_REQUESTS_H_

// The slow requests of the recent past.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/telemetry/request_facts.h"

namespace armature::daemon {

// Thread-safety: thread-safe.
class SlowRequests {
 public:
  // The last ones are kept.
  static constexpr size_t kKept = 256;

  void Add(RequestFacts facts);

  // The last ones, the latest in front; at most `max`, of those that took `at_least_ns`.
  std::vector<RequestFacts> List(int64_t at_least_ns, size_t max) const;

 private:
  mutable absl::Mutex mutex_;
  std::deque<RequestFacts> requests_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_TELEMETRY_SLOW_REQUESTS_H_
