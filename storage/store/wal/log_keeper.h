#ifndef ARMATURE_STORAGE_STORE_WAL_LOG_KEEPER_H_
#define ARMATURE_STORAGE_STORE_WAL_LOG_KEEPER_H_

// Files of the write-ahead log that an archive has not read yet: RocksDB deletes them when they are not needed for a
// start. docs/reference/format.md, "Data directory". Inside the store only.
//
//   state := "armature archiving" line "place: " text line "owner: " text line
//   families := (id " " name line)*                a torn last line is ignored
//   text := no line breaks;  line := "\n"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/store/files/volume.h"
#include "storage/store/options.h"
#include "storage/store/wal/log_batch.h"

namespace armature::store {

// Entry of the data directory with the files that are kept, relative to its path.
inline constexpr std::string_view kDataArchiving = "/archiving";

// Keeps each log file that RocksDB deletes under a second name, until the reader has passed it. An owner, a text of the
// reader, stands for the promise that no file is missing from where the reader began: it survives restarts, and is lost
// when a file cannot be kept, when the kept ones take more than `bytes_max` or space that clients are about to need, or
// when the database was opened without a keeper. Nothing is kept without an owner.
//
// A place that differs from the one of the last start means that another program has started the database since; see
// DataDirectory::MarkPlace. So also a start by a build that knows no keeper ends the promise.
//
// Thread-safety: thread-safe. Cost: nothing in writes. A deletion of a log file links it and syncs a directory.
class LogKeeper {
 public:
  // Takes over what the last start of the data directory has left. Called before the database is opened. Errors:
  // Unavailable.
  static absl::StatusOr<std::unique_ptr<LogKeeper>> Open(Volume* volume, const std::string& data_dir,
                                                         uint64_t bytes_max, DiskReserve reserve);
  // For an opening without a keeper: ends the promise. OK if there was none. Errors: Unavailable.
  static absl::Status Forget(Volume* volume, const std::string& data_dir);
  LogKeeper(const LogKeeper&) = delete;
  LogKeeper& operator=(const LogKeeper&) = delete;

  // To be called after DataDirectory::MarkPlace.
  void NotePlace();

  // Empty: a reader must begin anew.
  std::string owner() const;
  // Why the owner was lost last.
  std::string loss() const;
  // Keeps files from now on for `owner`, and forgets what was kept. `mark` is called once they are kept, before the
  // owner is durable. Errors: Unavailable, ResourceExhausted, with nothing kept.
  absl::Status Begin(std::string_view owner, const std::function<absl::Status()>& mark);
  // Ends the promise: nothing is kept any more.
  void Lose(std::string_view why);
  // The reader needs no files before `number`.
  void Release(uint64_t number);

  // To be called periodically: ends the promise if files are kept on a disk that is nearly full.
  void GiveWay();

  // The reserve of the disk from now on.
  void ChangeReserve(DiskReserve reserve) {
    const absl::MutexLock lock(&mutex_);
    reserve_ = reserve;
  }

  // Called before a log file is deleted.
  void OnDelete(const std::string& path, uint64_t number);
  // Called before families are dropped: the log may still name them.
  void OnDrop(const FamilyNamesById& families);

  // The path of a kept file, and their numbers: all that are at least `from`.
  std::string PathOf(uint64_t number) const;
  std::set<uint64_t> Kept(uint64_t from) const;
  FamilyNamesById dropped_families() const;
  uint64_t kept_bytes() const;

 private:
  LogKeeper(Volume* volume, const std::string& data_dir, uint64_t bytes_max, DiskReserve reserve);
  absl::Status ReadState() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteState(std::string_view owner) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Keep(const std::string& path, uint64_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AddFamilies(const FamilyNamesById& families) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LoseLocked(std::string_view why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes the end of the promise durable, and removes the files. Called again until the state is gone.
  void RemoveKept() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string Place() const;
  // True if what is kept must go before DiskSpace refuses the writes of clients.
  bool IsDiskShort() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Volume* const volume_;
  const std::string data_dir_;
  const std::string path_;
  const uint64_t bytes_max_;
  mutable absl::Mutex mutex_;
  DiskReserve reserve_ ABSL_GUARDED_BY(mutex_);
  std::string owner_ ABSL_GUARDED_BY(mutex_);
  std::string loss_ ABSL_GUARDED_BY(mutex_);
  bool has_old_state_ ABSL_GUARDED_BY(mutex_) = false;          // the state tells of an owner that is lost
  std::map<uint64_t, uint64_t> sizes_ ABSL_GUARDED_BY(mutex_);  // of the kept files, by number
  uint64_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t released_ ABSL_GUARDED_BY(mutex_) = 0;
  FamilyNamesById dropped_ ABSL_GUARDED_BY(mutex_);
  uint64_t families_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // size of the file
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_WAL_LOG_KEEPER_H_
