#ifndef ARMATURE_STORAGE_STORE_LOG_FILES_H_
#define ARMATURE_STORAGE_STORE_LOG_FILES_H_

// Write-ahead log files that stay free of torn records when the disk is full, and that are registered. Inside the store
// only.

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/env.h"
#include "rocksdb/io_status.h"
#include "storage/store/files/volume.h"
#include "storage/store/wal/log_keeper.h"
#include "storage/store/wal/log_register.h"
#include "storage/store/wal/sync_mark.h"

namespace armature::store {

// Text of the refusal to write RocksDB's files of options, which RocksDB logs.
inline constexpr char kNoOptionsFiles[] = "files of options are not written";

// State shared by the write-ahead log files.
//
// On a full disk the log may end in a torn record. Once resumed, RocksDB would write the rest of that record to the
// same file, behind the torn part; a crash would then leave a log with damage in its middle. So a log file whose write
// has failed is truncated to its last whole record and closed permanently: refused writes leave no trace in it. While
// `resuming` is set, further data for a closed file is dropped without an error, so that RocksDB can switch to a new
// file.
//
// A batch is refused, too, if the sync that is part of its write fails. RocksDB leaves its record in the log, uses its
// sequence numbers again, and would replay it after a crash, perhaps for those families only that were not flushed
// since. So the record is cut off, and no new log file is made before the cut is on disk. Until then no flush can
// make the old file unnecessary for a part of the families.
//
// A log file that cannot be made for want of space or descriptors is made all the same, closed from the beginning and
// not on disk, so that the write that needs it fails and not the switch to it. After a switch that failed, RocksDB
// switches the same memtable again, and if it has deleted ranges, an assertion ends the process. If a cut is not on
// disk yet, table files fail in its place.
//
// The failed write is reported to RocksDB as Busy. If it were reported as NoSpace, RocksDB would stop flushes, forget a
// flush in progress, and wait for that flush forever when resumed. Writers call newest_is_closed() instead.
//
// Thread-safety: thread-safe.
class LogFiles {
 public:
  // `logs` learns of every log file, `keeper` of those that are deleted; both outlive this object. Null: nobody does.
  explicit LogFiles(LogRegister* logs, LogKeeper* keeper = nullptr) : register_(logs), keeper_(keeper) {}

  // How far the newest synced file of the write-ahead log is on disk, and with it all files before it.
  LogPosition synced() const;

  // True if the newest file is closed permanently.
  bool newest_is_closed() const { return closed_.load() == made_.load() && made_.load() != 0; }
  void set_resuming(bool resuming) { resuming_.store(resuming); }
  // Called when the database is open: until then, a log file that cannot be made is an error.
  void set_open() { is_open_.store(true); }
  bool is_open() const { return is_open_.load(); }
  // Why the newest file is closed, if it is for want of something.
  bool lacks_descriptors() const { return lacks_descriptors_.load(); }

  // In its scope, a log file that cannot be synced on this thread refuses the last record of the newest file. Holds for
  // the thread that writes a batch and syncs it, not for one that syncs what was acknowledged before.
  class SyncedWrite {
   public:
    SyncedWrite();
    ~SyncedWrite();
    SyncedWrite(const SyncedWrite&) = delete;
    SyncedWrite& operator=(const SyncedWrite&) = delete;
  };

  // A file of the write-ahead log, as far as this class needs it.
  class File {
   public:
    // Removes the last record that was appended, and accepts no more. Called by the thread that writes the log. False
    // if there is none.
    virtual bool RefuseLastRecord() = 0;
    // Makes the removal durable. OK if no record was refused.
    virtual rocksdb::IOStatus SyncRefusal() = 0;

   protected:
    ~File() = default;
  };

  // Called by the files.
  uint64_t OnMade(File* file);
  void OnGone(File* file);
  void OnClosed(uint64_t number, bool lacks_descriptors = false) {
    lacks_descriptors_.store(lacks_descriptors);
    closed_.store(number);
  }
  // Called when a file could not be synced.
  void OnSyncFailed();
  // To be called before a file is made with what the logs have. An error: it must not be made now.
  rocksdb::IOStatus SyncRefusal();
  bool resuming() const { return resuming_.load(); }
  LogRegister* log_register() const { return register_; }
  LogKeeper* keeper() const { return keeper_; }
  void OnSynced(LogName name, uint64_t size);

 private:
  LogRegister* const register_;
  LogKeeper* const keeper_;
  mutable absl::Mutex mutex_;
  LogPosition synced_ ABSL_GUARDED_BY(mutex_);
  File* newest_ ABSL_GUARDED_BY(mutex_) = nullptr;
  File* refused_ ABSL_GUARDED_BY(mutex_) = nullptr;  // the last one with a refused record
  std::atomic<uint64_t> made_ = 0;
  std::atomic<uint64_t> closed_ = 0;  // number of the last file that was closed permanently
  std::atomic<bool> lacks_descriptors_ = false;
  std::atomic<bool> resuming_ = false;
  std::atomic<bool> is_open_ = false;
};

// `status` of a call that left `error` in errno, changed to NoSpace if `error` is a shortage (IsShortageError). RocksDB
// would treat a shortage of descriptors as a failure that only a restart repairs.
rocksdb::IOStatus NameShortage(rocksdb::IOStatus status, int error);

// The files of `volume` as they are given to RocksDB: it makes log files as above, and reports every shortage (full
// disk, quota, file size limit, descriptors) as NoSpace. Both arguments outlive it.
std::unique_ptr<rocksdb::Env> MakeEnv(Volume* volume, LogFiles* files);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_LOG_FILES_H_
