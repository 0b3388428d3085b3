// A histogram of latencies with buckets that grow with the value.
#ifndef ARMATURE_TOOLS_BENCH_HISTOGRAM_H_
#define ARMATURE_TOOLS_BENCH_HISTOGRAM_H_

#include <cstdint>
#include <vector>

namespace armature::bench {

// Splits each power of two into 64 buckets, so that the error of a quantile is below 1.6 %. Takes any 64-bit value. Not
// thread-safe: each thread has its own, and they are merged at the end.
class Histogram {
 public:
  Histogram();

  void Record(uint64_t value_ns);
  void Merge(const Histogram& other);

  uint64_t count() const { return count_; }
  uint64_t max_ns() const { return max_ns_; }
  // The smallest bound of a share `quantile` (0 to 1) of all values. 0 without values.
  uint64_t QuantileNs(double quantile) const;

 private:
  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  uint64_t max_ns_ = 0;
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_HISTOGRAM_H_
