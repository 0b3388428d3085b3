#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_FILES_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_FILES_H_

// The files of a backup directory: manifests, listing, integrity checks, and removal of unneeded files.
// docs/reference/format.md, "Backup directory". Inside the store only.
//
//   manifest := "armature backup" line field* "checksum: " hash line
//   field := name ": " value line                  format, backup, engine, database, data_format, started_ms,
//                                                  finished_ms, size_bytes, added_bytes, note in hex, meta, files
//   meta value := bytes " " hash
//   file value := crc32c " " bytes " " path
//   hash := XXH3-128 in hex; that of the checksum is of all bytes before the line
//   line := "\n"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/rate_limiter.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/files/volume.h"

namespace armature::store {

inline constexpr int kBackupFormatVersion = 1;

// A data file of a backup.
struct BackupFile {
  std::string name;  // relative to the backup directory
  uint64_t size = 0;
  uint32_t crc32c = 0;
};

// The manifest of a backup, which lists its files. A backup exists if its manifest does.
struct BackupManifest {
  BackupEntry entry;  // without damage
  uint32_t engine_id = 0;
  uint64_t meta_bytes = 0;  // size of RocksDB's own file about the backup
  std::string meta_checksum;
  std::vector<BackupFile> files;  // in the order of RocksDB's own file
};

// XXH3-128 (seed 0) in hex.
std::string BackupChecksum(std::string_view bytes);

std::string EncodeBackupManifest(const BackupManifest& manifest);
// Errors: DataLoss if any byte is damaged; FailedPrecondition if the format is newer than this build's.
absl::StatusOr<BackupManifest> ParseBackupManifest(std::string_view text);

// Parses the files named in RocksDB's own file, which has no sizes. Errors: DataLoss.
absl::StatusOr<std::vector<BackupFile>> ParseEngineMeta(std::string_view text);

// Progress, speed limit and cancellation of a backup operation.
//
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

// A backup found in the directory.
struct KnownBackup {
  BackupEntry entry;
  std::optional<BackupManifest> manifest;  // nullopt if it cannot be read
  absl::Status state;                      // DataLoss if it is damaged; entry.damage is its text
};

// Thread-safety: immutable; callers synchronize access to the files.
class BackupFiles {
 public:
  BackupFiles(Volume* volume, std::string path) : volume_(volume), path_(std::move(path)) {}

  Volume* volume() const { return volume_; }
  const std::string& path() const { return path_; }
  std::string PathOf(std::string_view name) const;
  std::string ManifestPath(BackupId id) const;
  std::string MetaPath(uint32_t engine_id) const;

  // All backups in ascending order of their ids.
  absl::StatusOr<std::vector<KnownBackup>> ReadAll() const;
  // Errors: NotFound.
  absl::StatusOr<KnownBackup> Read(BackupId id) const;
  // Locks the backup against deletion while the result lives. Errors: NotFound.
  absl::StatusOr<std::unique_ptr<VolumeLock>> Hold(BackupId id) const;

  // Reads `file` from disk (bypassing the page cache where possible) and compares it with its checksum.
  // Errors: DataLoss, Cancelled, Unavailable.
  absl::Status CheckContent(const BackupFile& file, BackupWork* work) const;

  // Engine numbers that RocksDB must not reuse: those of `known` backups, and those that have files.
  std::set<uint32_t> EngineIds(const std::vector<KnownBackup>& known) const;

  // Removes the files that no backup of `known` needs: leftovers of interrupted attempts and of deleted backups. Each
  // of `known` must have a manifest. Files that cannot be removed are logged.
  void Sweep(const std::vector<KnownBackup>& known) const;
  // Removes the files of `manifest` that none of `others` needs. A backup without a manifest may need any file.
  void RemoveFilesOf(const BackupManifest& manifest, const std::vector<KnownBackup>& others) const;

 private:
  class Sizes;
  absl::StatusOr<KnownBackup> Read(BackupId id, Sizes* sizes) const;
  absl::Status Check(const BackupManifest& manifest, Sizes* sizes) const;
  std::set<std::string> Needed(const std::vector<KnownBackup>& known) const;
  std::vector<std::string> NamesIn(std::string_view directory) const;
  void Remove(const std::string& path) const;

  Volume* const volume_;
  const std::string path_;
};

bool HasDamage(const std::vector<KnownBackup>& known);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_FILES_H_
