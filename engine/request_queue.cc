#include "engine/request_queue.h"

#include <algorithm>
#include <utility>

#include "storage/base/api_error.h"
#include "storage/base/time_histogram.h"

namespace armature::engine {
namespace {

constexpr int64_t kThrottleRetryMs = 50;
constexpr size_t kRefusedAtOnce = 16;
// A request counts with this part in the mean.
constexpr int64_t kPartOfMean = 16;

}  // namespace

absl::Status TooManyWaitError() {
  return ThrottlingError("The server has more requests waiting than it can serve; slow down", kThrottleRetryMs);
}

RequestQueue::RequestQueue(std::string_view name, size_t threads, size_t queue_max, std::function<int64_t()> now_ns)
    : threads_(threads),
      queue_max_(queue_max),
      now_ns_(now_ns != nullptr ? std::move(now_ns) : MonotonicNs),
      pool_(name, threads, queue_max) {}

void RequestQueue::Run(Task run, Refused refused) {
  Waiting request{std::move(run), std::move(refused), now_ns_()};
  Waiting loser;
  bool needs_task = false;
  {
    const absl::MutexLock lock(&mutex_);
    if (queue_.size() < queue_max_) {
      queue_.push_back(std::move(request));
    } else if (is_overloaded_) {
      loser = std::move(queue_.front());
      queue_.pop_front();
      queue_.push_back(std::move(request));
    } else {
      loser = std::move(request);
    }
    // A task may have refused several requests, so there can be more tasks than requests.
    needs_task = tasks_ < queue_.size();
    if (needs_task) ++tasks_;
  }
  if (needs_task) pool_.RunAdmitted([this] { RunNext(); });
  if (loser.refused != nullptr) Refuse(std::move(loser.refused));
}

void RequestQueue::RunNext() {
  const int64_t begin_ns = now_ns_();
  std::deque<Waiting> late;
  Waiting next = TakeNext(begin_ns, &late);
  for (Waiting& each : late) Refuse(std::move(each.refused));
  if (next.run == nullptr) return;
  const int64_t run_begin_ns = late.empty() ? begin_ns : now_ns_();
  std::move(next.run)();
  const int64_t run_ns = now_ns_() - run_begin_ns;
  const absl::MutexLock lock(&mutex_);
  mean_run_ns_ += (run_ns - mean_run_ns_) / kPartOfMean;
}

RequestQueue::Waiting RequestQueue::TakeNext(int64_t now_ns, std::deque<Waiting>* late) {
  const absl::MutexLock lock(&mutex_);
  --tasks_;
  const int64_t patience_ns = std::max(kPatienceNs, static_cast<int64_t>(kShortQueue) * mean_run_ns_);
  const auto work_ns = static_cast<int64_t>(queue_.size() / threads_) * mean_run_ns_;
  is_overloaded_ = is_overloaded_ || work_ns > patience_ns;
  while (is_overloaded_ && !queue_.empty() && late->size() < kRefusedAtOnce &&
         now_ns - queue_.front().since_ns > patience_ns && IsRefusalDue(now_ns, patience_ns)) {
    late->push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  Waiting next;
  // A task that has refused none runs one: arrivals on two threads may be queued in the other order.
  const bool is_late = !late->empty() && !queue_.empty() && now_ns - queue_.back().since_ns > patience_ns;
  if (!queue_.empty() && !is_late) {
    next = std::move(is_overloaded_ ? queue_.back() : queue_.front());
    is_overloaded_ ? queue_.pop_back() : queue_.pop_front();
  }
  is_overloaded_ = is_overloaded_ && !queue_.empty();
  return next;
}

bool RequestQueue::IsRefusalDue(int64_t now_ns, int64_t patience_ns) {
  const bool has_nothing_to_run = now_ns - queue_.back().since_ns > patience_ns;
  if (has_nothing_to_run || now_ns - queue_.front().since_ns > kRefusedAfterNs) return true;
  if (now_ns < next_refusal_ns_) return false;
  // A thread that was busy for long makes up for it, but not for more than it may refuse at once.
  const int64_t earliest_ns = now_ns - static_cast<int64_t>(kRefusedAtOnce) * kRefusalEveryNs;
  next_refusal_ns_ = std::max(next_refusal_ns_, earliest_ns) + kRefusalEveryNs;
  return true;
}

void RequestQueue::Refuse(Refused refused) {
  refused_.fetch_add(1, std::memory_order_relaxed);
  std::move(refused)(TooManyWaitError());
}

size_t RequestQueue::length() const {
  const absl::MutexLock lock(&mutex_);
  return queue_.size();
}

}  // namespace armature::engine
