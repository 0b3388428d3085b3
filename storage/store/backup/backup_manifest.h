#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_MANIFEST_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_MANIFEST_H_

// The manifest of a backup, which lists its files. A backup exists if its manifest does. docs/FORMAT.md, "Backup
// directory". Inside the store only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/store/backup/backup_repository.h"

namespace armature::store {

inline constexpr int kBackupFormatVersion = 1;

// A data file of a backup.
struct BackupFile {
  std::string name;  // relative to the backup directory
  uint64_t size = 0;
  uint32_t crc32c = 0;
};

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

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_MANIFEST_H_
