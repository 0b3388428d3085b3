#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_WORK_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_WORK_H_

// Progress, speed limit and cancellation of a backup operation. Inside the store only.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "rocksdb/rate_limiter.h"
#include "storage/store/backup/backup_repository.h"

namespace armature::store {

// Thread-safety: used by one thread at a time, except cancelled(), which is thread-safe.
class BackupWork {
 public:
  // `limiter` may be null.
  BackupWork(const BackupObserver& observer, rocksdb::RateLimiter* limiter) : observer_(observer), limiter_(limiter) {}
  BackupWork(const BackupWork&) = delete;
  BackupWork& operator=(const BackupWork&) = delete;

  // Adds `bytes` to the total.
  void Expect(uint64_t bytes) { progress_.total_bytes += bytes; }
  // Sets the total to the bytes done.
  void Settle() { progress_.total_bytes = progress_.done_bytes; }
  // Adds `bytes` to the bytes done and calls the observer. Errors: Cancelled.
  absl::Status Advance(uint64_t bytes) {
    progress_.done_bytes += bytes;
    progress_.total_bytes = std::max(progress_.total_bytes, progress_.done_bytes);
    if (!cancelled_ && observer_ && !observer_(progress_)) cancelled_ = true;
    return cancelled_ ? absl::CancelledError("cancelled") : absl::OkStatus();
  }
  bool cancelled() const { return cancelled_; }

  // Size of one read.
  size_t ChunkBytes() const {
    constexpr size_t kChunkBytes = size_t{1} << 20;
    return limiter_ == nullptr ? kChunkBytes
                               : std::min(kChunkBytes, static_cast<size_t>(limiter_->GetSingleBurstBytes()));
  }
  // Waits until the speed limit permits a read of `bytes`.
  void WaitToRead(size_t bytes) {
    if (limiter_ == nullptr || bytes == 0) return;
    limiter_->Request(static_cast<int64_t>(bytes), rocksdb::Env::IO_LOW, /*stats=*/nullptr,
                      rocksdb::RateLimiter::OpType::kRead);
  }

 private:
  const BackupObserver& observer_;
  rocksdb::RateLimiter* const limiter_;
  BackupProgress progress_;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_WORK_H_
