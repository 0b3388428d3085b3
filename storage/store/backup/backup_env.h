#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_ENV_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_ENV_H_

// The file system as RocksDB's backup engine sees it. Inside the store only.

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
#include "storage/store/backup/backup_work.h"

namespace armature::store {

// What an attempt to make a backup has made, and what it must leave alone.
//
// Thread-safety: thread-safe.
class BackupAttempt {
 public:
  // `on_first_file` is called before the first file is made: the engine knows by then what it copies.
  BackupAttempt(std::string path, std::set<uint32_t> engine_ids, BackupWork* work, std::function<void()> on_first_file)
      : path_(std::move(path)),
        engine_ids_(std::move(engine_ids)),
        work_(work),
        on_first_file_(std::move(on_first_file)) {}

  const std::string& path() const { return path_; }
  // Numbers of the engine's backups that others have, also where the engine's own file is missing.
  const std::set<uint32_t>& engine_ids() const { return engine_ids_; }
  BackupWork* work() const { return work_; }

  // For the file system.
  rocksdb::IOStatus OnFile(const std::string& name);
  void OnName(const std::string& name);
  void OnNewDirectory(const std::string& name);
  // Ends the attempt, for all files: returns the first error.
  rocksdb::IOStatus OnError(const rocksdb::IOStatus& error);

  // Whether the file was written.
  bool HasWritten(const std::string& name) const;
  // Removes all that was made. A failure is logged: what is left is cleaned away later.
  void Discard();

 private:
  const std::string path_;
  const std::set<uint32_t> engine_ids_;
  BackupWork* const work_;
  const std::function<void()> on_first_file_;
  mutable absl::Mutex mutex_;
  bool has_begun_ ABSL_GUARDED_BY(mutex_) = false;
  // Written, and whether they were not there before: a file of the same name has the same content, and may be needed by
  // a backup that is damaged.
  std::map<std::string, bool> files_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> directories_ ABSL_GUARDED_BY(mutex_);
  rocksdb::IOStatus error_ ABSL_GUARDED_BY(mutex_);
};

// For the engine's files of one attempt, which it outlives. What is written is counted, and cancelled there. Nothing is
// removed, whatever the engine would collect as garbage: it takes files of a damaged backup for that. And it sees each
// of engine_ids() as a backup, if a damaged one, and uses none of these numbers again.
std::unique_ptr<rocksdb::Env> MakeBackupEnv(BackupAttempt* attempt);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_ENV_H_
