#include "storage/store/disk_space.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/time_histogram.h"
#include "storage/store/rocks_db.h"

namespace armature::store {
namespace {

constexpr int64_t kLookAlwaysBytes = 64 << 10;

// The smaller of the two limits; see DiskReserve.
uint64_t ReserveOf(const DiskReserve& reserve, uint64_t total_bytes) {
  return std::min(reserve.bytes, total_bytes / 100 * reserve.percent);
}

constexpr absl::Duration kInterval = absl::Seconds(1);
// Space needed to resume: for a new log, a manifest and other files.
constexpr uint64_t kRoomBytes = uint64_t{4} << 20;
// Upper limit as a fraction of the disk, for small disks: flushed rows are compressed.
constexpr uint64_t kRoomFraction = 16;
// Descriptors needed to resume: for a new log, a manifest and other files, and for a flushed file of each family.
constexpr size_t kRoomFiles = 16;

}  // namespace

DiskSpace::DiskSpace(DiskReserve reserve, Measure measure, std::function<void()> on_broken)
    : measure_(std::move(measure)), on_broken_(std::move(on_broken)), reserve_(reserve) {
  Look();
}

absl::Status DiskSpace::CheckEngine() const {
  switch (fault_.load(std::memory_order_acquire)) {
    case Fault::kNone:
      return absl::OkStatus();
    case Fault::kNoSpace:
      return ServiceUnavailableError(
          "The server's disk is full: writes are refused until there is space again; reads go on");
    case Fault::kNoDescriptors:
      return ServiceUnavailableError(
          "The server has no file descriptors left: writes are refused until some are free again; reads go on");
    case Fault::kBroken:
      break;
  }
  return ServiceUnavailableError(
      "The server's disk has failed: writes are refused until the server is restarted; reads go on");
}

absl::Status DiskSpace::CheckClients() const {
  ARM_RETURN_IF_ERROR(CheckEngine());
  if (!low_.load(std::memory_order_relaxed)) return absl::OkStatus();
  return ServiceUnavailableError(
      "The server's disk is nearly full: writes are refused until there is more space; reads go on");
}

void DiskSpace::Spend(uint64_t bytes) {
  const auto spent = static_cast<int64_t>(bytes);
  if (unseen_bytes_.fetch_sub(spent, std::memory_order_relaxed) <= spent) Look();
}

void DiskSpace::Look() {
  const absl::StatusOr<DiskUsage> usage = measure_();
  if (!usage.ok()) {
    LOG_EVERY_N(ERROR, 600) << "store: " << usage.status().message();
    unseen_bytes_.store(kLookAlwaysBytes, std::memory_order_relaxed);
    return;
  }
  const absl::MutexLock lock(&mutex_);
  const uint64_t reserve = ReserveOf(reserve_, usage->total_bytes);
  usage_ = *usage;
  reserve_bytes_ = reserve;
  const bool was_low = low_.load(std::memory_order_relaxed);
  const bool is_low = usage->free_bytes < (was_low ? reserve + reserve / 4 : reserve);
  const uint64_t above = usage->free_bytes > reserve ? usage->free_bytes - reserve : 0;
  unseen_bytes_.store(std::max(static_cast<int64_t>(above / 4), kLookAlwaysBytes), std::memory_order_relaxed);
  if (is_low == was_low) return;
  low_.store(is_low, std::memory_order_relaxed);
  if (is_low) {
    LOG(WARNING) << "store: the disk is nearly full, clients' writes are refused free_bytes=" << usage->free_bytes
                 << " reserve_bytes=" << reserve;
  } else {
    LOG(INFO) << "store: disk space is available again, writes are accepted free_bytes=" << usage->free_bytes
              << " reserve_bytes=" << reserve;
  }
}

void DiskSpace::ChangeReserve(DiskReserve reserve) {
  {
    const absl::MutexLock lock(&mutex_);
    reserve_ = reserve;
  }
  Look();
}

void DiskSpace::SetFailed(Shortage shortage) {
  Fault none = Fault::kNone;
  failures_.fetch_add(1, std::memory_order_relaxed);
  const Fault fault = shortage == Shortage::kSpace ? Fault::kNoSpace : Fault::kNoDescriptors;
  if (!fault_.compare_exchange_strong(none, fault, std::memory_order_acq_rel)) return;
  LOG(ERROR) << (shortage == Shortage::kSpace
                     ? "store: the disk is full, writes are refused until there is space, reads continue"
                     : "store: no file descriptors are left, writes are refused until there are some, reads continue; "
                       "raise the limit of open files");
}

void DiskSpace::SetBroken(Broken reason, std::string_view damage) {
  failures_.fetch_add(1, std::memory_order_relaxed);
  if (!damage.empty()) {
    const absl::MutexLock lock(&mutex_);
    damage_ = std::string(damage);
  }
  if (fault_.exchange(Fault::kBroken, std::memory_order_acq_rel) != Fault::kBroken) {
    LOG(ERROR) << (reason == Broken::kDamage
                       ? "store: writes are refused, because files that all tables need are damaged; restore a backup, "
                         "or see armature recover"
                       : "store: writes are refused until the daemon is restarted");
  }
  const bool is_told = reason == Broken::kWrite && !was_told_.exchange(true, std::memory_order_acq_rel);
  if (is_told && on_broken_ != nullptr) on_broken_();
}

void DiskSpace::SetResumed() {
  Fault fault = fault_.load(std::memory_order_acquire);
  if (!IsShortage(fault) || !fault_.compare_exchange_strong(fault, Fault::kNone, std::memory_order_acq_rel)) return;
  resumes_.fetch_add(1, std::memory_order_relaxed);
  LOG(INFO) << "store: writes are accepted again";
}

DiskReport DiskSpace::report() const {
  const Fault fault = fault_.load(std::memory_order_acquire);
  const absl::MutexLock lock(&mutex_);
  return {.usage = usage_,
          .reserve_bytes = reserve_bytes_,
          .is_low = low_.load(std::memory_order_relaxed),
          .has_failed = fault == Fault::kNoSpace,
          .has_no_descriptors = fault == Fault::kNoDescriptors,
          .is_broken = fault == Fault::kBroken,
          .damage = fault == Fault::kBroken ? damage_ : std::string(),
          .refused_total = refused_.load(std::memory_order_relaxed),
          .failures_total = failures_.load(std::memory_order_relaxed),
          .resumes_total = resumes_.load(std::memory_order_relaxed)};
}

bool CanOpenFiles(size_t count) {
  std::vector<int> opened;
  while (opened.size() < count) {
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0) break;
    opened.push_back(fd);
  }
  for (const int fd : opened) close(fd);
  return opened.size() == count;
}

