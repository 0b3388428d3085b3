#ifndef ARMATURE_DAEMON_GRPC_ARRIVAL_GATE_H_
#define ARMATURE_DAEMON_GRPC_ARRIVAL_GATE_H_

// Bound on the calls of a connection that are begun at once during an overload.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "engine/parked_requests.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"

namespace armature::daemon {

// The calls of a connection that have begun, and whose requests are not read yet. Members of the gate.
struct ArrivalLane {
  size_t arriving = 0;
  size_t most = 0;      // of them at once, in the window
  uint64_t window = 0;  // number of the window
};

// gRPC reads all that a connection has sent, begins all its calls, and reads from the next connection when the requests
// of these calls are read, too. So when there are more calls than can be served, those that a connection has sent since
// its last turn arrive at once, and the sum of these numbers over all connections is the number of calls that each call
// has in front of it. More than kCrowd in a window are an overload. From then on, until no call is parked, each
// connection may have its part of kServed calls at once; more are parked before their requests are read
// (engine::ParkedRequests).
//
// Thread-safety: thread-safe. Lifetime: Close before the calls' server ends.
class ArrivalGate {
 public:
  using Refused = engine::ParkedRequests::Refused;

  static constexpr size_t kCrowd = 1024;
  static constexpr size_t kServed = 192;
  static constexpr size_t kServedByLane = 2;  // at least
  static constexpr size_t kParkedMax = 16'384;
  static constexpr int64_t kWindowNs = 100'000'000;

  // `now_ns`: monotonic clock; null: the system's.
  explicit ArrivalGate(std::function<int64_t()> now_ns = nullptr);
  ArrivalGate(const ArrivalGate&) = delete;
  ArrivalGate& operator=(const ArrivalGate&) = delete;

  // True if a call that has arrived may go on: it then counts until Arrived. If not, it is to be parked.
  bool MayBegin(ArrivalLane* lane);
  // Calls one of both later: `run`, for which the call counts until Arrived, or `refused`. On a thread of the gate, or
  // on this one. `lane` must be there so long.
  void Park(ArrivalLane* lane, Task run, Refused refused);
  // The request of a call was read, or will not be.
  void Arrived(ArrivalLane* lane);

  // Refuses all parked calls, and further ones, with `status`.
  void Close(const absl::Status& status);

  size_t parked() const;
  // Number of calls that were refused.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  void RollWindow(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Count(ArrivalLane* lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartTimer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tick();
  void Refuse(engine::ParkedRequests::Request request, const absl::Status& status);

  const std::function<int64_t()> now_ns_;
  std::atomic<uint64_t> refused_ = 0;

  // The calls of a window.
  struct Crowd {
    size_t calls = 0;  // sum of the most calls at once of each connection
    size_t lanes = 0;
  };

  mutable absl::Mutex mutex_;
  uint64_t window_ ABSL_GUARDED_BY(mutex_) = 1;
  int64_t window_ends_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  Crowd crowd_ ABSL_GUARDED_BY(mutex_);
  Crowd crowd_before_ ABSL_GUARDED_BY(mutex_);  // of the window before
  bool is_overloaded_ ABSL_GUARDED_BY(mutex_) = false;
  engine::ParkedRequests parked_ ABSL_GUARDED_BY(mutex_){kParkedMax};
  bool is_timed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);  // not OK: closed
  // Last: its thread uses the members above.
  TimerQueue timers_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_ARRIVAL_GATE_H_
