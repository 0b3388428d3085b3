#ifndef ARMATURE_STORAGE_STORE_CATALOG_CAPACITY_BUCKET_H_
#define ARMATURE_STORAGE_STORE_CATALOG_CAPACITY_BUCKET_H_

// Token bucket for capacity units: refills at a rate, saves unused units for a while, and may be overdrawn.

#include <algorithm>
#include <atomic>
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

// Uses of a table or of a global index since the start of the process, whether or not its throughput is limited.
//
// Thread-safety: thread-safe. Cost: two relaxed additions for each use.
class UseCount {
 public:
  // A request, a page of a read or a member of a batch, took `units`, a multiple of a half.
  void Add(double units) {
    requests_.fetch_add(1, std::memory_order_relaxed);
    half_units_.fetch_add(static_cast<uint64_t>(units * 2), std::memory_order_relaxed);
  }
  void AddThrottled() { throttled_.fetch_add(1, std::memory_order_relaxed); }

  uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }
  uint64_t throttled() const { return throttled_.load(std::memory_order_relaxed); }
  double units() const { return static_cast<double>(half_units_.load(std::memory_order_relaxed)) / 2; }

 private:
  std::atomic<uint64_t> requests_ = 0;
  std::atomic<uint64_t> half_units_ = 0;
  std::atomic<uint64_t> throttled_ = 0;
};

// The buckets and the uses of a table or of a global index.
struct CapacityBuckets {
  CapacityBucket read;
  CapacityBucket write;
  UseCount reads;
  UseCount writes;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_CATALOG_CAPACITY_BUCKET_H_
