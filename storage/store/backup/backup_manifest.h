#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_MANIFEST_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_MANIFEST_H_

// The file that makes a backup one, and what names its files. docs/FORMAT.md, "Backup directory". Inside the store
// only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/store/backup/backup_repository.h"

namespace armature::store {

inline constexpr int kBackupFormatVersion = 1;

// A file of data.
struct BackupFile {
  std::string name;  // from the backup directory on
  uint64_t size = 0;
  uint32_t crc32c = 0;
};

struct BackupManifest {
  BackupEntry entry;  // without damage
  uint32_t engine_id = 0;
  uint64_t meta_bytes = 0;  // of RocksDB's own file about the backup
  std::string meta_checksum;
  std::vector<BackupFile> files;  // in the order of RocksDB's file
};

// XXH3-128 (seed 0) in hex.
std::string BackupChecksum(std::string_view bytes);

std::string EncodeBackupManifest(const BackupManifest& manifest);
// Errors: DataLoss if one byte is not as it was written; FailedPrecondition if the format is newer than this build's.
absl::StatusOr<BackupManifest> ParseBackupManifest(std::string_view text);

// The files that RocksDB's own file names, without their sizes, which are not in it. Errors: DataLoss.
absl::StatusOr<std::vector<BackupFile>> ParseEngineMeta(std::string_view text);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_MANIFEST_H_
