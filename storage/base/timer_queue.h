#ifndef ARMATURE_STORAGE_BASE_TIMER_QUEUE_H_
#define ARMATURE_STORAGE_BASE_TIMER_QUEUE_H_

// One thread that runs callbacks when their time has come: deadlines of parked requests.

#include <cstdint>
#include <map>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace armature {

// Thread-safety: thread-safe. Callbacks run one after another on the queue's thread and must be short.
// Lifetime: the destructor drops callbacks whose time has not come, and joins.
class TimerQueue {
 public:
  using TimerId = uint64_t;

  TimerQueue();
  ~TimerQueue();
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  // Runs `callback` once at `when` or soon after. InfiniteFuture is legal and never comes.
  TimerId At(absl::Time when, absl::AnyInvocable<void() &&> callback);

  // Forgets a timer. False if it has run, runs now, or never was: the caller must expect the callback.
  bool Cancel(TimerId id, absl::Time when);

 private:
  using Key = std::pair<absl::Time, TimerId>;
  void Work();

  absl::Mutex mutex_;
  absl::CondVar wake_;
  std::map<Key, absl::AnyInvocable<void() &&>> timers_ ABSL_GUARDED_BY(mutex_);
  TimerId next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_TIMER_QUEUE_H_
