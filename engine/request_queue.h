#ifndef ARMATURE_ENGINE_REQUEST_QUEUE_H_
#define ARMATURE_ENGINE_REQUEST_QUEUE_H_

// A pool for requests that does not let an overload make all of them late.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/thread_pool.h"

namespace armature::engine {

// ThrottlingException for a request that found no room, or waited too long.
absl::Status TooManyWaitError();

// Runs requests on threads of its own, in order of arrival.
//
// If more wait than the threads can serve within `kPatienceNs`, in order of arrival all would be served late, most of
// them for clients that have given up. Until the queue has been empty again, the newest is served first, and requests
// that have waited for that long are not run any more, but refused. A queue of up to kShortQueue requests for each
// thread is never such an overload, however long they take.
//
// A refusal costs as much as a small request, and its client sends the next request at once. So while there are
// requests to run, refusals leave one every kRefusalEveryNs, or when they have waited for kRefusedAfterNs
// (docs/decisions/0020-overload.md).
//
// Thread-safety: thread-safe. Lifetime: the destructor runs or refuses all accepted requests.
class RequestQueue {
 public:
  using Refused = absl::AnyInvocable<void(absl::Status) &&>;

  static constexpr int64_t kPatienceNs = 100'000'000;
  static constexpr size_t kShortQueue = 16;
  static constexpr int64_t kRefusalEveryNs = 1'000'000;
  static constexpr int64_t kRefusedAfterNs = 4'000'000'000;

  // `queue_max`: maximum number of waiting requests. `now_ns`: monotonic clock in nanoseconds; null: the system's.
  RequestQueue(std::string_view name, size_t threads, size_t queue_max, std::function<int64_t()> now_ns);

  // Calls one of both: `run` on one of the threads, or `refused` there. If the queue is full, a request is refused on
  // this thread: the oldest one during an overload, else this one.
  void Run(Task run, Refused refused);

  // Ends all accepted requests and stops the threads. Idempotent.
  void Stop() { pool_.Stop(); }

  size_t length() const;
  // Number of requests that were refused, because the queue was full or they had waited too long.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    Task run;
    Refused refused;
    int64_t since_ns = 0;
  };

  void RunNext();
  // Takes the request to run next, if any, and up to kRefusedAtOnce requests to refuse: at least one request.
  Waiting TakeNext(int64_t now_ns, std::deque<Waiting>* late);
  // True if the oldest request, which has waited too long, is to be refused now.
  bool IsRefusalDue(int64_t now_ns, int64_t patience_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Refuse(Refused refused);

  const size_t threads_;
  const size_t queue_max_;
  const std::function<int64_t()> now_ns_;
  mutable absl::Mutex mutex_;
  std::deque<Waiting> queue_ ABSL_GUARDED_BY(mutex_);
  bool is_overloaded_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t mean_run_ns_ ABSL_GUARDED_BY(mutex_) = 0;  // of the last requests
  int64_t next_refusal_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t tasks_ ABSL_GUARDED_BY(mutex_) = 0;  // of the pool, not begun; at least one for each waiting request
  std::atomic<uint64_t> refused_ = 0;
  // Each task runs whichever request is next. Last: its threads use the members above.
  ThreadPool pool_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_REQUEST_QUEUE_H_
