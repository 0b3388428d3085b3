#include "daemon/grpc/late_calls.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "daemon/net/coarse_clock.h"
#include "engine/request_queue.h"

namespace armature::daemon {

using engine::ParkedRequests;

namespace {
constexpr int64_t kMeanOf = 64;  // calls, about
// The last kTicksLong of as many ticks, two seconds, have the long bound.
constexpr uint64_t kTicksOfTrial = 1000;
constexpr uint64_t kTicksLong = 3 * ParkedRequests::kWindowNs / ParkedRequests::kTickNs;
}  // namespace

bool LateCalls::MustWait(CallBurst* burst, int64_t now_ns, size_t bytes, Age age, Unread unread) {
  const auto relaxed = std::memory_order_relaxed;
  int64_t age_ms = burst->age_ms.load(relaxed);
  bool asks = now_ns - burst->last_ns.exchange(now_ns, relaxed) > kPauseNs;
  // Calls without a pause, the first of which were late, may be in time by now.
  const int64_t late_ms = late_ms_.load(relaxed);
  asks = asks || (age_ms > late_ms && now_ns - burst->asked_ns.load(relaxed) > kPauseNs);
  if (asks) {
    age_ms = age().value_or(0);
    burst->age_ms.store(age_ms, relaxed);
    burst->asked_ns.store(now_ns, relaxed);
  }
  if (!is_overloaded()) {
    const int64_t sum = recent_bytes_.load(relaxed);
    const auto size = static_cast<int64_t>(bytes);
    recent_bytes_.store(sum == 0 ? size * kMeanOf : sum + size - sum / kMeanOf, relaxed);
    Note(now_ns, age_ms, asks);
    if (asks && age_ms > kLateMs && SeesCrowd(now_ns, unread)) Begin();
  }
  return is_overloaded() && age_ms > late_ms;
}

void LateCalls::Note(int64_t now_ns, int64_t age_ms, bool begins_burst) {
  const auto relaxed = std::memory_order_relaxed;
  interval_.calls.fetch_add(1, relaxed);
  if (begins_burst) interval_.bursts.fetch_add(1, relaxed);
  if (age_ms > kOverloadMs) {
    interval_.late_calls.fetch_add(1, relaxed);
    interval_.late_ms.fetch_add(age_ms, relaxed);
  }
  int64_t begin_ns = interval_.begin_ns.load(relaxed);
  if (now_ns - begin_ns < kIntervalNs || !interval_.begin_ns.compare_exchange_strong(begin_ns, now_ns, relaxed)) return;
  if (EndInterval(now_ns - begin_ns)) Begin();
}

void LateCalls::Begin() {
  const absl::MutexLock lock(&mutex_);
  if (closed_.ok()) SetOverloaded(true);
}

bool LateCalls::SeesCrowd(int64_t now_ns, Unread unread) {
  const auto relaxed = std::memory_order_relaxed;
  int64_t looked_ns = looked_ns_.load(relaxed);
  if (now_ns - looked_ns < kLookNs || !looked_ns_.compare_exchange_strong(looked_ns, now_ns, relaxed)) return false;
  const uint64_t call_bytes = static_cast<uint64_t>(recent_bytes_.load(relaxed) / kMeanOf) + kHeadBytes;
  const uint64_t crowd_bytes = kCrowd * call_bytes;
  // If more bytes wait on a connection than its calls may have, it sends something else.
  const uint64_t bytes = unread(kCallsPerConnectionMax * call_bytes);
  const uint64_t before = crowd_bytes_.exchange(bytes >= crowd_bytes ? bytes : 0, relaxed);
  return bytes >= crowd_bytes && before != 0 && bytes >= before && now_ns - looked_ns < kLooksWithinNs;
}

bool LateCalls::EndInterval(int64_t ns) {
  const auto relaxed = std::memory_order_relaxed;
  const int64_t bursts = interval_.bursts.exchange(0, relaxed);
  const int64_t calls = interval_.calls.exchange(0, relaxed);
  const int64_t late_calls = interval_.late_calls.exchange(0, relaxed);
  const int64_t waiting = interval_.late_ms.exchange(0, relaxed) / std::max<int64_t>(ns / kNsPerMs, 1);
  const bool is_crowd = bursts >= kBurstsMin && 2 * late_calls > calls && waiting > kCrowd;
  return interval_.was_crowd.exchange(is_crowd, relaxed) && is_crowd;
}

void LateCalls::Park(Task run, Refused refused) {
  std::optional<ParkedRequests::Request> loser;
  absl::Status status = engine::TooManyWaitError();
  {
    const absl::MutexLock lock(&mutex_);
    ParkedRequests::Request request{std::move(run), std::move(refused), clock_()};
    if (!closed_.ok()) {
      status = closed_;
      loser = std::move(request);
    } else {
      SetOverloaded(true);
      loser = parked_.Park(std::move(request));
    }
  }
  if (loser.has_value()) Refuse(*std::move(loser), status);
}

void LateCalls::SetOverloaded(bool overloaded) {
  if (is_overloaded_.exchange(overloaded, std::memory_order_relaxed) == overloaded) return;
  if (overloaded) {
    overloaded_ns_ = clock_();
    StartTimer();
  }
  if (on_crowd_ != nullptr) on_crowd_(overloaded);
}

void LateCalls::StartTimer() {
  if (is_timed_) return;
  is_timed_ = true;
  timers_.AtMonotonic(MonotonicNs() + ParkedRequests::kTickNs, [this] { Tick(); });
}

void LateCalls::Tick() {
  ParkedRequests::Due due;
  {
    const absl::MutexLock lock(&mutex_);
    is_timed_ = false;
    // The engine, which `is_elsewhere_` asks, may be gone.
    if (!closed_.ok()) return;
    due = parked_.TakeDue(clock_(), /*may_run=*/true, is_elsewhere_());
    // An overload that only the short bound keeps up ends in the windows without it.
    const bool is_trial = ++ticks_ % kTicksOfTrial >= kTicksOfTrial - kTicksLong;
    const bool is_long = is_trial || !parked_.is_under_pressure();
    late_ms_.store(is_long ? kLateMs : kLateBusyMs, std::memory_order_relaxed);
    const bool is_over = parked_.empty() && clock_() - overloaded_ns_ >= kOverloadMinNs;
    is_over ? SetOverloaded(false) : StartTimer();
  }
  for (ParkedRequests::Request& each : due.refuse) Refuse(std::move(each), engine::TooManyWaitError());
  for (ParkedRequests::Request& each : due.run) std::move(each.run)();
}

void LateCalls::Refuse(ParkedRequests::Request request, const absl::Status& status) {
  refused_.fetch_add(1, std::memory_order_relaxed);
  std::move(request.refused)(status);
}

void LateCalls::Close(const absl::Status& status) {
  std::deque<ParkedRequests::Request> parked;
  {
    const absl::MutexLock lock(&mutex_);
    closed_ = status;
    parked = parked_.TakeAll();
    SetOverloaded(false);
  }
  for (ParkedRequests::Request& each : parked) Refuse(std::move(each), status);
}

size_t LateCalls::parked() const {
  const absl::MutexLock lock(&mutex_);
  return parked_.size();
}

}  // namespace armature::daemon
