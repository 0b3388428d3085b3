#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_REPOSITORY_IMPL_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_REPOSITORY_IMPL_H_

// What a BackupRepository is made of. Inside the store only.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/utilities/backup_engine.h"
#include "storage/store/backup/backup_files.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/durable_file.h"

namespace armature::store {

struct BackupRepository::Impl {
  Impl(const std::string& path, const BackupRepositoryOptions& given);

  std::string FormatPath() const { return files.PathOf("armature.backups"); }
  // Errors: FailedPrecondition if it is opened for reading.
  absl::Status CheckWritable() const;
  // Reads the file that makes the directory one of backups.
  absl::Status ReadFormat() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing);
  // Makes the directory if need be, takes its lock, and cleans up.
  absl::Status OpenToWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing);
  // Says durably that numbers below `id` are not to be given again.
  absl::Status WriteNext(BackupId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing);
  absl::Status Delete(BackupId id, std::vector<KnownBackup>* known) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing);
  // Reads all of a backup that looks whole.
  absl::Status CheckContents(const BackupManifest& manifest, BackupWork* work) const;
  // Errors: FailedPrecondition if this build does not read the data.
  absl::Status CheckDataFormat(const BackupEntry& entry) const;
  // As all versions of this build have set it up.
  rocksdb::BackupEngineOptions EngineOptions(rocksdb::Env* env) const;

  const BackupFiles files;
  const BackupRepositoryOptions options;
  const std::shared_ptr<rocksdb::RateLimiter> limiter;
  absl::Mutex writing;
  std::optional<LockedFile> lock ABSL_GUARDED_BY(writing);
  BackupId next ABSL_GUARDED_BY(writing) = 1;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_REPOSITORY_IMPL_H_
