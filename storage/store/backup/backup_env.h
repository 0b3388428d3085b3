#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_ENV_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_ENV_H_

// The file system given to RocksDB's backup engine. Inside the store only.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/env.h"
#include "rocksdb/io_status.h"
#include "storage/store/backup/backup_files.h"
#include "storage/store/files/volume.h"

namespace armature::store {

// Files created by one attempt to make a backup, and files it must not touch.
//
// Thread-safety: thread-safe.
class BackupAttempt {
 public:
  // `on_first_file` is called before the first file is created. By then the engine has listed the files it copies.
  // `volume` holds the directory `path`.
  BackupAttempt(Volume* volume, std::string path, std::set<uint32_t> engine_ids, BackupWork* work,
                std::function<void()> on_first_file)
      : volume_(volume),
        path_(std::move(path)),
        engine_ids_(std::move(engine_ids)),
        work_(work),
        on_first_file_(std::move(on_first_file)) {}

  Volume* volume() const { return volume_; }
  const std::string& path() const { return path_; }
  // Numbers used by existing backups of the engine, including those whose engine file is missing.
  const std::set<uint32_t>& engine_ids() const { return engine_ids_; }
  BackupWork* work() const { return work_; }

  // True also if the volume cannot tell: a file that may belong to an older backup is not removed.
  bool Exists(const std::string& name) const { return volume_->Exists(name).value_or(true); }
  // Called by the file system.
  rocksdb::IOStatus OnFile(const std::string& name);
  void OnName(const std::string& name);
  void OnNewDirectory(const std::string& name);
  // Makes all further calls fail. Returns the first error.
  rocksdb::IOStatus OnError(const rocksdb::IOStatus& error);

  // True if this attempt wrote the file.
  bool HasWritten(const std::string& name) const;
  // Removes all files that the attempt created. Failures are logged; a later sweep removes the rest.
  void Discard();

 private:
  Volume* const volume_;
  const std::string path_;
  const std::set<uint32_t> engine_ids_;
  BackupWork* const work_;
  const std::function<void()> on_first_file_;
  mutable absl::Mutex mutex_;
  bool has_begun_ ABSL_GUARDED_BY(mutex_) = false;
  // Files written, with true for files that did not exist before. A file of the same name has the same content, and a
  // damaged backup may need it.
  std::map<std::string, bool> files_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> directories_ ABSL_GUARDED_BY(mutex_);
  rocksdb::IOStatus error_ ABSL_GUARDED_BY(mutex_);
};

// File system for one attempt, which it outlives. Writes are counted, and can be cancelled, through `attempt`.
// Deletions are ignored, because the engine's garbage collection would remove files of a damaged backup. Each of
// engine_ids() appears to the engine as a (damaged) backup, so it never reuses these numbers.
std::unique_ptr<rocksdb::Env> MakeBackupEnv(BackupAttempt* attempt);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_ENV_H_
