#include "storage/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <string>
#include <utility>

namespace armature {

size_t UsableProcessors() {
  // hardware_concurrency counts all processors of the machine.
  cpu_set_t usable;
  // Fails on a machine with more processors than the set has room for.
  const bool is_known = sched_getaffinity(0, sizeof(usable), &usable) == 0;
  return std::max<size_t>(is_known ? static_cast<size_t>(CPU_COUNT(&usable)) : std::thread::hardware_concurrency(), 1);
}

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

bool ThreadPool::TryRun(Task& task) {
  const absl::MutexLock lock(&mutex_);
  if (stopping_ || queue_.size() >= queue_max_) return false;
  queue_.push_back(std::move(task));
  if (idle_ > 0) wake_.Signal();
  return true;
}

void ThreadPool::RunAdmitted(Task task) {
  {
    const absl::MutexLock lock(&mutex_);
    if (!stopping_) {
      queue_.push_back(std::move(task));
      if (idle_ > 0) wake_.Signal();
      return;
    }
  }
  // The threads may have ended already, but an admitted task must run.
  std::move(task)();
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
  return queue_.size();
}

void ThreadPool::Work() {
  SetThreadName(name_);
  while (true) {
    Task task;
    {
      const absl::MutexLock lock(&mutex_);
      ++idle_;
      while (queue_.empty() && !stopping_) wake_.Wait(&mutex_);
      --idle_;
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    std::move(task)();
  }
}

}  // namespace armature
