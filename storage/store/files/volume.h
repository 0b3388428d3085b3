#ifndef ARMATURE_STORAGE_STORE_FILES_VOLUME_H_
#define ARMATURE_STORAGE_STORE_FILES_VOLUME_H_

// The place of a database's files. The store and RocksDB reach files of databases and backups only through a Volume.
// See docs/decisions/0033-one-file-system-object.md

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rocksdb {
class Env;
class FileSystem;
}  // namespace rocksdb

namespace armature::store {

// Suffix of a file that Volume::WriteDurably has not completed yet.
inline constexpr std::string_view kUnfinishedSuffix = ".new";

// Size of a volume in bytes. `free_bytes` is available to this process.
struct DiskUsage {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;
};

enum class LinkKind { kHard, kSymbolic };

// A lock of a file, held until destroyed.
class VolumeLock {
 public:
  virtual ~VolumeLock() = default;
  // False if the file was removed, perhaps before the lock was taken.
  virtual bool IsLinked() const = 0;
};

// An open file, read and changed at any place.
//
// Thread-safety: thread-compatible. Errors: Unavailable; ResourceExhausted without space.
class VolumeFile {
 public:
  virtual ~VolumeFile() = default;

  // Reads the bytes from `offset` on to `to`. Returns their number, which is below `size` only at the end of the file.
  virtual absl::StatusOr<size_t> ReadAt(uint64_t offset, size_t size, char* to) const = 0;
  // Writes bytes at `offset`, visible to readers at once. Extends the file if necessary.
  virtual absl::Status WriteAt(uint64_t offset, std::string_view bytes) = 0;
  // Makes the content durable.
  virtual absl::Status Sync() = 0;
  // Shortens the file to `size` bytes, durably.
  virtual absl::Status Truncate(uint64_t size) = 0;
  virtual absl::StatusOr<uint64_t> Size() const = 0;
  // Makes later reads return the bytes on the medium and not those in a cache, as far as possible.
  virtual void DropCached() {}
};

// A file system for databases: the one object through which files are read, written, locked and removed.
//
// Paths are absolute, or relative to a place that the volume knows; parts are separated by '/'. Content is durable
// after it was synced. The name of a file or directory, its new name and its removal are durable after SyncDirectory of
// the directory that holds it; a volume may make them durable earlier. Bytes that were written and not synced are
// readable at once, and last as long as boot() stays the same.
//
// Thread-safety: thread-safe.
// Lifetime: outlives all objects made with it.
// Errors: NotFound where said; ResourceExhausted without space or descriptors; Unavailable. Each text names the path.
class Volume {
 public:
  virtual ~Volume();
  Volume(const Volume&) = delete;
  Volume& operator=(const Volume&) = delete;

  // The volume's files, for RocksDB. Reads of its random-access files heed NoWaitReads.
  const std::shared_ptr<rocksdb::FileSystem>& file_system() const { return file_system_; }
  rocksdb::Env* env() const { return env_.get(); }

  // Errors: NotFound.
  virtual absl::StatusOr<std::string> Read(const std::string& path) = 0;
  // Replaces the file atomically: after a crash it is complete, or as it was before. Then its name is durable, too.
  virtual absl::Status WriteDurably(const std::string& path, std::string_view text) = 0;
  // Opens an existing file, to read it only or to change it, too. Errors: NotFound.
  enum class Access { kRead, kChange };
  virtual absl::StatusOr<std::unique_ptr<VolumeFile>> Open(const std::string& path, Access access) = 0;
  // Makes the file `path`, or completes it, so that it takes `bytes` of space. Not durable. After an error there is no
  // such file.
  virtual absl::Status Allocate(const std::string& path, uint64_t bytes) = 0;

  // True if `path` names a file or directory. An error: the volume cannot tell.
  virtual absl::StatusOr<bool> Exists(const std::string& path) = 0;
  // Bytes of a file. Errors: NotFound.
  virtual absl::StatusOr<uint64_t> Size(const std::string& path) = 0;
  // Names of the entries of a directory, in no order. Errors: NotFound; FailedPrecondition if it is a file.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& directory) = 0;

  // Creates directory `path` and its missing parents, durably.
  virtual absl::Status MakeDirectories(const std::string& path) = 0;
  // Makes the entries of a directory durable. Errors: NotFound.
  virtual absl::Status SyncDirectory(const std::string& path) = 0;
  // Removes a file or an empty directory. False if there is none.
  virtual absl::StatusOr<bool> Remove(const std::string& path) = 0;
  // Removes a file, or a directory with all that is in it. OK if there is none.
  virtual absl::Status RemoveTree(const std::string& path) = 0;
  // Makes `to` another name of the file `from`, or a copy if that is impossible (kHard). A symbolic link leaves the
  // number of the file's names as it is. Not durable.
  virtual absl::Status Link(const std::string& from, const std::string& to, LinkKind kind) = 0;
  // A new, empty directory for files that are needed for a short time. The caller removes it.
  virtual absl::StatusOr<std::string> MakeScratchDirectory() = 0;

  // Locks a file against other processes and other locks of this one. kSharedIfPossible tolerates a volume without
  // locks, which is read-only as a rule. kAlone with `make` creates a missing file. Errors: NotFound;
  // FailedPrecondition if a conflicting lock is held.
  enum class LockMode { kShared, kSharedIfPossible, kAlone };
  virtual absl::StatusOr<std::unique_ptr<VolumeLock>> Lock(const std::string& path, LockMode mode, bool make) = 0;

  // Space of the part of the volume that holds `path`.
  virtual absl::StatusOr<DiskUsage> Measure(const std::string& path) = 0;
  // `path` in its one absolute form, without a slash at the end.
  virtual std::string Absolute(const std::string& path) const = 0;
  // Takes the rights on a directory from all other users, if the volume knows users.
  virtual absl::Status CloseToOthers(const std::string& directory) = 0;
  // The permission bits of a directory if they give other users rights, else 0.
  virtual unsigned OpenToOthers(const std::string& directory) = 0;

  // The identity of a file, by which it differs from every other one, also from a copy of it under the same path. The
  // file keeps it as long as it exists, and a copy has another one. One line of text; empty: the volume does not know
  // it, or not reliably. A volume whose files cannot be copied one by one may give all of them its own identity.
  // Errors: NotFound.
  virtual absl::StatusOr<std::string> IdentityOf(const std::string& path) = 0;

  // OK while no other process can have changed the files since this one opened them: what is in memory is then the
  // newest. Errors: Unavailable, for a volume that may get another owner.
  virtual absl::Status CheckCurrent() const { return absl::OkStatus(); }

  // Identifies the time during which bytes last that are written and not synced: a run of the machine if its page cache
  // holds them. Another number than at an earlier time: they may be gone. 0: unknown.
  virtual uint64_t boot() const = 0;

 protected:
  // `file_system` shows the files of this volume.
  explicit Volume(std::shared_ptr<rocksdb::FileSystem> file_system);

 private:
  const std::shared_ptr<rocksdb::FileSystem> file_system_;
  const std::unique_ptr<rocksdb::Env> env_;
};

// The file systems of this machine. Paths may be relative to the working directory. Exists until the process ends.
Volume* LocalVolume();

// For programs that write data directories or backups to the local volume: files and directories that the process
// creates from now on are accessible to its user only. The engine has no option for it, so this sets the process's
// umask. Returns the old umask.
unsigned RestrictNewFiles();

// The last part of a path, and what is before it, without the slash between them. "a" is in "", "/a" is in "/".
std::string_view NameIn(std::string_view path);
std::string_view ParentOf(std::string_view path);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_FILES_VOLUME_H_
