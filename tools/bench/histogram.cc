#include "tools/bench/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace armature::bench {
namespace {

constexpr int kSubBits = 6;
constexpr size_t kSubBuckets = size_t{1} << kSubBits;
constexpr size_t kBuckets = (64 - kSubBits + 1) * kSubBuckets;

size_t BucketOf(uint64_t value) {
  if (value < kSubBuckets) return value;
  const int shift = static_cast<int>(std::bit_width(value)) - 1 - kSubBits;
  const uint64_t sub = (value >> shift) & (kSubBuckets - 1);
  return static_cast<size_t>(shift + 1) * kSubBuckets + sub;
}

// The largest value of the bucket.
uint64_t UpperBound(size_t bucket) {
  if (bucket < kSubBuckets) return bucket;
  const size_t shift = bucket / kSubBuckets - 1;
  const uint64_t lower = (kSubBuckets + bucket % kSubBuckets) << shift;
  return lower + ((uint64_t{1} << shift) - 1);
}

}  // namespace

Histogram::Histogram() : buckets_(kBuckets) {}

void Histogram::Record(uint64_t value_ns) {
  ++buckets_[BucketOf(value_ns)];
  ++count_;
  max_ns_ = std::max(max_ns_, value_ns);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

uint64_t Histogram::QuantileNs(double quantile) const {
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

}  // namespace armature::bench
