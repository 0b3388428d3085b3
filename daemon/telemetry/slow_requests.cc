#include "daemon/telemetry/slow_requests.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace armature::daemon {

void SlowRequests::Add(RequestFacts facts) {
  const absl::MutexLock lock(&mutex_);
  requests_.push_front(std::move(facts));
  if (requests_.size() > kKept) requests_.pop_back();
}

std::vector<RequestFacts> SlowRequests::List(int64_t at_least_ns, size_t max) const {
  std::vector<RequestFacts> list;
  const absl::MutexLock lock(&mutex_);
  for (const RequestFacts& each : requests_) {
    if (list.size() == max) break;
    if (each.took_ns >= at_least_ns) list.push_back(each);
  }
  return list;
}

}  // namespace armature::daemon
