#ifndef ARMATURE_STORAGE_BASE_THREAD_POOL_H_
#define ARMATURE_STORAGE_BASE_THREAD_POOL_H_

// A named pool of threads behind a bounded queue.

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"

namespace armature {

using Task = absl::AnyInvocable<void() &&>;

// Runs tasks in the order they came, on a fixed number of threads.
//
// A full queue is an answer, not a wait: TryRun refuses, and the caller tells its client to slow down.
//
// Thread-safety: thread-safe.
// Lifetime: the destructor runs every task that was accepted, then joins. A task must not destroy its pool.
class ThreadPool {
 public:
  // `queue_max`: how many tasks may wait, beyond those that run. Both counts at least 1.
  ThreadPool(std::string_view name, size_t threads, size_t queue_max);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Accepts `task`, or returns false and leaves it untouched if the queue is full or the pool stops.
  [[nodiscard]] bool TryRun(Task& task);

  // Accepts `task` whatever the queue's length: for the continuation of work that was admitted before and
  // holds something others wait for. Bounded by what was admitted.
  void RunAdmitted(Task task);

  // Waits until every accepted task has run and stops the threads. Idempotent.
  void Stop();

  size_t queue_length() const;

 private:
  void Work();

  const std::string name_;
  const size_t queue_max_;
  mutable absl::Mutex mutex_;
  absl::CondVar wake_;
  std::deque<Task> queue_ ABSL_GUARDED_BY(mutex_);
  size_t idle_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// Names the calling thread for debuggers and `top -H`; at most 15 characters are kept.
void SetThreadName(std::string_view name);

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_THREAD_POOL_H_
