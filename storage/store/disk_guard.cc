#include "storage/store/disk_guard.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "glog/logging.h"
#include "storage/base/thread_pool.h"
#include "storage/store/disk_space.h"
#include "storage/store/rocks_db.h"

namespace armature::store {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(1);
// For a new log, a manifest, and what else is written to resume.
constexpr uint64_t kRoomBytes = uint64_t{4} << 20;
// Of a small disk not more than this part: rows are packed when they are flushed.
constexpr uint64_t kRoomFraction = 16;

}  // namespace

DiskGuard::DiskGuard(RocksDb* db, DiskSpace* space) : db_(db), space_(space) {
  thread_ = std::thread([this] { Work(); });
}

DiskGuard::~DiskGuard() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    stop_.Signal();
  }
  db_->CancelResume();
  thread_.join();
}

void DiskGuard::Work() {
  SetThreadName("arm-disk");
  while (true) {
    RunOnce();
    const absl::MutexLock lock(&mutex_);
    if (!stopping_) stop_.WaitWithTimeout(&mutex_, kInterval);
    if (stopping_) return;
  }
}

void DiskGuard::RunOnce() {
  space_->Look();
  db_->KeepResumable();
  if (!space_->has_failed()) return;
  // Memtables are flushed to resume. Without room for that it would be in vain, and worse: after an attempt that fails
  // RocksDB may wait for a flush that it no longer begins.
  const DiskUsage usage = space_->report().usage;
  const uint64_t room = kRoomBytes + std::min(2 * db_->memtable_bytes(), usage.total_bytes / kRoomFraction);
  if (space_->is_low() || usage.free_bytes < room) return;
  const absl::Status resumed = db_->Resume();
  if (!resumed.ok()) {
    LOG_EVERY_N(WARNING, 60) << "store: cannot take writes again yet status=" << resumed;
  }
}

}  // namespace armature::store
