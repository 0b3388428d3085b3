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
// The limit as a multiple of the writes during a batch.
constexpr uint64_t kLimitFactor = 4;
// A rate over a longer time is not the present one.
constexpr int64_t kPresentNs = 1'000'000'000;

}  // namespace

bool WriteGate::MayBegin() {
  const size_t committing = committing_.load(std::memory_order_relaxed);
  // The limit is asked for also in normal times, so that it fits when a crowd begins.
  if (committing < kWritesMin) return true;
  const size_t limit = Limit();
  if (is_overloaded_.load(std::memory_order_relaxed)) return committing < limit;
  return committing < (crowds_.load(std::memory_order_relaxed) > 0 ? limit : std::max(kCrowd, kCrowdFactor * limit));
}

size_t WriteGate::Limit() {
  const int64_t now_ns = MonotonicNs();
  if (now_ns < limit_due_ns_.load(std::memory_order_relaxed)) return limit_.load(std::memory_order_relaxed);
  const absl::MutexLock lock(&mutex_);
  if (now_ns < limit_due_ns_.load(std::memory_order_relaxed)) return limit_.load(std::memory_order_relaxed);
  limit_due_ns_.store(now_ns + kLimitEveryNs, std::memory_order_relaxed);
  const store::CommitterCounters counters = parts_->database->commits().counters();
  const Written until_now = {now_ns, counters.batches, counters.units, counters.write_times.sum_ns};
  const Written before = std::exchange(seen_, until_now);
  const Written written = {now_ns - before.in_ns, until_now.batches - before.batches, until_now.units - before.units,
                           until_now.busy_ns - before.busy_ns};
  if (written.batches == 0) return limit_.load(std::memory_order_relaxed);
  const size_t limit = LimitFor(written);
  limit_.store(limit, std::memory_order_relaxed);
  return limit;
}

size_t WriteGate::LimitFor(const Written& written) {
  // A batch counts when it ends, so it may have begun earlier. In a longer time only that of the batches is known to
  // have had writes.
  const auto elapsed_ns = static_cast<uint64_t>(written.in_ns);
  const auto in_ns = std::max<uint64_t>(written.in_ns > kPresentNs ? written.busy_ns : elapsed_ns, 1);
  const uint64_t busy_ns = std::min(written.busy_ns, in_ns);
  const uint64_t disk_ns = (busy_ns - std::min(busy_ns, written.units * kNsPerUnit)) / written.batches;
  const uint64_t during_a_batch = written.units * disk_ns / in_ns;
  return std::clamp<uint64_t>(kLimitFactor * during_a_batch, kWritesMin, kWritesMax);
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
    // While the disk hangs, the process has time left, and nothing arrives that could be parked. That is no quiet.
    const bool has_room = committing_.load(std::memory_order_relaxed) < limit_.load(std::memory_order_relaxed);
    due = parked_.TakeDue(NowNs(*parts_), has_room);
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
