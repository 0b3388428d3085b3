#ifndef ARMATURE_STORAGE_BASE_THREAD_POOL_H_
#define ARMATURE_STORAGE_BASE_THREAD_POOL_H_

// A named thread pool with a bounded queue.

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"

namespace armature {

using Task = absl::AnyInvocable<void() &&>;

// Number of processors that the process may use: those of its affinity, at least 1. A quota of time is not seen.
size_t UsableProcessors();

// Runs tasks in order of arrival on a fixed number of threads.
//
// Submission never blocks: if the queue is full, TryRun refuses and the caller tells its client to slow down.
//
// Thread-safety: thread-safe.
// Lifetime: the destructor runs all accepted tasks, then joins the threads. A task must not destroy its pool.
class ThreadPool {
 public:
  // `queue_max`: maximum number of waiting tasks. `threads` and `queue_max` are at least 1.
  ThreadPool(std::string_view name, size_t threads, size_t queue_max);
  ~ThreadPool() { Stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Accepts `task`. Returns false, with `task` untouched, if the queue is full or the pool stops.
  [[nodiscard]] bool TryRun(Task& task);

  // Accepts `task` regardless of the queue's length. For the continuation of admitted work, which bounds the number of
  // such tasks.
  void RunAdmitted(Task task);

  // Runs all accepted tasks and stops the threads. Idempotent.
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
