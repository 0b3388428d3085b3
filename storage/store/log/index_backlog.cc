#include "storage/store/log/index_backlog.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace armature::store {
namespace {

constexpr int64_t kSpacingMinMs = 500;
// When full, every second sample is dropped, which doubles the covered time. A record's age of one day is then known to
// some minutes.
constexpr size_t kSamplesMax = 128;
// The applier takes less than a millisecond for so many records.
constexpr uint64_t kAwaitedMax = 256;
constexpr absl::Duration kEmptyPatience = absl::Milliseconds(5);
constexpr int64_t kAwaitPauseMinNs = 100'000'000;
constexpr int64_t kAwaitPauseMaxNs = 10'000'000'000;

}  // namespace

void IndexBacklog::Add(BacklogLoad load) {
  records_.fetch_add(load.records, std::memory_order_relaxed);
  bytes_.fetch_add(load.bytes, std::memory_order_relaxed);
}

// Clamped at 0: a record that was applied but never counted must not underflow the backlog.
void IndexBacklog::Take(BacklogLoad load) {
  records_.store(records_.load(std::memory_order_relaxed) - std::min(load.records, this->load().records),
                 std::memory_order_release);
  bytes_.store(bytes_.load(std::memory_order_relaxed) - std::min(load.bytes, this->load().bytes),
               std::memory_order_relaxed);
}

void IndexBacklog::Append(ChangeSequence last, int64_t time_ms, BacklogLoad load) {
  const absl::MutexLock lock(&mutex_);
  last_ = last;
  Add(load);
  samples_.Add({last, time_ms});
}

void IndexBacklog::Samples::Add(Sample sample) {
  if (all.empty()) spacing_ms = kSpacingMinMs;
  if (!all.empty() && sample.time_ms - all.back().time_ms < spacing_ms) {
    // The sample also represents later records, and is removed with the last of them.
    all.back().sequence = sample.sequence;
    return;
  }
  all.push_back(sample);
  if (all.size() < kSamplesMax) return;
  std::deque<Sample> kept;
  for (size_t i = 0; i < all.size(); i += 2) {
    const size_t last = std::min(i + 1, all.size() - 1);
    kept.push_back({all[last].sequence, all[i].time_ms});
  }
  all.swap(kept);
  spacing_ms *= 2;
}

void IndexBacklog::Samples::Forget(ChangeSequence through) {
  while (!all.empty() && all.front().sequence <= through) all.pop_front();
}

void IndexBacklog::Applied(ChangeSequence through, BacklogLoad load) {
  const absl::MutexLock lock(&mutex_);
  applied_ = through;
  samples_.Forget(through);
  counted_samples_.Forget(through);
  if (through > count_end_) Take(load);
  // At most those records of earlier runs that were counted are taken back.
  BacklogLoad counted = counted_load_;
  if (through < counted_) counted = {std::min(load.records, counted.records), std::min(load.bytes, counted.bytes)};
  counted_load_.records -= counted.records;
  counted_load_.bytes -= counted.bytes;
  Take(counted);
  if (through < count_end_) return;
  is_counted_.store(true, std::memory_order_relaxed);
  has_applied_earlier_.store(true, std::memory_order_release);
  if (is_empty()) emptied_.Notify();
}

bool IndexBacklog::AwaitEmpty() {
  if (is_empty()) return true;
  if (load().records > kAwaitedMax) return false;
  const absl::MutexLock lock(&mutex_);
  const int64_t begin_ns = MonotonicNs();
  if (begin_ns < next_wait_ns_) return false;
  const int64_t due_ns = MonotonicAfter(kEmptyPatience);
  while (!is_empty() && MonotonicNs() < due_ns) emptied_.Until(&mutex_, due_ns);
  pause_ns_ = is_empty() ? kAwaitPauseMinNs : std::min(2 * pause_ns_ + kAwaitPauseMinNs, kAwaitPauseMaxNs);
  next_wait_ns_ = MonotonicNs() + pause_ns_;
  return is_empty();
}

bool IndexBacklog::BeginAt(ChangeSequence from) {
  const absl::MutexLock lock(&mutex_);
  if (last_ > from) return false;
  records_.store(0, std::memory_order_relaxed);
  bytes_.store(0, std::memory_order_relaxed);
  samples_ = {};
  if (from >= count_end_) has_applied_earlier_.store(true, std::memory_order_release);
  return true;
}

void IndexBacklog::BeginCount(ChangeSequence end) {
  const absl::MutexLock lock(&mutex_);
  last_ = end;
  count_end_ = end;
  has_applied_earlier_.store(false, std::memory_order_relaxed);
  is_counted_.store(false, std::memory_order_relaxed);
}

void IndexBacklog::Count(ChangeSequence sequence, int64_t time_ms, BacklogLoad load) {
  const absl::MutexLock lock(&mutex_);
  counted_ = sequence;
  if (sequence <= applied_) return;
  Add(load);
  counted_load_.records += load.records;
  counted_load_.bytes += load.bytes;
  counted_samples_.Add({sequence, time_ms});
}

void IndexBacklog::EndCount() { is_counted_.store(true, std::memory_order_relaxed); }

IndexBacklog::State IndexBacklog::state() const {
  const absl::MutexLock lock(&mutex_);
  State state{load(), 0};
  const Samples& oldest = counted_samples_.all.empty() ? samples_ : counted_samples_;
  if (state.load.records > 0 && !oldest.all.empty()) state.oldest_ms = oldest.all.front().time_ms;
  return state;
}

}  // namespace armature::store
