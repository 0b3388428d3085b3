#include "storage/store/catalog/key_traffic.h"

#include <algorithm>
#include <cmath>

namespace armature::store {

void KeyTraffic::Period::Merge(const Period& other) {
  for (size_t use = 0; use < kKeyUses; ++use) {
    uses[use].missed += other.uses[use].missed;
    for (size_t i = 0; i < 2; ++i) {
      if (other.uses[use].keys[i].total() > 0) uses[use].keys[i].Merge(other.uses[use].keys[i]);
    }
  }
}

void KeyTraffic::Count(KeyUse use, std::string_view partition, std::string_view whole, double units, int64_t now_ns) {
  const auto index = static_cast<size_t>(use);
  const auto halves = static_cast<uint64_t>(std::llround(std::max(units, 0.0) * 2));
  if (halves == 0) return;
  const uint64_t partition_hash = TopKeys::HashOf(partition);
  const uint64_t whole_hash = whole.empty() ? 0 : TopKeys::HashOf(whole);
  if (!mutex_.TryLock()) {
    missed_[index].fetch_add(halves, std::memory_order_relaxed);
    return;
  }
  if (begin_ns_ < 0) begin_ns_ = now_ns;
  if (const int64_t minute = now_ns / kMinuteNs; minute > minute_) BeginMinute(minute);
  Counts& counts = minutes_[static_cast<size_t>(minute_ % kMinutesApart)].uses[index];
  if (missed_[index].load(std::memory_order_relaxed) != 0) {
    counts.missed += missed_[index].exchange(0, std::memory_order_relaxed);
  }
  counts.keys[0].Add(partition, partition_hash, halves);
  if (!whole.empty()) counts.keys[1].Add(whole, whole_hash, halves);
  mutex_.Unlock();
}

void KeyTraffic::BeginMinute(int64_t minute) {
  for (Period& old : minutes_) {
    if (old.number < 0 || old.number > minute - kMinutesApart) continue;
    const int64_t number = old.number / kMinutesApart;
    Period& ten = tens_[static_cast<size_t>(number % kTensKept)];
    if (ten.number != number) ten = Period();
    ten.number = number;
    ten.Merge(old);
    old = Period();
  }
  minute_ = minute;
  minutes_[static_cast<size_t>(minute % kMinutesApart)].number = minute;
}

KeyTraffic::Report KeyTraffic::Read(KeyUse use, bool whole, int minutes, int64_t now_ns) const {
  const auto index = static_cast<size_t>(use);
  Report report;
  const absl::MutexLock lock(&mutex_);
  const int64_t now_minute = std::max(now_ns / kMinuteNs, minute_);
  const int64_t first = now_minute - minutes + 1;
  int64_t begin_ns = first * kMinuteNs;
  const auto add = [&](const Period& period) {
    const Counts& counts = period.uses[index];
    report.keys.Merge(counts.keys[whole ? 1 : 0]);
    report.missed += counts.missed;
  };
  for (const Period& period : minutes_) {
    if (period.number >= first) add(period);
  }
  if (minutes > kMinutesApart) {
    begin_ns = first / kMinutesApart * kMinutesApart * kMinuteNs;
    for (const Period& period : tens_) {
      if (period.number >= first / kMinutesApart) add(period);
    }
  }
  report.missed += missed_[index].load(std::memory_order_relaxed);
  if (begin_ns_ >= 0) report.seconds = std::max<int64_t>(0, now_ns - std::max(begin_ns, begin_ns_)) / 1'000'000'000;
  return report;
}

}  // namespace armature::store
