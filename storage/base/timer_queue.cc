#include "storage/base/timer_queue.h"

#include <utility>

#include "absl/time/clock.h"
#include "storage/base/thread_pool.h"

namespace armature {

TimerQueue::TimerQueue() : thread_([this] { Work(); }) {}

TimerQueue::~TimerQueue() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    wake_.Signal();
  }
  thread_.join();
}

TimerQueue::TimerId TimerQueue::At(absl::Time when, absl::AnyInvocable<void() &&> callback) {
  const absl::MutexLock lock(&mutex_);
  const TimerId id = next_id_++;
  const auto position = timers_.emplace(Key{when, id}, std::move(callback)).first;
  // Only a new first timer shortens the thread's sleep.
  if (position == timers_.begin()) wake_.Signal();
  return id;
}

bool TimerQueue::Cancel(TimerId id, absl::Time when) {
  const absl::MutexLock lock(&mutex_);
  return timers_.erase(Key{when, id}) > 0;
}

void TimerQueue::Work() {
  SetThreadName("arm-timer");
  mutex_.Lock();
  while (!stopping_) {
    if (timers_.empty()) {
      wake_.Wait(&mutex_);
      continue;
    }
    const absl::Time first = timers_.begin()->first.first;
    if (absl::Now() < first) {
      wake_.WaitWithDeadline(&mutex_, first);
      continue;
    }
    absl::AnyInvocable<void()&&> callback = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    mutex_.Unlock();
    std::move(callback)();
    mutex_.Lock();
  }
  mutex_.Unlock();
}

}  // namespace armature
