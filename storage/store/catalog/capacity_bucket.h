#ifndef ARMATURE_STORAGE_STORE_CATALOG_CAPACITY_BUCKET_H_
#define ARMATURE_STORAGE_STORE_CATALOG_CAPACITY_BUCKET_H_

// Token bucket for capacity units: refills at a rate, saves unused units for a while, and may be overdrawn.

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
  int64_t WaitMs(double rate, int64_t now_ns);
  // Takes the units used by an operation, even if the bucket holds less.
  void Charge(double units, double rate, int64_t now_ns);

 private:
  void Fill(double rate, int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

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
