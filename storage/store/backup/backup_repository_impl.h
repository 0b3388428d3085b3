#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_REPOSITORY_IMPL_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_REPOSITORY_IMPL_H_

// Private state of BackupRepository. Inside the store only.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/utilities/backup_engine.h"
#include "storage/store/backup/backup_files.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/files/volume.h"

namespace armature::store {

struct BackupRepository::Impl {
  Impl(const std::string& path, const BackupRepositoryOptions& given);

  Volume& volume() const { return *options.volume; }
  std::string FormatPath() const { return files.PathOf("armature.backups"); }
  // Errors: FailedPrecondition if the repository is open for reading.
  absl::Status CheckWritable() const;
  // Reads the file that marks a backup directory.
  absl::Status ReadFormat() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing);
  // Creates the directory if necessary, locks it, and cleans up.
  absl::Status OpenToWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing);
  // Records durably that ids below `id` must not be assigned again.
  absl::Status WriteNext(BackupId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing);
  absl::Status Delete(BackupId id, std::vector<KnownBackup>* known) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing);
  // Reads all files of a backup and compares them with their checksums.
  absl::Status CheckContents(const BackupManifest& manifest, BackupWork* work) const;
  // Errors: FailedPrecondition if the data format is newer than this build's.
  absl::Status CheckDataFormat(const BackupEntry& entry) const;
  // Must not change between versions: existing backup directories depend on it.
  rocksdb::BackupEngineOptions EngineOptions(rocksdb::Env* env) const;

  const BackupFiles files;
  const BackupRepositoryOptions options;
  const std::shared_ptr<rocksdb::RateLimiter> limiter;
  absl::Mutex writing;
  std::unique_ptr<VolumeLock> lock ABSL_GUARDED_BY(writing);
  BackupId next ABSL_GUARDED_BY(writing) = 1;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_REPOSITORY_IMPL_H_
