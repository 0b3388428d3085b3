#include "storage/store/catalog/capacity_bucket.h"

#include <algorithm>
#include <cmath>

namespace armature::store {

void CapacityBucket::Fill(double rate, int64_t now_ns) {
  const double most = rate * kSavedSeconds;
  if (!units_.has_value()) {
    units_ = most;
    filled_ns_ = now_ns;
    return;
  }
  const double seconds = static_cast<double>(std::max<int64_t>(0, now_ns - filled_ns_)) / 1e9;
  units_ = std::min(most, *units_ + seconds * rate);
  filled_ns_ = std::max(filled_ns_, now_ns);
}

int64_t CapacityBucket::WaitMs(double rate, int64_t now_ns) {
  const absl::MutexLock lock(&mutex_);
  Fill(rate, now_ns);
  if (*units_ > 0) return 0;
  return static_cast<int64_t>(std::floor(-*units_ / rate * 1000)) + 1;
}

void CapacityBucket::Charge(double units, double rate, int64_t now_ns) {
  const absl::MutexLock lock(&mutex_);
  Fill(rate, now_ns);
  *units_ -= units;
}

}  // namespace armature::store
