#ifndef ARMATURE_STORAGE_STORE_CATALOG_CAPACITY_BUCKET_H_
#define ARMATURE_STORAGE_STORE_CATALOG_CAPACITY_BUCKET_H_

// Capacity that flows in at a rate, is saved for a while, and may be overdrawn.

#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace armature::store {

// The rate, in units per second and above 0, comes with each call and may differ from the one before: a changed one
// holds at once. Times are nanoseconds of a clock that is never set; one that lies back adds nothing.
//
// Thread-safety: thread-safe. Starts full.
class CapacityBucket {
 public:
  // What was not used is saved for so long.
  static constexpr double kSavedSeconds = 300;

  // How long, in milliseconds, until there is any capacity; 0: there is now, and an operation of any size may begin.
  int64_t WaitMs(double rate, int64_t now_ns);
  // Takes what an operation has used, also if that is more than there is.
  void Charge(double units, double rate, int64_t now_ns);

 private:
  void Fill(double rate, int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  std::optional<double> units_ ABSL_GUARDED_BY(mutex_);  // nullopt: never used
  int64_t filled_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Those of a table or of a global index.
struct CapacityBuckets {
  CapacityBucket read;
  CapacityBucket write;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_CATALOG_CAPACITY_BUCKET_H_
