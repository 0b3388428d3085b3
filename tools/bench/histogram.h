// Latencies, counted in buckets that grow with the value.
#ifndef ARMATURE_TOOLS_BENCH_HISTOGRAM_H_
#define ARMATURE_TOOLS_BENCH_HISTOGRAM_H_

#include <cstdint>
#include <vector>

namespace armature::bench {

// Every power of two is split into 64 buckets, so a quantile is off by less than 1.6 %. Holds any
// 64-bit value. Not thread-safe: one for each thread, merged at the end.
class Histogram {
 public:
  Histogram();

  void Record(uint64_t value_ns);
  void Merge(const Histogram& other);

  uint64_t count() const { return count_; }
  uint64_t max_ns() const { return max_ns_; }
  // The value that a share `quantile` (0 to 1) of all values does not pass; 0 if there are none.
  uint64_t QuantileNs(double quantile) const;

 private:
  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  uint64_t max_ns_ = 0;
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_HISTOGRAM_H_
