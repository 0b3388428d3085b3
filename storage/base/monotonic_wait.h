#ifndef ARMATURE_STORAGE_BASE_MONOTONIC_WAIT_H_
#define ARMATURE_STORAGE_BASE_MONOTONIC_WAIT_H_

// Waits that last as long as they say when the system's clock is set. The timed waits of absl::CondVar end at a time of
// the wall clock: set back by an hour, it makes them an hour longer.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/base/time_histogram.h"

namespace armature {

inline constexpr int64_t kMonotonicNever = std::numeric_limits<int64_t>::max();

// The time of MonotonicNs after `time` from now; kMonotonicNever for a time that is never reached.
inline int64_t MonotonicAfter(absl::Duration time) {
  const int64_t now_ns = MonotonicNs();
  const int64_t left_ns = std::max(int64_t{0}, absl::ToInt64Nanoseconds(time));
  return left_ns >= kMonotonicNever - now_ns ? kMonotonicNever : now_ns + left_ns;
}

// A condition variable whose waits end at times of MonotonicNs.
//
// Thread-safety: thread-safe.
class MonotonicWait {
 public:
  // Waits until Notify or until `due_ns`, without `mutex`. May return early: call it in a loop over the condition and
  // MonotonicNs.
  void Until(absl::Mutex* mutex, int64_t due_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Held held{mutex};
    wake_.wait_until(held, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(due_ns)));
  }
  // Wakes all waits.
  void Notify() { wake_.notify_all(); }
  // Wakes one wait, for waiters of equal kind.
  void NotifyOne() { wake_.notify_one(); }

 private:
  // The names by which std::condition_variable_any releases and takes the mutex.
  struct Held {
    absl::Mutex* mutex;
    void lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex->Lock(); }
    void unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex->Unlock(); }
  };

  std::condition_variable_any wake_;
};

// An order to stop that interrupts the pauses of threads which look for it.
//
// Thread-safety: thread-safe.
class StopSignal {
 public:
  void Stop() {
    const absl::MutexLock lock(&mutex_);
    is_stopped_ = true;
    wake_.Notify();
  }
  bool is_stopped() const {
    const absl::MutexLock lock(&mutex_);
    return is_stopped_;
  }
  // Waits for Stop, at most `pause`. Returns is_stopped().
  bool WaitFor(absl::Duration pause) {
    const int64_t due_ns = MonotonicAfter(pause);
    const absl::MutexLock lock(&mutex_);
    while (!is_stopped_ && MonotonicNs() < due_ns) wake_.Until(&mutex_, due_ns);
    return is_stopped_;
  }

 private:
  mutable absl::Mutex mutex_;
  MonotonicWait wake_;
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_MONOTONIC_WAIT_H_
