#ifndef ARMATURE_STORAGE_BASE_WORKER_H_
#define ARMATURE_STORAGE_BASE_WORKER_H_

// A thread of its own for work that comes again and again.

#include <cstdint>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/base/monotonic_wait.h"

namespace armature {

// One named thread that runs turns, one after another, until it is stopped. Each turn does a bounded part of the work
// and returns when the next one begins. In between the thread rests; a stop ends every rest at once.
//
// A turn that fails returns WhenWoken(pause): it is tried again after the pause, or earlier if there is new work.
//
// Thread-safety: thread-safe, except that one thread calls Start and Stop. Lifetime: what the turns use must outlive
// the worker; as the last member of its owner, it ends before the other members do.
class Worker {
 public:
  // The rest after a turn.
  struct Next {
    absl::Duration rest_max = absl::ZeroDuration();
    bool begins_by_wake = false;
    double share = 0;  // of the time that the turns may take; 0: the rest is rest_max, whatever the turn took
    bool holds_stop = false;
    bool is_never = false;

    // There is more work.
    static Next AtOnce() { return {}; }
    // There is no work until Wake; with `rest_max`, a turn looks for it after that time too. A wake during a turn
    // counts for its rest.
    static Next WhenWoken(absl::Duration rest_max = absl::InfiniteDuration()) {
      return {.rest_max = rest_max, .begins_by_wake = true};
    }
    // There is more work, but the turns take at most `share` of the time, with rests of at most `rest_max`. Wakes do
    // not shorten the rest.
    static Next Share(double share, absl::Duration rest_max) { return {.rest_max = rest_max, .share = share}; }
    // There will be no more work: the thread ends.
    static Next Never() { return {.is_never = true}; }
    // If `holds`, a stop waits for this turn, which begins when it would begin without the stop.
    Next EvenIfStopped(bool holds = true) const {
      Next next = *this;
      next.holds_stop = holds;
      return next;
    }
  };
  using Turn = absl::AnyInvocable<Next()>;
  using Ended = absl::AnyInvocable<void()>;

  // `name`: of the thread, at most 15 characters. `ended`, if given, runs on the thread when it ends, after the last
  // turn.
  Worker(std::string name, Turn turn, Ended ended = nullptr);
  ~Worker() { Stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Starts the thread, once. `first`: when the first turn begins.
  void Start(Next first = Next::AtOnce());
  // Begins a turn if the thread rests and may be woken, or after the present rest or turn.
  void Wake();
  // Ends the thread after its present turn, and does not wait for that.
  void RequestStop();
  // Ends the thread after its present turn, and waits for that. Not called by a turn. Idempotent.
  void Stop();

  // For long turns, which end early when the worker stops.
  bool is_stopping() const;
  // For turns that wait in between: waits for a wake, until `until_ns` of MonotonicNs and not beyond a stop. Returns
  // true if it was woken before. The rest after the turn then does not see this wake.
  bool WaitForWake(int64_t until_ns);

 private:
  void Work(Next next);
  // Waits until the next turn begins. False: the thread ends.
  bool Rest(const Next& next, int64_t until_ns);

  const std::string name_;
  Turn turn_;
  Ended ended_;
  mutable absl::Mutex mutex_;
  MonotonicWait wake_;
  bool is_woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_WORKER_H_
