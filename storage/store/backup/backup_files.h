#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_FILES_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_FILES_H_

// The files of a backup directory: which there are, whether they are whole, and which nobody needs. Inside the store
// only.

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

// A backup as it was found.
struct KnownBackup {
  BackupEntry entry;
  std::optional<BackupManifest> manifest;  // unless it cannot be read
  absl::Status state;                      // DataLoss if it is damaged; entry.damage is its text
};

// Thread-safety: immutable; the files are those of whoever calls.
class BackupFiles {
 public:
  explicit BackupFiles(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string PathOf(std::string_view name) const;
  std::string ManifestPath(BackupId id) const;
  std::string MetaPath(uint32_t engine_id) const;

  // In the order of their numbers.
  absl::StatusOr<std::vector<KnownBackup>> ReadAll() const;
  // Errors: NotFound.
  absl::StatusOr<KnownBackup> Read(BackupId id) const;
  // As long as it is held, the backup cannot be deleted. Errors: NotFound.
  absl::StatusOr<LockedFile> Hold(BackupId id) const;

  // Reads `file` and compares it with its checksum; not from memory, where it can be helped.
  // Errors: DataLoss, Cancelled, Unavailable.
  absl::Status CheckContent(const BackupFile& file, BackupWork* work) const;

  // Numbers that RocksDB must not use again: of its backups that `known` name, and of what has files.
  std::set<uint32_t> EngineIds(const std::vector<KnownBackup>& known) const;

  // Removes what none of `known`, of which each has a manifest, needs: of attempts that were cut off, and of backups
  // that are deleted. What cannot be removed is left, and logged.
  void Sweep(const std::vector<KnownBackup>& known) const;
  // Removes what `manifest` has of its own: what none of `others` needs or, having no manifest, may need.
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
