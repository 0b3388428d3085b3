#include "engine/write_gate.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "engine/parts.h"
#include "engine/request_queue.h"
#include "storage/base/time_histogram.h"

namespace armature::engine {
namespace {

constexpr int64_t kLimitEveryNs = 100'000'000;
// Work of the processor for a write in a batch. The rest of its time is the disk's.
constexpr uint64_t kNsPerUnit = 5'000;
constexpr uint64_t kNsPerMs = 1'000'000;

}  // namespace

bool WriteGate::MayBegin() {
  const size_t committing = committing_.load(std::memory_order_relaxed);
  if (is_overloaded_.load(std::memory_order_relaxed)) return committing < limit_.load(std::memory_order_relaxed);
  if (crowds_.load(std::memory_order_relaxed) > 0) return committing < kWrites || committing < Limit();
  return committing < kCrowdFactor * kWrites || committing < kCrowdFactor * Limit();
}

size_t WriteGate::Limit() {
  const int64_t now_ns = MonotonicNs();
  if (now_ns < limit_due_ns_.load(std::memory_order_relaxed)) return limit_.load(std::memory_order_relaxed);
  const absl::MutexLock lock(&mutex_);
  if (now_ns < limit_due_ns_.load(std::memory_order_relaxed)) return limit_.load(std::memory_order_relaxed);
  const store::CommitterCounters counters = parts_->database->committer_counters();
  limit_due_ns_.store(now_ns + kLimitEveryNs, std::memory_order_relaxed);
  const uint64_t batches = counters.batches - std::exchange(seen_batches_, counters.batches);
  const uint64_t units = counters.units - std::exchange(seen_units_, counters.units);
  const uint64_t ns = counters.write_times.sum_ns - std::exchange(seen_ns_, counters.write_times.sum_ns);
  if (batches == 0) return limit_.load(std::memory_order_relaxed);
  const uint64_t disk_ns = (ns - std::min(ns, units * kNsPerUnit)) / batches;
  const size_t limit = std::clamp<uint64_t>(kWrites * disk_ns / kNsPerMs, kWrites, kWritesMax);
  limit_.store(limit, std::memory_order_relaxed);
  return limit;
}

void WriteGate::Park(Task run, Refused refused) {
  std::optional<ParkedRequests::Request> loser;
  absl::Status status = TooManyWaitError();
  {
    const absl::MutexLock lock(&mutex_);
    ParkedRequests::Request request{std::move(run), std::move(refused), NowNs(*parts_)};
    if (!closed_.ok()) {
      status = closed_;
      loser = std::move(request);
    } else {
      is_overloaded_.store(true, std::memory_order_relaxed);
      loser = parked_.Park(std::move(request));
      StartTimer();
    }
  }
  if (loser.has_value()) Refuse(*std::move(loser), status);
}

void WriteGate::StartTimer() {
  if (is_timed_) return;
  is_timed_ = true;
  parts_->timers.AtMonotonic(MonotonicNs() + ParkedRequests::kTickNs, [this] { Tick(); });
}

void WriteGate::Tick() {
  ParkedRequests::Due due;
  WaitingRequests::Token token;  // the pool is there as long as a request waits
  Limit();
  {
    const absl::MutexLock lock(&mutex_);
    is_timed_ = false;
    if (!closed_.ok()) return;
    token = parts_->waiting.Enter();
    due = parked_.TakeDue(NowNs(*parts_));
    is_overloaded_.store(!parked_.empty(), std::memory_order_relaxed);
    if (!parked_.empty()) StartTimer();
  }
  for (ParkedRequests::Request& each : due.refuse) Refuse(std::move(each), TooManyWaitError());
  for (ParkedRequests::Request& each : due.run) {
    RunHolder(parts_, std::move(each.run), std::move(each.refused));
  }
}

void WriteGate::Refuse(ParkedRequests::Request request, const absl::Status& status) {
  refused_.fetch_add(1, std::memory_order_relaxed);
  std::move(request.refused)(status);
}

void WriteGate::Close(const absl::Status& status) {
  std::deque<ParkedRequests::Request> parked;
  {
    const absl::MutexLock lock(&mutex_);
    closed_ = status;
    parked = parked_.TakeAll();
    is_overloaded_.store(false, std::memory_order_relaxed);
  }
  for (ParkedRequests::Request& each : parked) Refuse(std::move(each), status);
}

size_t WriteGate::parked() const {
  const absl::MutexLock lock(&mutex_);
  return parked_.size();
}

}  // namespace armature::engine
