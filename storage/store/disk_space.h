#ifndef ARMATURE_STORAGE_STORE_DISK_SPACE_H_
#define ARMATURE_STORAGE_STORE_DISK_SPACE_H_

// Admission of writes by free disk space and past write failures.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/worker.h"
#include "storage/store/files/volume.h"
#include "storage/store/options.h"

namespace armature::store {

class RocksDb;

// The lack that made a write fail.
enum class Shortage : uint8_t { kSpace, kDescriptors };

// State of the disk, for status reports.
struct DiskReport {
  DiskUsage usage;
  uint64_t reserve_bytes = 0;
  bool is_low = false;              // free space is below the reserve
  bool has_failed = false;          // a write failed for lack of space, and the engine has not been resumed
  bool has_no_descriptors = false;  // a write failed for lack of file descriptors, and the engine has not been resumed
  bool is_broken = false;           // only a restart helps
  std::string damage;               // the damage of files that broke it, if it was damage

  bool is_read_only() const { return is_low || has_failed || has_no_descriptors || is_broken; }
  uint64_t refused_total = 0;
  uint64_t failures_total = 0;
  uint64_t resumes_total = 0;
};

// Client writes stop when free space falls below the reserve, and resume when it exceeds the reserve by a quarter. The
// margin keeps them from stopping and resuming with every flush. The reserve serves internal writes: flushes,
// compaction, index updates, deletions of tables.
//
// Thread-safety: thread-safe. Cost: CheckClients and Spend are one or two atomic loads.
class DiskSpace {
 public:
  using Measure = std::function<absl::StatusOr<DiskUsage>()>;
  // `on_broken` is called once, by the first SetBroken with kWrite, on the thread of the write that failed. May be
  // null.
  DiskSpace(DiskReserve reserve, Measure measure, std::function<void()> on_broken = nullptr);

  // OK if clients may write, else ServiceUnavailable with the reason.
  absl::Status CheckClients() const;
  // OK unless a write failed and the engine has not been resumed, else ServiceUnavailable.
  absl::Status CheckEngine() const;
  void CountRefused() { refused_.fetch_add(1, std::memory_order_relaxed); }

  // Announces a write of `bytes`. Measures the disk again when the announced writes may have used a quarter of the
  // space above the reserve: between two periodic measurements, fast writers could run past the reserve.
  void Spend(uint64_t bytes);
  // Measures the disk. A failed measurement changes nothing.
  void Look();

  // A write failed for lack of space or descriptors (SetFailed), or in a way that only a restart repairs (SetBroken).
  // kDamage: files are damaged, and will be so after a restart.
  enum class Broken : uint8_t { kWrite, kDamage };
  void SetFailed(Shortage shortage);
  // `damage` is shown to operators.
  void SetBroken(Broken reason, std::string_view damage = {});
  // The engine accepts writes again.
  void SetResumed();
  bool has_failed() const { return IsShortage(fault_.load(std::memory_order_acquire)); }
  bool lacks_descriptors() const { return fault_.load(std::memory_order_acquire) == Fault::kNoDescriptors; }
  bool is_low() const { return low_.load(std::memory_order_relaxed); }

  // The reserve from now on.
  void ChangeReserve(DiskReserve reserve);

  DiskReport report() const;

 private:
  enum class Fault : uint8_t { kNone, kNoSpace, kNoDescriptors, kBroken };
  static bool IsShortage(Fault fault) { return fault == Fault::kNoSpace || fault == Fault::kNoDescriptors; }

  const Measure measure_;
  const std::function<void()> on_broken_;
  std::atomic<bool> was_told_ = false;  // on_broken_
  std::atomic<bool> low_ = false;
  std::atomic<Fault> fault_ = Fault::kNone;
  std::atomic<int64_t> unseen_bytes_ = 0;  // announced writes that remain before the next measurement
  std::atomic<uint64_t> refused_ = 0;
  std::atomic<uint64_t> failures_ = 0;
  std::atomic<uint64_t> resumes_ = 0;
  mutable absl::Mutex mutex_;
  DiskReserve reserve_ ABSL_GUARDED_BY(mutex_);
  DiskUsage usage_ ABSL_GUARDED_BY(mutex_);
  std::string damage_ ABSL_GUARDED_BY(mutex_);
  uint64_t reserve_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// True if this process can open `count` more files now. Opens as many for a moment.
bool CanOpenFiles(size_t count);

// One thread that once a second measures the free space, keeps the spare file, flushes idle memtables, and resumes the
// database after a write failed for lack of space or descriptors.
//
// Thread-safety: owned by one thread. Lifetime: both arguments outlive it; the destructor joins the thread.
class DiskGuard {
 public:
  DiskGuard(RocksDb* db, DiskSpace* space);
  ~DiskGuard();
  DiskGuard(const DiskGuard&) = delete;
  DiskGuard& operator=(const DiskGuard&) = delete;

 private:
  Worker::Next Work();
  bool HasRoomToResume();

  RocksDb* const db_;
  DiskSpace* const space_;
  Worker worker_{"arm-disk", [this] { return Work(); }};
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DISK_SPACE_H_
