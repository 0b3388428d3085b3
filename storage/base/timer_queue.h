#ifndef ARMATURE_STORAGE_BASE_TIMER_QUEUE_H_
#define ARMATURE_STORAGE_BASE_TIMER_QUEUE_H_

// One thread that runs callbacks at given times, such as the deadlines of parked requests.

#include <cstdint>
#include <map>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/deadline.h"
#include "storage/base/monotonic_wait.h"

namespace armature {

// Thread-safety: thread-safe. Callbacks run one after another on the queue's thread and must be short.
// Lifetime: the destructor drops pending callbacks and joins the thread.
class TimerQueue {
 public:
  using TimerId = uint64_t;

  TimerQueue();
  ~TimerQueue();
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  // Runs `callback` once at `when` or soon after. A timer at Deadline::Never() never runs.
  TimerId At(Deadline when, absl::AnyInvocable<void() &&> callback) {
    return AtMonotonic(when.ns(), std::move(callback));
  }
  // Runs `callback` once at `due_ns` of MonotonicNs or soon after; never at kMonotonicNever.
  TimerId AtMonotonic(int64_t due_ns, absl::AnyInvocable<void() &&> callback);

  // Removes a timer. Returns false if its callback has run, is running, or never existed: the caller must expect the
  // callback.
  bool Cancel(TimerId id);

 private:
  using Key = std::pair<int64_t, TimerId>;
  void Work();

  absl::Mutex mutex_;
  MonotonicWait wake_;
  std::map<Key, absl::AnyInvocable<void() &&>> timers_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<TimerId, int64_t> due_ns_ ABSL_GUARDED_BY(mutex_);  // of each timer
  TimerId next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_TIMER_QUEUE_H_
