#ifndef ARMATURE_ENGINE_PARKED_REQUESTS_H_
#define ARMATURE_ENGINE_PARKED_REQUESTS_H_

// Requests that wait because more came than can be served, and the pace at which they leave.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "storage/base/thread_pool.h"

namespace armature::engine {

// While requests are parked, new ones are served first, as far as there is room. The oldest is refused, at a pace that
// lets each wait for about kRefusedAfterNs: its client sends nothing in its place meanwhile. During an overload another
// request is parked for each that was refused, because its client sends the next one. In quiet windows, in which fewer
// are parked and the process has time left, requests run, the newest first: a few in the first quiet window, twice as
// many in each further one, and half as many after each other window. If windows would be quiet but for a busy process,
// the process works on what the overload has left behind: after kOverWindows such windows, refusals leave twice as fast
// in each further one (docs/decisions/0020-overload.md).
//
// Thread-safety: none, its owner has a lock. Lifetime: its owner ends all requests before it is destroyed. Times are
// monotonic, in nanoseconds.
class ParkedRequests {
 public:
  using Refused = absl::AnyInvocable<void(absl::Status) &&>;
  struct Request {
    Task run;
    Refused refused;
    int64_t since_ns = 0;
  };
  struct Due {
    std::vector<Request> run;
    std::vector<Request> refuse;
  };

  static constexpr int64_t kRefusedAfterNs = 4'000'000'000;
  // A request is not refused earlier.
  static constexpr int64_t kRefusedNotBeforeNs = 100'000'000;
  // A window is quiet if in it and in the one before less than half as many were parked as refused, or none, and the
  // process was not busy.
  static constexpr int64_t kWindowNs = 50'000'000;
  static constexpr size_t kQuietPart = 2;
  // How often TakeDue should be called while there are requests.
  static constexpr int64_t kTickNs = 2'000'000;
  static constexpr size_t kRunAtOnceMax = 32;
  static constexpr int64_t kPaceMax = 8;
  static constexpr int64_t kRefusalEveryMinNs = 100'000;
  static constexpr int kOverWindows = 4;

  // `was_busy`: as ProcessorUse::WasBusy, which is the default.
  explicit ParkedRequests(size_t max, std::function<bool()> was_busy = {});
  ParkedRequests(const ParkedRequests&) = delete;
  ParkedRequests& operator=(const ParkedRequests&) = delete;

  // If there are too many, returns the oldest one, which is to be refused.
  std::optional<Request> Park(Request request);
  // Takes the requests that are to leave now. `may_run`: false if none could be served.
  Due TakeDue(int64_t now_ns, bool may_run = true);
  // Takes all.
  std::deque<Request> TakeAll();

  bool empty() const { return parked_.empty(); }
  size_t size() const { return parked_.size(); }

 private:
  void RollWindow(int64_t now_ns);
  void TakeLate(int64_t now_ns, std::vector<Request>* late);

  const size_t max_;
  const std::function<bool()> was_busy_;
  std::deque<Request> parked_;
  size_t largest_ = 0;           // number since there were none
  int64_t last_refusal_ns_ = 0;  // or when the first was parked
  int64_t window_ends_ns_ = 0;
  size_t parked_in_window_ = 0;
  size_t refused_in_window_ = 0;
  int over_windows_ = 0;    // in succession, by whose numbers the overload is over
  bool is_calm_ = false;    // over, and not busy
  size_t run_at_once_ = 0;  // in a tick
  int64_t pace_ = 1;        // refusals, in multiples of those of an overload
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_PARKED_REQUESTS_H_
