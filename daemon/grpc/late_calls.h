#ifndef ARMATURE_DAEMON_GRPC_LATE_CALLS_H_
#define ARMATURE_DAEMON_GRPC_LATE_CALLS_H_

// Calls that wait because gRPC's threads read their connections too late: an overload.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "engine/parked_requests.h"
#include "storage/base/deadline.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"

namespace armature::daemon {

// Calls that a connection may have open, as gRPC is told. Further ones wait in the client: answers that a client does
// not read must not accumulate without bound, and gRPC as Debian builds it searches all open calls that are not parked
// in each step of a call. RFC 9113 recommends no fewer.
inline constexpr int kCallsPerConnectionMax = 100;
// Calls beyond this number are refused unread: the client does not keep to the other one. For a while the daemon counts
// calls that have ended for the client.
inline constexpr int kCurrentCallsMax = 4 * kCallsPerConnectionMax;

// How late the calls that a connection sent at once were read. Part of what is known of the connection.
//
// Thread-safety: a race of two threads may have the question asked twice.
struct CallBurst {
  std::atomic<int64_t> last_ns = 0;  // when its last call was read
  std::atomic<int64_t> age_ms = 0;   // as the connection was asked last
  std::atomic<int64_t> asked_ns = 0;
};

// Calls that are served on gRPC's threads queue in the sockets, where nobody sees them. But the system tells when bytes
// last arrived on a connection. In a crowd, a client sends its calls when it gets its answers, and waits: when they are
// read, that time has passed since they arrived. The first of a burst is the one that tells, since during the others
// answers leave and the next calls arrive.
//
// There is an overload if more than kCrowd calls wait, and do not become fewer, as they do after a pause of the daemon.
// That is known in two ways. When bursts begin late, the bytes that wait in all sockets are counted, every kLookNs: the
// calls in them are as many as there is room for, and the second count must not be smaller. And it is so if in
// two intervals in succession most calls were in bursts later than kOverloadMs, and as many by Little's law: then also
// if gRPC has read them, or if the system keeps few bytes of a large request. So some large batches are none.
//
// Then, until no call waits, bursts that come later than kLateMs are parked and leave as ParkedRequests says, and those
// that are read in time are served at once. A long pause of the daemon with so many calls looks the same: they are
// parked, and run as soon as no more come late.
//
// Thread-safety: thread-safe. Lifetime: Close before what the calls use ends.
class LateCalls {
 public:
  using Refused = engine::ParkedRequests::Refused;
  // Milliseconds since bytes last arrived on the connection of the call; nullopt if unknown.
  using Age = absl::FunctionRef<std::optional<int64_t>()>;
  // Bytes that have arrived on all connections, and that gRPC has not read; of each connection at most `most`.
  using Unread = absl::FunctionRef<uint64_t(uint64_t most)>;
  using Clock = std::function<int64_t()>;  // monotonic, in nanoseconds

  static constexpr int64_t kOverloadMs = 20;
  static constexpr int64_t kIntervalNs = 25'000'000;
  static constexpr int64_t kOverloadMinNs = 100'000'000;  // an overload lasts as long at least
  static constexpr int64_t kCrowd = 1024;
  static constexpr int64_t kLookNs = 10'000'000;
  static constexpr int64_t kLooksWithinNs = 3 * kLookNs;  // two looks in succession
  // The head of a call, at most, of a client that repeats most of it.
  static constexpr size_t kHeadBytes = 256;
  // Later than most calls at half of the peak on a machine with other work: those that are parked keep an overload
  // going. The system counts in ticks of up to 4 ms.
  static constexpr int64_t kLateMs = 7;
  // While the process uses up its processors: one tick, so that most of those that are served wait less than two.
  static constexpr int64_t kLateBusyMs = 3;
  // A longer pause between two calls of a connection ends a burst.
  static constexpr int64_t kPauseNs = 5'000'000;
  // Bursts in an interval, without which it says nothing.
  static constexpr int64_t kBurstsMin = 4;
  static constexpr size_t kParkedMax = 16'384;

  // Called when an overload begins, with true, and when it ends. Short.
  using OnCrowd = std::function<void(bool crowded)>;

  // True while the overload goes on elsewhere with calls that were served here, see ParkedRequests. Not called after
  // Close.
  using IsElsewhere = std::function<bool()>;

  // `was_busy`: as for ParkedRequests.
  explicit LateCalls(OnCrowd on_crowd = {}, IsElsewhere is_elsewhere = {}, Clock clock = MonotonicNs,
                     std::function<bool()> was_busy = {})
      : on_crowd_(std::move(on_crowd)),
        is_elsewhere_(is_elsewhere == nullptr ? [] { return false; } : std::move(is_elsewhere)),
        clock_(std::move(clock)),
        parked_(kParkedMax, std::move(was_busy)) {}
  LateCalls(const LateCalls&) = delete;
  LateCalls& operator=(const LateCalls&) = delete;

  // True if a call of this size that has just been read at `now_ns`, a time of a monotonic clock, is to be parked.
  // `burst`: of its connection.
  bool MustWait(CallBurst* burst, int64_t now_ns, size_t bytes, Age age, Unread unread);
  // Calls one of both later: `run` on a thread for such calls, or `refused` on any thread, also this one.
  void Park(Task run, Refused refused);
  // Refuses all parked calls, and further ones, with `status`.
  void Close(const absl::Status& status);

  size_t parked() const;
  // Number of calls that were refused.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  bool is_overloaded() const { return is_overloaded_.load(std::memory_order_relaxed); }

 private:
  // Counts a call of a burst of this age, in normal times.
  void Note(int64_t now_ns, int64_t age_ms, bool begins_burst);
  // True if more calls than kCrowd wait unread, and no fewer than before.
  bool SeesCrowd(int64_t now_ns, Unread unread);
  void Begin();
  // Ends an interval. True if it was one of an overload.
  bool EndInterval(int64_t ns);
  void Tick();
  void StartTimer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Refuse(engine::ParkedRequests::Request request, const absl::Status& status);

  void SetOverloaded(bool overloaded) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const OnCrowd on_crowd_;
  const IsElsewhere is_elsewhere_;
  const Clock clock_;
  std::atomic<bool> is_overloaded_ = false;
  std::atomic<int64_t> late_ms_ = kLateMs;
  std::atomic<uint64_t> refused_ = 0;

  mutable absl::Mutex mutex_;
  engine::ParkedRequests parked_ ABSL_GUARDED_BY(mutex_);
  bool is_timed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);        // not OK: closed
  int64_t overloaded_ns_ ABSL_GUARDED_BY(mutex_) = 0;  // begin of the last overload
  uint64_t ticks_ ABSL_GUARDED_BY(mutex_) = 0;

  // In normal times. Threads that end an interval at once count a few calls in one or the other.
  struct Interval {
    std::atomic<int64_t> begin_ns = 0;
    std::atomic<int64_t> bursts = 0;
    std::atomic<int64_t> calls = 0;
    std::atomic<int64_t> late_calls = 0;
    std::atomic<int64_t> late_ms = 0;     // sum of the ages of the late calls
    std::atomic<bool> was_crowd = false;  // the one before
  };
  Interval interval_;
  std::atomic<int64_t> recent_bytes_ = 0;  // of the last 64 calls, about
  std::atomic<int64_t> looked_ns_ = 0;
  std::atomic<uint64_t> crowd_bytes_ = 0;  // unread at the last look; 0: no crowd

  TimerQueue timers_;  // of these calls only, so they may run there
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_LATE_CALLS_H_
