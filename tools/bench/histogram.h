// A histogram of latencies with buckets that grow with the value.
#ifndef ARMATURE_TOOLS_BENCH_HISTOGRAM_H_
#define ARMATURE_TOOLS_BENCH_HISTOGRAM_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace armature::bench {

// Splits each power of two into 64 buckets, so that the error of a quantile is below 1.6 %. Takes any 64-bit value. Not
// thread-safe: each thread has its own, and they are merged at the end.
class Histogram {
 public:
  void Record(uint64_t value_ns) {
    ++buckets_[BucketOf(value_ns)];
    ++count_;
    max_ns_ = std::max(max_ns_, value_ns);
  }

  void Merge(const Histogram& other) {
    for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    max_ns_ = std::max(max_ns_, other.max_ns_);
  }

  // Calls `fn(largest value in ns, count)` for each bucket with values, in ascending order.
  template <class Fn>
  void ForEachBucket(Fn fn) const {
    for (size_t i = 0; i < kBuckets; ++i) {
      if (buckets_[i] > 0) fn(UpperBound(i), buckets_[i]);
    }
  }

  uint64_t count() const { return count_; }
  uint64_t max_ns() const { return max_ns_; }

  // The smallest bound of a share `quantile` (0 to 1) of all values. 0 without values.
  uint64_t QuantileNs(double quantile) const {
    if (count_ == 0) return 0;
    const double exact_rank = std::ceil(quantile * static_cast<double>(count_));
    const uint64_t rank = std::clamp(static_cast<uint64_t>(exact_rank), uint64_t{1}, count_);
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets; ++i) {
      seen += buckets_[i];
      if (seen >= rank) return std::min(UpperBound(i), max_ns_);
    }
    return max_ns_;
  }

 private:
  static constexpr int kSubBits = 6;
  static constexpr size_t kSubBuckets = size_t{1} << kSubBits;
  static constexpr size_t kBuckets = (64 - kSubBits + 1) * kSubBuckets;

  static size_t BucketOf(uint64_t value) {
    if (value < kSubBuckets) return value;
    const int shift = static_cast<int>(std::bit_width(value)) - 1 - kSubBits;
    const uint64_t sub = (value >> shift) & (kSubBuckets - 1);
    return static_cast<size_t>(shift + 1) * kSubBuckets + sub;
  }

  // The largest value of the bucket.
  static uint64_t UpperBound(size_t bucket) {
    if (bucket < kSubBuckets) return bucket;
    const size_t shift = bucket / kSubBuckets - 1;
    const uint64_t lower = (kSubBuckets + bucket % kSubBuckets) << shift;
    return lower + ((uint64_t{1} << shift) - 1);
  }

  std::vector<uint64_t> buckets_ = std::vector<uint64_t>(kBuckets);
  uint64_t count_ = 0;
  uint64_t max_ns_ = 0;
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_HISTOGRAM_H_
