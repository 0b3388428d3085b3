#ifndef ARMATURE_STORAGE_STORE_DISK_SPACE_H_
#define ARMATURE_STORAGE_STORE_DISK_SPACE_H_

// Whether the disk of a database takes writes: how much is free, and what has failed.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/store/options.h"

namespace armature::store {

// A file system, in bytes. `free_bytes` is what this process may still take.
struct DiskUsage {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;
};

// Of the file system that holds `path`. Errors: Unavailable.
absl::StatusOr<DiskUsage> MeasureDisk(const std::string& path);

// For status reports.
struct DiskReport {
  DiskUsage usage;
  uint64_t reserve_bytes = 0;
  bool is_low = false;      // less than the reserve was free
  bool has_failed = false;  // a write failed for want of space, and the engine has not been resumed
  bool is_broken = false;   // only a restart helps
  uint64_t refused_total = 0;
  uint64_t failures_total = 0;
  uint64_t resumes_total = 0;
};

// Writes of clients stop when less than the reserve is free, and go on when a quarter more than it is: at the edge they
// would stop and go with each flush. What is left serves what must still be written: flushes, compaction, indexes that
// follow, deletions of tables.
//
// Thread-safety: thread-safe. Cost: CheckClients and Spend are an atomic load or two.
class DiskSpace {
 public:
  using Measure = std::function<absl::StatusOr<DiskUsage>()>;
  DiskSpace(DiskReserve reserve, Measure measure);

  // Whether clients may write: OK, or ServiceUnavailable with the reason.
  absl::Status CheckClients() const;
  // Whether anything may be written: not after a failure. Otherwise the same errors.
  absl::Status CheckEngine() const;
  void CountRefused() { refused_.fetch_add(1, std::memory_order_relaxed); }

  // So many bytes are about to be written. Looks at the disk again when a quarter of what was above the reserve may be
  // gone: fast writers would run past the reserve between two looks.
  void Spend(uint64_t bytes);
  // Looks at the disk. A failure to do so changes nothing.
  void Look();

  // A write failed for want of space, or in a way that only a restart mends.
  void SetFailed();
  void SetBroken();
  // The engine takes writes again.
  void SetResumed();
  bool has_failed() const { return fault_.load(std::memory_order_acquire) == Fault::kNoSpace; }
  bool is_low() const { return low_.load(std::memory_order_relaxed); }

  DiskReport report() const;

 private:
  enum class Fault : uint8_t { kNone, kNoSpace, kBroken };

  const DiskReserve reserve_;
  const Measure measure_;
  std::atomic<bool> low_ = false;
  std::atomic<Fault> fault_ = Fault::kNone;
  std::atomic<int64_t> unseen_bytes_ = 0;  // that may be written before the next look
  std::atomic<uint64_t> refused_ = 0;
  std::atomic<uint64_t> failures_ = 0;
  std::atomic<uint64_t> resumes_ = 0;
  mutable absl::Mutex mutex_;
  DiskUsage usage_ ABSL_GUARDED_BY(mutex_);
  uint64_t reserve_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DISK_SPACE_H_
