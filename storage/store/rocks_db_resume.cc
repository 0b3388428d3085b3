// Writes that go on after one failed for lack of space or descriptors.

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"
#include "storage/base/status_macros.h"
#include "storage/store/disk_space.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"
#include "storage/store/spare_file.h"

namespace armature::store {
namespace {

// The space that must be free to keep a spare file, as a multiple of its size.
constexpr uint64_t kSpareRoomFactor = 2;

}  // namespace

// RocksDB begins a new log only when it flushes a memtable, and flushes only memtables that are not empty. So the
// default family, which is otherwise empty, gets a mark in its memtable: the deletion of a key that never existed. The
// mark is not written to the log.
void RocksDb::KeepResumable() {
  if (keeper_ != nullptr) keeper_->GiveWay();
  if (const DiskReport disk = space_.report();
      !disk.is_read_only() && disk.usage.free_bytes > disk.reserve_bytes + kSpareRoomFactor * SpareFile::kBytes) {
    spare_.Keep();
  }
  rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  uint64_t entries = 0;
  if (!db_->GetIntProperty(family, rocksdb::DB::Properties::kNumEntriesActiveMemTable, &entries) || entries > 0) return;
  const absl::ReaderMutexLock gate(&write_gate_);
  if (space_.CheckEngine().ok()) static_cast<void>(WriteMark());
}

bool RocksDb::WriteMark() {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  // The mark can be written later, and the files that hold writes back may be those of a damaged family.
  options.no_slowdown = true;
  const rocksdb::Status status = db_->Delete(options, db_->DefaultColumnFamily(), "mark");
  if (!status.ok()) {
    LOG_EVERY_N(WARNING, 60) << "store: cannot write the memtable mark status=" << status.ToString();
  }
  return status.ok();
}

absl::Status RocksDb::Resume() {
  const absl::WriterMutexLock gate(&write_gate_);
  if (!space_.has_failed()) return space_.CheckEngine();
  log_files_.set_resuming(true);
  const rocksdb::Status resumed = ResumeEngine();
  log_files_.set_resuming(false);
  ARM_RETURN_IF_ERROR(FromRocks(resumed, "resume"));
  ARM_RETURN_IF_ERROR(FromRocks(ShrinkMemtables(), "resume"));
  // Written before any other write, because the next write may fail like the last one.
  if (!WriteMark()) return UnavailableError("resume: writes are held back");
  // All memtables were empty. The mark makes one non-empty, so the next attempt begins a new log.
  if (log_files_.newest_is_closed()) return UnavailableError("resume: there is no new log yet");
  space_.SetResumed();
  const absl::MutexLock lock(&resume_listener_mutex_);
  if (on_resumed_ != nullptr) on_resumed_();
  return absl::OkStatus();
}

void RocksDb::SetResumeListener(std::function<void()> resumed) {
  const absl::MutexLock lock(&resume_listener_mutex_);
  on_resumed_ = std::move(resumed);
}

rocksdb::Status RocksDb::ResumeEngine() {
  // Read after set_resuming. CancelResume writes and reads the two in the opposite order, so one of them sees the
  // other.
  if (resume_cancelled_) return rocksdb::Status::ShutdownInProgress();
  // RocksDB's Resume requires that the failure of a manifest has disabled file deletions, which a family being created
  // behind the failure of a log does not do, and would abort. A successful Resume enables
  // them for all, so a backup in progress may miss a file, and fails.
  if (const rocksdb::Status disabled = db_->DisableFileDeletions(); !disabled.ok()) return disabled;
  const rocksdb::Status resumed = db_->Resume();
  db_->EnableFileDeletions(/*force=*/false);
  if (!resumed.ok()) return resumed;
  if (log_files_.newest_is_closed()) {
    // A log that could not be made is empty, and RocksDB begins a new one only behind one that is not, and to flush.
    // The closed log drops this.
    rocksdb::WriteBatch nothing;
    nothing.PutLogData("resume");
    if (const rocksdb::Status written = db_->Write(rocksdb::WriteOptions(), &nothing); !written.ok()) return written;
    static_cast<void>(WriteMark());  // if it fails, there is no new log yet, and the next attempt writes it
  }
  // Without a background error of its own, RocksDB's Resume does nothing.
  rocksdb::FlushOptions flush;
  flush.allow_write_stall = true;
  return db_->Flush(flush, Handles());
}

void RocksDb::CancelResume() {
  resume_cancelled_ = true;
  if (log_files_.resuming()) rocksdb::CancelAllBackgroundWork(db_.get(), /*wait=*/false);
}

}  // namespace armature::store
