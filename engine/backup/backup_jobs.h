#ifndef ARMATURE_ENGINE_BACKUP_BACKUP_JOBS_H_
#define ARMATURE_ENGINE_BACKUP_BACKUP_JOBS_H_

// Backups of the database while it is in use: asked for, or made by a schedule.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/database.h"

namespace armature::engine {

struct BackupOptions {
  std::string directory;              // of backups that name no other, and of the schedule; empty: none
  uint64_t bytes_per_second_max = 0;  // of requests that say nothing else, and of the schedule; 0: no limit
  absl::Duration interval;            // of the schedule, from the end of the last backup; zero: there is none
  // After a backup of the schedule, so many of those without a note are kept, whoever asked for them; 0: all.
  size_t keep = 0;
};

struct StartBackupRequest {
  std::string directory;                         // on this machine; empty: that of the options
  size_t keep = 0;                               // then delete all but so many; 0: none
  std::optional<uint64_t> bytes_per_second_max;  // 0: no limit
  std::string note;                              // see store::BackupEntry
};

struct BackupJob {
  enum class State : uint8_t { kWaiting, kRunning, kDone, kFailed };
  uint64_t id = 0;  // of this process
  std::string directory;
  State state = State::kWaiting;
  bool is_scheduled = false;
  int64_t requested_ms = 0;  // since the epoch
  store::BackupProgress progress;
  absl::Status result;                     // why it failed
  std::optional<store::BackupEntry> made;  // once there is a backup, also if deleting older ones failed
  std::vector<store::BackupId> deleted;    // as `keep` asked
};

struct BackupStats {
  uint64_t done_total = 0;
  uint64_t failed_total = 0;
  uint64_t copied_bytes_total = 0;
  int64_t last_success_ms = 0;  // since the epoch; of any job of this process or backup in the options' directory
  int64_t next_due_ms = 0;      // of the schedule; 0: not known yet, or there is none
  bool is_running = false;
};

// One thread makes one backup after another.
//
// Thread-safety: thread-safe. Lifetime: `database` outlives it; the destructor cancels what runs and waits for it.
class BackupJobs {
 public:
  BackupJobs(store::Database* database, BackupOptions options);
  ~BackupJobs();
  BackupJobs(const BackupJobs&) = delete;
  BackupJobs& operator=(const BackupJobs&) = delete;

  // Does not wait for the backup. Errors: ValidationException without a directory, or with one that is not an absolute
  // path; LimitExceededException with too many waiting.
  absl::StatusOr<BackupJob> Start(StartBackupRequest request);
  // Errors: ResourceNotFoundException; jobs that ended long ago are forgotten.
  absl::StatusOr<BackupJob> Find(uint64_t id) const;
  // A job that has ended stays as it is. Errors: as Find.
  absl::StatusOr<BackupJob> Cancel(uint64_t id);

  // The backups in `directory`; empty: that of the options. Reads files. Errors: ValidationException
  // without a directory; those of BackupRepository::Open but NotFound.
  absl::StatusOr<std::vector<store::BackupEntry>> List(const std::string& directory) const;

  // The directory that is meant. Errors: ValidationException, as Start.
  absl::StatusOr<std::string> DirectoryOf(const std::string& requested) const;
  // Of the jobs in the options' directory that have not ended.
  std::vector<std::string> NotesOfUnfinished() const;

  BackupStats stats() const;

 private:
  struct Work {
    BackupJob job;
    StartBackupRequest request;
    bool is_cancelled = false;
    bool has_begun = false;  // its turn on the thread has come
  };

  Work* FindWork(uint64_t id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Work* Add(StartBackupRequest request, std::string directory) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Schedule(absl::Time due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartScheduled();
  void FindLastBackup();
  void Run(Work* work);
  absl::StatusOr<std::unique_ptr<store::BackupRepository>> OpenInTurn(const Work& work);
  absl::Status Make(Work* work);
  void End(Work* work, const absl::Status& result);

  store::Database* const database_;
  const BackupOptions options_;
  mutable absl::Mutex mutex_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  // In the order of their ids; those that wait come last. The one that runs is not removed.
  std::deque<std::unique_ptr<Work>> works_ ABSL_GUARDED_BY(mutex_);
  absl::Time due_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();  // the schedule's next, with its timer
  TimerQueue::TimerId timer_ ABSL_GUARDED_BY(mutex_) = 0;
  BackupStats stats_ ABSL_GUARDED_BY(mutex_);
  ThreadPool pool_{"arm-backup", 1, 1};
  TimerQueue timers_;  // goes first: it gives work to the pool
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_BACKUP_JOBS_H_
