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

// Runs tasks in the order they came, on a fixed number of threads; those that others wait for go ahead.
//
// A full queue is an answer, not a wait: TryRun refuses, and the caller tells its client to slow down.
//
// A task that holds something (rows, say) must not stand behind thousands that hold nothing: all who want what it holds
// would wait through them as well. Threads of its own for these would stand idle most of the time, and compete for the
// same processors when they do not; so they have a queue of their own before the same threads. There are never more of
// them than requests that hold or wait for something, which is bounded where they wait. They may come without end
// (every write of a row that is not in memory is one), so that one of the others runs after kAheadInARowMax of them:
// scans get a fifth of the threads at the least, and what holds rows waits a fourth longer at the most.
//
// Thread-safety: thread-safe.
// Lifetime: the destructor runs every task that was accepted, then joins. A task must not destroy its pool.
class ThreadPool {
 public:
  static constexpr size_t kAheadInARowMax = 4;

  // `queue_max`: how many tasks may wait in each of the two queues, beyond those that run. Both counts at least 1.
  ThreadPool(std::string_view name, size_t threads, size_t queue_max);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Accepts `task`, or returns false and leaves it untouched if the queue is full or the pool stops.
  [[nodiscard]] bool TryRun(Task& task);

  // The same for a task that holds what others wait for. It goes ahead of those that do not, and these take no room
  // from it.
  [[nodiscard]] bool TryRunAhead(Task& task);

  // Accept `task` whatever the queue's length, at the end of it or ahead: for the continuation of work that was
  // admitted before. Bounded by what was admitted.
  void RunAdmitted(Task task);
  void RunAdmittedAhead(Task task);

  // Waits until every accepted task has run and stops the threads. Idempotent.
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
