#ifndef ARMATURE_STORAGE_STORE_CATALOG_CAPACITY_BUCKET_H_
#define ARMATURE_STORAGE_STORE_CATALOG_CAPACITY_BUCKET_H_

// Token bucket for capacity units: refills at a rate, saves unused units for a while, and may be overdrawn.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace armature::store {

// The rate, in units per second and above 0, is passed with each call. A changed rate takes effect at once. Times are
// nanoseconds of a monotonic clock; an earlier time adds no units.
//
// Thread-safety: thread-safe. Starts full.
class CapacityBucket {
 public:
  // Unused units are saved for this long.
  static constexpr double kSavedSeconds = 300;

  // Milliseconds until units are available; 0: available now, and an operation of any size may begin.
  int64_t WaitMs(double rate, int64_t now_ns) {
    const absl::MutexLock lock(&mutex_);
    Fill(rate, now_ns);
    if (*units_ > 0) return 0;
    return static_cast<int64_t>(std::floor(-*units_ / rate * 1000)) + 1;
  }
  // Takes the units used by an operation, even if the bucket holds less.
  void Charge(double units, double rate, int64_t now_ns) {
    const absl::MutexLock lock(&mutex_);
    Fill(rate, now_ns);
    *units_ -= units;
  }

 private:
  void Fill(double rate, int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
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

  absl::Mutex mutex_;
  std::optional<double> units_ ABSL_GUARDED_BY(mutex_);  // nullopt: never used
  int64_t filled_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The buckets of a table or of a global index.
struct CapacityBuckets {
  CapacityBucket read;
  CapacityBucket write;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_CATALOG_CAPACITY_BUCKET_H_
