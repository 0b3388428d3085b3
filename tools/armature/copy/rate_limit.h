#ifndef ARMATURE_TOOLS_ARMATURE_COPY_RATE_LIMIT_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_RATE_LIMIT_H_

#include <algorithm>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace armature::cli::copy {

// A rate shared by several threads. Thread-safe.
class RateLimit {
 public:
  // 0: no limit.
  explicit RateLimit(double per_second) : per_second_(per_second) {}

  // Takes an amount, which may be known only after it was used, and returns the pause that keeps the rate: until the
  // amounts taken before have had their time. Unused time is not saved up.
  absl::Duration Take(double amount, absl::Time now) {
    if (per_second_ <= 0) return absl::ZeroDuration();
    const absl::MutexLock lock(&mutex_);
    free_ = std::max(free_, now);
    const absl::Duration pause = free_ - now;
    free_ += absl::Seconds(amount / per_second_);
    return pause;
  }

 private:
  const double per_second_;
  absl::Mutex mutex_;
  absl::Time free_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_RATE_LIMIT_H_
