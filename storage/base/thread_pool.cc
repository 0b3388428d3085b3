#include "storage/base/thread_pool.h"

#include <pthread.h>

#include <string>
#include <utility>

namespace armature {

void SetThreadName(std::string_view name) {
  const std::string kept(name.substr(0, 15));
  pthread_setname_np(pthread_self(), kept.c_str());
}

ThreadPool::ThreadPool(std::string_view name, size_t threads, size_t queue_max) : name_(name), queue_max_(queue_max) {
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
}

bool ThreadPool::TryPush(Queue* queue, Task& task) {
  const absl::MutexLock lock(&mutex_);
  if (stopping_ || queue->size() >= queue_max_) return false;
  queue->push_back(std::move(task));
  if (idle_ > 0) wake_.Signal();
  return true;
}

void ThreadPool::Push(Queue* queue, Task task) {
  {
    const absl::MutexLock lock(&mutex_);
    if (!stopping_) {
      queue->push_back(std::move(task));
      if (idle_ > 0) wake_.Signal();
      return;
    }
  }
  // The threads may have ended already, but an admitted task must run.
  std::move(task)();
}

Task ThreadPool::TakeNext() {
  const bool ahead = !ahead_.empty() && (queue_.empty() || ahead_in_a_row_ < kAheadInARowMax);
  ahead_in_a_row_ = ahead ? ahead_in_a_row_ + 1 : 0;
  Queue& queue = ahead ? ahead_ : queue_;
  Task task = std::move(queue.front());
  queue.pop_front();
  return task;
}

void ThreadPool::Stop() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    wake_.SignalAll();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

size_t ThreadPool::queue_length() const {
  const absl::MutexLock lock(&mutex_);
  return queue_.size() + ahead_.size();
}

void ThreadPool::Work() {
  SetThreadName(name_);
  while (true) {
    Task task;
    {
      const absl::MutexLock lock(&mutex_);
      ++idle_;
      while (queue_.empty() && ahead_.empty() && !stopping_) wake_.Wait(&mutex_);
      --idle_;
      if (queue_.empty() && ahead_.empty()) return;
      task = TakeNext();
    }
    std::move(task)();
  }
}

}  // namespace armature
