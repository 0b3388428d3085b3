#include "daemon/grpc/late_calls.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "daemon/net/coarse_clock.h"
#include "engine/request_queue.h"

namespace armature::daemon {

using engine::ParkedRequests;

bool LateCalls::MustWait(CallBurst* burst, int64_t now_ns, Age age) {
  const auto relaxed = std::memory_order_relaxed;
  const bool was_late = burst->age_ms.load(relaxed) > kLateMs;
  bool ask = now_ns - burst->last_ns.exchange(now_ns, relaxed) > kPauseNs;
  // Calls without a pause, the first of which were late, may be in time by now.
  if (is_overloaded()) ask = ask || (was_late && now_ns - burst->asked_ns.load(relaxed) > kPauseNs);
  if (ask) {
    const int64_t age_ms = age().value_or(0);
    const int64_t age_before_ms = burst->age_ms.exchange(age_ms, relaxed);
    const int64_t calls = burst->calls.exchange(0, relaxed);
    burst->asked_ns.store(now_ns, relaxed);
    if (!is_overloaded()) Note(age_before_ms, calls);
  }
  burst->calls.fetch_add(1, relaxed);
  return is_overloaded() && burst->age_ms.load(relaxed) > kLateMs;
}

void LateCalls::Note(int64_t age_ms, int64_t calls) {
  const int64_t now_ns = clock_();
  const absl::MutexLock lock(&mutex_);
  ++interval_.bursts;
  interval_.calls += calls;
  if (age_ms > kOverloadMs) {
    interval_.late_calls += calls;
    interval_.late_ms += calls * age_ms;
  }
  if (now_ns - interval_.begin_ns < kIntervalNs) return;
  const bool is_late = EndInterval(now_ns);
  if (std::exchange(was_late_, is_late) && is_late && closed_.ok()) SetOverloaded(true);
}

bool LateCalls::EndInterval(int64_t now_ns) {
  const Interval ended = std::exchange(interval_, {.begin_ns = now_ns});
  const int64_t waiting = ended.late_ms / std::max<int64_t>((now_ns - ended.begin_ns) / kNsPerMs, 1);
  return ended.bursts >= kBurstsMin && 2 * ended.late_calls > ended.calls && waiting > kCrowd;
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
    due = parked_.TakeDue(clock_());
    const bool is_over = parked_.empty() && clock_() - overloaded_ns_ >= kIntervalNs;
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