DiskGuard::DiskGuard(RocksDb* db, DiskSpace* space) : db_(db), space_(space) {
  worker_.Start(Worker::Next::AtOnce().EvenIfStopped());
}

DiskGuard::~DiskGuard() {
  worker_.RequestStop();
  db_->CancelResume();
}

Worker::Next DiskGuard::Work() {
  space_->Look();
  db_->KeepResumable();
  db_->FlushIdle(MonotonicNs());
  if (space_->has_failed() && HasRoomToResume()) {
    const absl::Status resumed = db_->Resume();
    if (!resumed.ok()) {
      LOG_EVERY_N(WARNING, 60) << "store: cannot resume writes yet status=" << resumed;
    }
  }
  return Worker::Next::WhenWoken(kInterval);
}

// Resuming flushes memtables. An attempt without room for that would fail, and after a failed attempt RocksDB may wait
// for a flush that it does not start any more.
bool DiskGuard::HasRoomToResume() {
  const DiskUsage usage = space_->report().usage;
  const uint64_t room =
      kRoomBytes + db_->spare_bytes() + std::min(2 * db_->memtable_bytes(), usage.total_bytes / kRoomFraction);
  if (space_->is_low() || usage.free_bytes < room) return false;
  return !space_->lacks_descriptors() || CanOpenFiles(kRoomFiles + 2 * db_->family_count());
}

}  // namespace armature::store
