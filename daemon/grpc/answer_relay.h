#ifndef ARMATURE_DAEMON_GRPC_ANSWER_RELAY_H_
#define ARMATURE_DAEMON_GRPC_ANSWER_RELAY_H_

// Moves the ends of calls to gRPC's threads, many at once.

#include <cstddef>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace armature::daemon {

// Marks the current thread as one of gRPC's while it exists: gRPC has called us.
class OnGrpcThread {
 public:
  OnGrpcThread();
  ~OnGrpcThread();
  OnGrpcThread(const OnGrpcThread&) = delete;
  OnGrpcThread& operator=(const OnGrpcThread&) = delete;

  static bool IsHere();

 private:
  const bool was_here_;
};

// A call whose end may be left to an AnswerRelay.
class RelayedCall {
 public:
  // Has gRPC call AnswerRelay::Run for this call, on one of its threads. Does not block.
  virtual void WakeForEnd() = 0;
  // Ends the call. It may be gone when this returns.
  virtual void EndNow() = 0;

 protected:
  ~RelayedCall() = default;
};

// A thread that ends a call has gRPC write the answer, and then wakes gRPC's threads for each of the call's last
// events. The thread that answers committed writes has many calls to end at once: here it wakes one thread of gRPC,
// which ends them all and takes up the events itself.
//
// Thread-safety: thread-safe. Lifetime: outlives the calls. A call that was taken is not ended before EndNow.
class AnswerRelay {
 public:
  // With fewer calls in progress than this, a call is better ended where it is: that is one wake less for its client.
  static constexpr size_t kCallsMin = 4;

  // Takes over the end of `call`, which is not asked for on one of gRPC's threads. False if the caller should end it
  // itself, because few calls are in progress.
  [[nodiscard]] bool Take(RelayedCall* call, size_t calls_in_progress);
  // Ends the calls taken so far, and `woken`, the one whose WakeForEnd led here.
  void Run(RelayedCall* woken);

 private:
  absl::Mutex mutex_;
  bool is_waking_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<RelayedCall*> calls_ ABSL_GUARDED_BY(mutex_);  // without the one that wakes
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_ANSWER_RELAY_H_
