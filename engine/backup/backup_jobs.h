#ifndef ARMATURE_ENGINE_BACKUP_BACKUP_JOBS_H_
#define ARMATURE_ENGINE_BACKUP_BACKUP_JOBS_H_

// Jobs that back up the database while it is in use, on request or by a schedule.

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
#include "storage/base/monotonic_wait.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"
#include "storage/store/backup/backup_place.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/database.h"

namespace armature::engine {

struct BackupOptions {
  // A path, or another name of `places`. Default for requests, and used by the schedule; empty: none.
  std::string directory;
  uint64_t bytes_per_second_max = 0;  // default for requests, and used by the schedule; 0: no limit
  absl::Duration interval;            // of the schedule, from the end of the last backup; zero: no schedule
  // Number of backups without a note, scheduled or requested, to keep after a scheduled backup; 0: all.
  size_t keep = 0;
  store::BackupPlaces* places = store::LocalBackupPlaces();  // of all directories; outlives the engine
};

struct StartBackupRequest {
  std::string directory;                         // as in the options; empty: that of the options
  size_t keep = 0;                               // number of backups to keep afterwards; 0: delete none
  std::optional<uint64_t> bytes_per_second_max;  // 0: no limit
  std::string note;                              // see store::BackupEntry
};

struct BackupJob {
  enum class State : uint8_t { kWaiting, kRunning, kDone, kFailed };
  uint64_t id = 0;  // unique within this process
  std::string directory;
  State state = State::kWaiting;
  bool is_scheduled = false;
  int64_t requested_ms = 0;  // since the epoch
  store::BackupProgress progress;
  absl::Status result;                     // error of a failed job
  std::optional<store::BackupEntry> made;  // set once the backup exists, even if deleting older ones failed
  std::vector<store::BackupId> deleted;    // backups deleted because of `keep`
};

struct BackupStats {
  uint64_t done_total = 0;
  uint64_t failed_total = 0;
  uint64_t copied_bytes_total = 0;
  int64_t last_success_ms = 0;  // since the epoch; latest of all jobs of this process and backups in the options'
                                // directory
  int64_t next_due_ms = 0;      // of the schedule; 0: unknown yet, or no schedule
  absl::Duration interval;      // of the schedule; zero: none
  bool is_running = false;
};

// One thread makes backups one after another.
//
// Thread-safety: thread-safe. Lifetime: `database` outlives it; the destructor cancels the running job and waits for
// it.
class BackupJobs {
 public:
  BackupJobs(store::Database* database, BackupOptions options);
  ~BackupJobs();
  BackupJobs(const BackupJobs&) = delete;
  BackupJobs& operator=(const BackupJobs&) = delete;

  // Starts a job without waiting for it. Errors: ValidationException if no directory is given or configured, or if it
  // names no place; LimitExceededException if too many jobs wait.
  absl::StatusOr<BackupJob> Start(StartBackupRequest request);
  // Errors: ResourceNotFoundException, also for old jobs, which are forgotten some time after they end.
  absl::StatusOr<BackupJob> Find(uint64_t id) const;
  // Cancels a job. Has no effect on a job that has ended. Errors: as Find.
  absl::StatusOr<BackupJob> Cancel(uint64_t id);

  // The backups in `directory`; empty: that of the options. Reads files. Errors: ValidationException without a
  // directory; those of OpenPlace and BackupRepository::Open except NotFound.
  absl::StatusOr<std::vector<store::BackupEntry>> List(const std::string& directory) const;

  // The directory to use. Errors: ValidationException, as Start.
  absl::StatusOr<std::string> DirectoryOf(const std::string& requested) const;
  // Opens the place of a directory that DirectoryOf returned. Waits, as BackupPlaces::Open, until EndWaits. Errors:
  // those of BackupPlaces::Open.
  absl::StatusOr<store::BackupPlacePtr> OpenPlace(const std::string& directory, store::BackupPlaces::Use use) const;
  // Ends all waits for places, present and future: the server is about to stop.
  void EndWaits();
  // Notes of the jobs in the options' directory that have not ended.
  std::vector<std::string> NotesOfUnfinished() const;

  // Takes the limit, the schedule and the number of backups to keep from `options`, for jobs that begin after it. The
  // next scheduled backup is due the interval after the last one.
  void ChangeOptions(const BackupOptions& options);

  BackupStats stats() const;

 private:
  struct Work {
    BackupJob job;
    StartBackupRequest request;
    bool is_cancelled = false;
    bool has_begun = false;  // the job was started by the thread
  };

  Work* FindWork(uint64_t id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Work* Add(StartBackupRequest request, std::string directory) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Schedule(absl::Time due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartScheduled(uint64_t turn);
  void FindLastBackup();
  void Run(Work* work);
  bool IsCancelled(const Work& work) const;
  absl::StatusOr<std::unique_ptr<store::BackupRepository>> OpenInTurn(const store::BackupPlace& place,
                                                                      const Work& work);
  absl::Status Make(Work* work);
  absl::Status MakeIn(const store::BackupPlace& place, Work* work);
  void End(Work* work, const absl::Status& result);

  store::Database* const database_;
  const BackupOptions options_;  // but for those that may change, which follow
  mutable absl::Mutex mutex_;
  struct LiveOptions {
    uint64_t bytes_per_second_max = 0;
    absl::Duration interval;
    size_t keep = 0;
  };
  static LiveOptions LiveOf(const BackupOptions& options) {
    return {.bytes_per_second_max = options.bytes_per_second_max, .interval = options.interval, .keep = options.keep};
  }
  LiveOptions live_ ABSL_GUARDED_BY(mutex_);
  bool knows_last_ ABSL_GUARDED_BY(mutex_) = false;  // FindLastBackup has ended
  MonotonicWait over_;                               // notified when jobs are cancelled or the server stops
  bool ends_waits_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  // In ascending order of ids; waiting jobs are last. The running job is never removed.
  std::deque<std::unique_ptr<Work>> works_ ABSL_GUARDED_BY(mutex_);
  TimerQueue::TimerId timer_ ABSL_GUARDED_BY(mutex_) = 0;  // of the next scheduled backup
  uint64_t turn_ ABSL_GUARDED_BY(mutex_) = 0;              // of that timer; others have been replaced
  BackupStats stats_ ABSL_GUARDED_BY(mutex_);
  ThreadPool pool_{"arm-backup", 1, 1};
  TimerQueue timers_;  // destroyed first, because its callbacks add work to the pool
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_BACKUP_JOBS_H_
