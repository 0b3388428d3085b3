#include "engine/parked_requests.h"

#include <algorithm>
#include <utility>

#include "storage/base/processor_use.h"

namespace armature::engine {

ParkedRequests::ParkedRequests(size_t max, std::function<bool()> was_busy)
    : max_(max), was_busy_(was_busy != nullptr ? std::move(was_busy) : [use = ProcessorUse()]() mutable {
        return use.WasBusy();
      }) {}

std::optional<ParkedRequests::Request> ParkedRequests::Park(Request request) {
  if (parked_.empty()) {
    last_refusal_ns_ = request.since_ns;
    window_ends_ns_ = request.since_ns + kWindowNs;
    parked_in_window_ = refused_in_window_ = run_at_once_ = 0;
    is_calm_ = false;
    over_windows_ = 0;
    pace_ = 1;
    was_busy_();
  }
  ++parked_in_window_;
  parked_.push_back(std::move(request));
  largest_ = std::max(largest_, parked_.size());
  if (parked_.size() <= max_) return std::nullopt;
  Request oldest = std::move(parked_.front());
  parked_.pop_front();
  return oldest;
}

void ParkedRequests::RollWindow(int64_t now_ns) {
  if (now_ns < window_ends_ns_) return;
  const bool is_busy = was_busy_();
  const bool is_over = parked_in_window_ == 0 || parked_in_window_ * kQuietPart < refused_in_window_;
  over_windows_ = is_over ? over_windows_ + 1 : 0;
  pace_ = over_windows_ >= kOverWindows && is_busy ? std::min(pace_ * 2, kPaceMax) : 1;
  const bool is_calm = is_over && !is_busy;
  const bool is_quiet = std::exchange(is_calm_, is_calm) && is_calm;
  run_at_once_ = is_quiet ? std::clamp<size_t>(run_at_once_ * 2, 1, kRunAtOnceMax) : run_at_once_ / 2;
  window_ends_ns_ = now_ns + kWindowNs;
  parked_in_window_ = refused_in_window_ = 0;
}

void ParkedRequests::TakeLate(int64_t now_ns, std::vector<Request>* late) {
  while (!parked_.empty()) {
    const int64_t waited_ns = now_ns - parked_.front().since_ns;
    if (waited_ns < kRefusedNotBeforeNs) break;
    if (waited_ns < kRefusedAfterNs) {
      const int64_t every_ns = kRefusedAfterNs / static_cast<int64_t>(largest_);
      const int64_t due_ns = last_refusal_ns_ + std::max(every_ns / pace_, std::min(every_ns, kRefusalEveryMinNs));
      if (now_ns < due_ns) break;
      // Late ticks are made up for, but not pauses.
      last_refusal_ns_ = std::max(due_ns, now_ns - kWindowNs);
    }
    late->push_back(std::move(parked_.front()));
    parked_.pop_front();
  }
  refused_in_window_ += late->size();
}

ParkedRequests::Due ParkedRequests::TakeDue(int64_t now_ns, bool may_run) {
  RollWindow(now_ns);
  Due due;
  TakeLate(now_ns, &due.refuse);
  for (size_t i = 0; may_run && i < run_at_once_ && !parked_.empty(); ++i) {
    due.run.push_back(std::move(parked_.back()));
    parked_.pop_back();
  }
  if (parked_.empty()) largest_ = 0;
  return due;
}

std::deque<ParkedRequests::Request> ParkedRequests::TakeAll() {
  largest_ = 0;
  return std::exchange(parked_, {});
}

}  // namespace armature::engine
