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

// Runs tasks in order of arrival on a fixed number of threads. Tasks that others wait for run ahead.
//
// Submission never blocks: if the queue is full, TryRun refuses and the caller tells its client to slow down.
//
// A task that holds row locks must not queue behind thousands of tasks that hold none: all requests that wait for its
// locks would wait as long. Separate threads for such tasks would be idle most of the time, and otherwise compete for
// the same processors. So they have a separate queue in front of the same threads. Their number is bounded by the limit
// on parked requests. They may arrive without pause (every write of a row that is not in memory is one), so one
// ordinary task runs after every kAheadInARowMax of them: ordinary tasks, such as scans, get at least a fifth of the
// threads, and lock holders wait at most a fourth longer.
//
// Thread-safety: thread-safe.
// Lifetime: the destructor runs all accepted tasks, then joins the threads. A task must not destroy its pool.
class ThreadPool {
 public:
  static constexpr size_t kAheadInARowMax = 4;

  // `queue_max`: maximum number of waiting tasks in each of the two queues. `threads` and `queue_max` are at least 1.
  ThreadPool(std::string_view name, size_t threads, size_t queue_max);
  ~ThreadPool() { Stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Accepts `task`. Returns false, with `task` untouched, if the queue is full or the pool stops.
  [[nodiscard]] bool TryRun(Task& task) { return TryPush(&queue_, task); }

  // The same for a task that others wait for. It runs ahead of ordinary tasks, and has a queue of its own.
  [[nodiscard]] bool TryRunAhead(Task& task) { return TryPush(&ahead_, task); }

  // Accept `task` regardless of the queue's length, at its end or ahead. For the continuation of admitted work, which
  // bounds the number of such tasks.
  void RunAdmitted(Task task) { Push(&queue_, std::move(task)); }
  void RunAdmittedAhead(Task task) { Push(&ahead_, std::move(task)); }

  // Runs all accepted tasks and stops the threads. Idempotent.
  void Stop();

  size_t queue_length() const;

 private:
  using Queue = std::deque<Task>;

  bool TryPush(Queue* queue, Task& task);
  void Push(Queue* queue, Task task);
  Task TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Work();

  const std::string name_;
  const size_t queue_max_;
  mutable absl::Mutex mutex_;
  absl::CondVar wake_;
  Queue queue_ ABSL_GUARDED_BY(mutex_);
  Queue ahead_ ABSL_GUARDED_BY(mutex_);
  size_t ahead_in_a_row_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t idle_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// Names the calling thread for debuggers and `top -H`; at most 15 characters are kept.
void SetThreadName(std::string_view name);

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_THREAD_POOL_H_
