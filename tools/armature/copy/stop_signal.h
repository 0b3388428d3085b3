#ifndef ARMATURE_TOOLS_ARMATURE_COPY_STOP_SIGNAL_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_STOP_SIGNAL_H_

// Ends the work of several threads, and their pauses, when one of them has failed.

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace armature::cli::copy {

// Thread-safe.
class StopSignal {
 public:
  // The first error is kept.
  void Fail(const absl::Status& why) {
    const absl::MutexLock lock(&mutex_);
    if (status_.ok()) status_ = why;
  }

  // OK while the work goes on.
  absl::Status status() const {
    const absl::MutexLock lock(&mutex_);
    return status_;
  }

  // Returns after this time, or at once when the work fails. Errors: the reason.
  absl::Status Wait(absl::Duration time) const {
    const absl::MutexLock lock(&mutex_);
    const auto has_failed = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !status_.ok(); };
    mutex_.AwaitWithTimeout(absl::Condition(&has_failed), time);
    return status_;
  }

 private:
  mutable absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_STOP_SIGNAL_H_
