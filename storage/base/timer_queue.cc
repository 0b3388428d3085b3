#include "storage/base/timer_queue.h"

#include <utility>

#include "storage/base/thread_pool.h"

namespace armature {

TimerQueue::TimerQueue() : thread_([this] { Work(); }) {}

TimerQueue::~TimerQueue() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    wake_.Notify();
  }
  thread_.join();
}

TimerQueue::TimerId TimerQueue::AtMonotonic(int64_t due_ns, absl::AnyInvocable<void() &&> callback) {
  const absl::MutexLock lock(&mutex_);
  const TimerId id = next_id_++;
  const auto position = timers_.emplace(Key{due_ns, id}, std::move(callback)).first;
  due_ns_.emplace(id, due_ns);
  // Only a new first timer shortens the thread's sleep.
  if (position == timers_.begin()) wake_.Notify();
  return id;
}

bool TimerQueue::Cancel(TimerId id) {
  const absl::MutexLock lock(&mutex_);
  const auto found = due_ns_.find(id);
  if (found == due_ns_.end()) return false;
  timers_.erase(Key{found->second, id});
  due_ns_.erase(found);
  return true;
}

void TimerQueue::Work() {
  SetThreadName("arm-timer");
  mutex_.Lock();
  while (!stopping_) {
    const int64_t first_ns = timers_.empty() ? kMonotonicNever : timers_.begin()->first.first;
    if (first_ns == kMonotonicNever || MonotonicNs() < first_ns) {
      wake_.Until(&mutex_, first_ns);
      continue;
    }
    absl::AnyInvocable<void()&&> callback = std::move(timers_.begin()->second);
    due_ns_.erase(timers_.begin()->first.second);
    timers_.erase(timers_.begin());
    mutex_.Unlock();
    std::move(callback)();
    mutex_.Lock();
  }
  mutex_.Unlock();
}

}  // namespace armature
