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
// Space needed to resume: for a new log, a manifest and other files.
constexpr uint64_t kRoomBytes = uint64_t{4} << 20;
// Upper limit as a fraction of the disk, for small disks: flushed rows are compressed.
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
  // Resuming flushes memtables. An attempt without room for that would fail, and after a failed attempt RocksDB may
  // wait for a flush that it does not start any more.
  const DiskUsage usage = space_->report().usage;
  const uint64_t room = kRoomBytes + std::min(2 * db_->memtable_bytes(), usage.total_bytes / kRoomFraction);
  if (space_->is_low() || usage.free_bytes < room) return;
  const absl::Status resumed = db_->Resume();
  if (!resumed.ok()) {
    LOG_EVERY_N(WARNING, 60) << "store: cannot resume writes yet status=" << resumed;
  }
}

}  // namespace armature::store
