#include "storage/base/worker.h"

#include <algorithm>
#include <utility>

#include "storage/base/thread_pool.h"
#include "storage/base/time_histogram.h"

namespace armature {
namespace {

// The time of MonotonicNs at which the rest after a turn that began at `begin_ns` ends.
int64_t EndOfRest(const Worker::Next& next, int64_t begin_ns) {
  if (next.share <= 0) return MonotonicAfter(next.rest_max);
  const absl::Duration busy = absl::Nanoseconds(MonotonicNs() - begin_ns);
  return MonotonicAfter(std::min(busy * (1 / next.share - 1), next.rest_max));
}

}  // namespace

Worker::Worker(std::string name, Turn turn, Ended ended)
    : name_(std::move(name)), turn_(std::move(turn)), ended_(std::move(ended)) {}

void Worker::Start(Next first) {
  thread_ = std::thread([this, first] { Work(first); });
}

void Worker::Wake() {
  const absl::MutexLock lock(&mutex_);
  is_woken_ = true;
  wake_.Notify();
}

void Worker::RequestStop() {
  const absl::MutexLock lock(&mutex_);
  is_stopping_ = true;
  wake_.Notify();
}

void Worker::Stop() {
  RequestStop();
  if (thread_.joinable()) thread_.join();
}

bool Worker::is_stopping() const {
  const absl::MutexLock lock(&mutex_);
  return is_stopping_;
}

bool Worker::WaitForWake(int64_t until_ns) {
  const absl::MutexLock lock(&mutex_);
  while (!is_woken_ && !is_stopping_ && MonotonicNs() < until_ns) wake_.Until(&mutex_, until_ns);
  return !is_stopping_ && MonotonicNs() < until_ns && std::exchange(is_woken_, false);
}

void Worker::Work(Next next) {
  SetThreadName(name_);
  int64_t begin_ns = MonotonicNs();
  while (!next.is_never && Rest(next, EndOfRest(next, begin_ns))) {
    begin_ns = MonotonicNs();
    next = turn_();
  }
  if (ended_ != nullptr) ended_();
}

bool Worker::Rest(const Next& next, int64_t until_ns) {
  const absl::MutexLock lock(&mutex_);
  const auto may_stop = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return is_stopping_ && !next.holds_stop; };
  const auto is_woken = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return is_woken_ && next.begins_by_wake; };
  while (!may_stop() && !is_woken() && MonotonicNs() < until_ns) wake_.Until(&mutex_, until_ns);
  if (may_stop()) return false;
  if (next.begins_by_wake) is_woken_ = false;
  return true;
}

}  // namespace armature
