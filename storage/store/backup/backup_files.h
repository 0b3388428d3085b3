#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_FILES_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_FILES_H_

// The files of a backup directory: listing, integrity checks, and removal of unneeded files. Inside the store only.

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/store/backup/backup_manifest.h"
#include "storage/store/backup/backup_work.h"
#include "storage/store/durable_file.h"

namespace armature::store {

// A backup found in the directory.
struct KnownBackup {
  BackupEntry entry;
  std::optional<BackupManifest> manifest;  // nullopt if it cannot be read
  absl::Status state;                      // DataLoss if it is damaged; entry.damage is its text
};

// Thread-safety: immutable; callers synchronize access to the files.
class BackupFiles {
 public:
  explicit BackupFiles(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string PathOf(std::string_view name) const;
  std::string ManifestPath(BackupId id) const;
  std::string MetaPath(uint32_t engine_id) const;

  // All backups in ascending order of their ids.
  absl::StatusOr<std::vector<KnownBackup>> ReadAll() const;
  // Errors: NotFound.
  absl::StatusOr<KnownBackup> Read(BackupId id) const;
  // Locks the backup against deletion while the result lives. Errors: NotFound.
  absl::StatusOr<LockedFile> Hold(BackupId id) const;

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

  const std::string path_;
};

bool HasDamage(const std::vector<KnownBackup>& known);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_FILES_H_
