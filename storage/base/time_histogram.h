#ifndef ARMATURE_STORAGE_BASE_TIME_HISTOGRAM_H_
#define ARMATURE_STORAGE_BASE_TIME_HISTOGRAM_H_

// Histogram of durations with fixed buckets.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace armature {

// Monotonic clock in nanoseconds.
inline int64_t MonotonicNs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// Counts durations by their length. Thread-safety: thread-safe. Cost: two relaxed additions; no lock, no allocation.
class TimeHistogram {
 public:
  // Inclusive upper bounds in nanoseconds. One more bucket holds longer durations.
  static constexpr std::array<int64_t, 17> kBoundsNs = {
      50'000,      100'000,       250'000,       500'000,       1'000'000,     2'500'000,
      5'000'000,   10'000'000,    25'000'000,    50'000'000,    100'000'000,   250'000'000,
      500'000'000, 1'000'000'000, 2'500'000'000, 5'000'000'000, 10'000'000'000};
  static constexpr size_t kBuckets = kBoundsNs.size() + 1;

  struct Counts {
    std::array<uint64_t, kBuckets> buckets = {};  // each duration counts in one bucket
    uint64_t sum_ns = 0;
  };

  void Add(int64_t ns) {
    const auto* const bound = std::lower_bound(kBoundsNs.begin(), kBoundsNs.end(), ns);
    buckets_[static_cast<size_t>(bound - kBoundsNs.begin())].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(static_cast<uint64_t>(std::max<int64_t>(ns, 0)), std::memory_order_relaxed);
  }

  Counts counts() const {
    Counts counts;
    for (size_t i = 0; i < kBuckets; ++i) counts.buckets[i] = buckets_[i].load(std::memory_order_relaxed);
    counts.sum_ns = sum_ns_.load(std::memory_order_relaxed);
    return counts;
  }

 private:
  std::array<std::atomic<uint64_t>, kBuckets> buckets_ = {};
  std::atomic<uint64_t> sum_ns_ = 0;
};

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_TIME_HISTOGRAM_H_
