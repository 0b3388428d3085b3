#include "daemon/grpc/arrival_gate.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "daemon/net/coarse_clock.h"
#include "engine/request_queue.h"
#include "storage/base/time_histogram.h"

namespace armature::daemon {

using engine::ParkedRequests;

ArrivalGate::ArrivalGate(std::function<int64_t()> now_ns)
    : now_ns_(now_ns != nullptr ? std::move(now_ns) : CoarseNowNs) {}

bool ArrivalGate::MayBegin(ArrivalLane* lane) {
  const absl::MutexLock lock(&mutex_);
  RollWindow(now_ns_());
  if (is_overloaded_) {
    const size_t lanes = std::max<size_t>({crowd_.lanes, crowd_before_.lanes, 1});
    if (lane->arriving >= std::max(kServed / lanes, kServedByLane)) return false;
  }
  Count(lane);
  return true;
}

void ArrivalGate::Count(ArrivalLane* lane) {
  if (lane->window != window_) {
    lane->window = window_;
    lane->most = 0;
    ++crowd_.lanes;
  }
  ++lane->arriving;
  if (lane->arriving <= lane->most) return;
  crowd_.calls += lane->arriving - std::exchange(lane->most, lane->arriving);
  is_overloaded_ = is_overloaded_ || crowd_.calls > kCrowd;
}

void ArrivalGate::RollWindow(int64_t now_ns) {
  if (now_ns < window_ends_ns_) return;
  const bool is_next = now_ns < window_ends_ns_ + kWindowNs;
  crowd_before_ = is_next ? crowd_ : Crowd();
  crowd_ = Crowd();
  ++window_;
  window_ends_ns_ = now_ns + kWindowNs;
  is_overloaded_ = crowd_before_.calls > kCrowd || !parked_.empty();
}

void ArrivalGate::Arrived(ArrivalLane* lane) {
  const absl::MutexLock lock(&mutex_);
  --lane->arriving;
}

void ArrivalGate::Park(ArrivalLane* lane, Task run, Refused refused) {
  Task counted = [this, lane, run = std::move(run)]() mutable {
    {
      const absl::MutexLock lock(&mutex_);
      Count(lane);
    }
    std::move(run)();
  };
  std::optional<ParkedRequests::Request> loser;
  absl::Status status = engine::TooManyWaitError();
  {
    const absl::MutexLock lock(&mutex_);
    ParkedRequests::Request request{std::move(counted), std::move(refused), now_ns_()};
    if (!closed_.ok()) {
      status = closed_;
      loser = std::move(request);
    } else {
      loser = parked_.Park(std::move(request));
      StartTimer();
    }
  }
  if (loser.has_value()) Refuse(*std::move(loser), status);
}

void ArrivalGate::StartTimer() {
  if (is_timed_) return;
  is_timed_ = true;
  timers_.AtMonotonic(MonotonicNs() + ParkedRequests::kTickNs, [this] { Tick(); });
}

void ArrivalGate::Tick() {
  ParkedRequests::Due due;
  {
    const absl::MutexLock lock(&mutex_);
    is_timed_ = false;
    due = parked_.TakeDue(now_ns_());
    if (!parked_.empty()) StartTimer();
  }
  for (ParkedRequests::Request& each : due.refuse) Refuse(std::move(each), engine::TooManyWaitError());
  for (ParkedRequests::Request& each : due.run) std::move(each.run)();
}

void ArrivalGate::Refuse(ParkedRequests::Request request, const absl::Status& status) {
  refused_.fetch_add(1, std::memory_order_relaxed);
  std::move(request.refused)(status);
}

void ArrivalGate::Close(const absl::Status& status) {
  std::deque<ParkedRequests::Request> parked;
  {
    const absl::MutexLock lock(&mutex_);
    closed_ = status;
    parked = parked_.TakeAll();
  }
  for (ParkedRequests::Request& each : parked) Refuse(std::move(each), status);
}

size_t ArrivalGate::parked() const {
  const absl::MutexLock lock(&mutex_);
  return parked_.size();
}

}  // namespace armature::daemon
