#include "engine/backup_jobs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/thread_pool.h"

namespace armature::engine {
namespace {

constexpr size_t kWaitingMax = 16;
constexpr size_t kRememberedMax = 100;
// After a failure the schedule tries again so soon, or after its interval if that is shorter.
constexpr absl::Duration kRetry = absl::Minutes(5);

bool HasEnded(const BackupJob& job) {
  return job.state == BackupJob::State::kDone || job.state == BackupJob::State::kFailed;
}

}  // namespace

BackupJobs::BackupJobs(store::Database* database, BackupOptions options)
    : database_(database), options_(std::move(options)) {
  thread_ = std::thread([this] { Run(); });
}

BackupJobs::~BackupJobs() {
  {
    const absl::MutexLock lock(&mutex_);
    is_stopping_ = true;
    changed_.SignalAll();
  }
  thread_.join();
}

absl::StatusOr<std::string> BackupJobs::DirectoryOf(const std::string& requested) const {
  const std::string& directory = requested.empty() ? options_.directory : requested;
  if (directory.empty()) {
    return ValidationError("There is no directory for backups: name one, or start the server with --backup_dir");
  }
  // It is the server's machine; where its process was started says nothing to whoever asks.
  if (directory.front() != '/') {
    return ValidationError(Cat("The directory for backups must be an absolute path: ", directory));
  }
  return directory;
}

absl::StatusOr<BackupJob> BackupJobs::Start(StartBackupRequest request) {
  if (request.note.size() > store::kBackupNoteBytesMax) return ValidationError("The note of a backup is too long");
  ARM_ASSIGN_OR_RETURN(std::string directory, DirectoryOf(request.directory));
  const absl::MutexLock lock(&mutex_);
  const auto waiting = std::count_if(works_.begin(), works_.end(), [](const std::unique_ptr<Work>& work) {
    return work->job.state == BackupJob::State::kWaiting;
  });
  if (static_cast<size_t>(waiting) >= kWaitingMax) {
    return LimitExceededError(Cat("There are ", kWaitingMax, " backups waiting to be made"));
  }
  return Add(std::move(request), std::move(directory))->job;
}

BackupJobs::Work* BackupJobs::Add(StartBackupRequest request, std::string directory) {
  while (works_.size() >= kRememberedMax && HasEnded(works_.front()->job)) works_.pop_front();
  auto work = std::make_unique<Work>();
  work->job.id = ++last_id_;
  work->job.directory = std::move(directory);
  work->job.requested_ms = absl::ToUnixMillis(absl::Now());
  work->request = std::move(request);
  works_.push_back(std::move(work));
  changed_.SignalAll();
  return works_.back().get();
}

BackupJobs::Work* BackupJobs::FindWork(uint64_t id) const {
  const auto found = std::find_if(works_.begin(), works_.end(),
                                  [id](const std::unique_ptr<Work>& work) { return work->job.id == id; });
  return found == works_.end() ? nullptr : found->get();
}

absl::StatusOr<BackupJob> BackupJobs::Find(uint64_t id) const {
  const absl::MutexLock lock(&mutex_);
  const Work* const work = FindWork(id);
  if (work == nullptr) return ResourceNotFoundError(Cat("There is no backup job ", id));
  return work->job;
}

absl::StatusOr<BackupJob> BackupJobs::Cancel(uint64_t id) {
  const absl::MutexLock lock(&mutex_);
  Work* const work = FindWork(id);
  if (work == nullptr) return ResourceNotFoundError(Cat("There is no backup job ", id));
  work->is_cancelled = true;
  if (work->job.state == BackupJob::State::kWaiting) {
    work->job.state = BackupJob::State::kFailed;
    work->job.result = absl::CancelledError("the backup was cancelled");
  }
  return work->job;
}

absl::StatusOr<std::vector<store::BackupEntry>> BackupJobs::List(const std::string& directory) const {
  ARM_ASSIGN_OR_RETURN(const std::string path, DirectoryOf(directory));
  absl::StatusOr<std::unique_ptr<store::BackupRepository>> repository = store::BackupRepository::Open(path, {});
  // The first backup makes the directory.
  if (absl::IsNotFound(repository.status())) return std::vector<store::BackupEntry>();
  if (!repository.ok()) return ValidationError(Sv(repository.status().message()));
  return (*repository)->List();
}

std::vector<std::string> BackupJobs::NotesOfUnfinished() const {
  const absl::MutexLock lock(&mutex_);
  std::vector<std::string> notes;
  for (const std::unique_ptr<Work>& work : works_) {
    if (!HasEnded(work->job) && work->job.directory == options_.directory) notes.push_back(work->request.note);
  }
  return notes;
}

BackupStats BackupJobs::stats() const {
  const absl::MutexLock lock(&mutex_);
  return stats_;
}

void BackupJobs::FindLastBackup() {
  if (options_.directory.empty()) return;
  const absl::StatusOr<std::vector<store::BackupEntry>> entries = List("");
  if (!entries.ok()) LOG(ERROR) << "backup: directory=" << options_.directory << " status=" << entries.status();
  const absl::MutexLock lock(&mutex_);
  if (entries.ok()) {
    for (const store::BackupEntry& entry : *entries) {
      if (!entry.damage.empty() || entry.database_id != database_->database_id()) continue;
      stats_.last_success_ms = std::max(stats_.last_success_ms, entry.finished_ms);
    }
  }
  if (options_.interval > absl::ZeroDuration()) {
    due_ = absl::FromUnixMillis(stats_.last_success_ms) + options_.interval;
  }
}

// Waits for work; null when it is time to stop.
BackupJobs::Work* BackupJobs::Next() {
  while (!is_stopping_) {
    for (const std::unique_ptr<Work>& work : works_) {
      if (work->job.state == BackupJob::State::kWaiting) return work.get();
    }
    if (absl::Now() >= due_) {
      StartBackupRequest request;
      request.keep = options_.keep;
      Work* const work = Add(std::move(request), options_.directory);
      work->job.is_scheduled = true;
      return work;
    }
    changed_.WaitWithDeadline(&mutex_, due_);
  }
  return nullptr;
}

void BackupJobs::Run() {
  SetThreadName("arm-backup");
  FindLastBackup();
  while (true) {
    Work* work = nullptr;
    {
      const absl::MutexLock lock(&mutex_);
      work = Next();
      if (work == nullptr) return;
      work->job.state = BackupJob::State::kRunning;
      stats_.is_running = true;
    }
    End(work, Make(work));
  }
}

// `work->request` and the directory do not change any more.
absl::Status BackupJobs::Make(Work* work) {
  const StartBackupRequest& request = work->request;
  const std::string& directory = work->job.directory;
  ARM_ASSIGN_OR_RETURN(
      const std::unique_ptr<store::BackupRepository> repository,
      store::BackupRepository::Open(
          directory, {.mode = store::BackupRepositoryOptions::Mode::kWrite,
                      .bytes_per_second_max = request.bytes_per_second_max.value_or(options_.bytes_per_second_max)}));
  ARM_ASSIGN_OR_RETURN(store::BackupEntry entry,
                       repository->Create(database_, request.note, [&](const store::BackupProgress& progress) {
                         const absl::MutexLock lock(&mutex_);
                         work->job.progress = progress;
                         return !is_stopping_ && !work->is_cancelled;
                       }));
  LOG(INFO) << "backup: made directory=" << directory << " id=" << entry.id << " size_bytes=" << entry.size_bytes
            << " added_bytes=" << entry.added_bytes << " took_ms=" << entry.finished_ms - entry.started_ms;
  {
    const absl::MutexLock lock(&mutex_);
    work->job.made = entry;
    stats_.copied_bytes_total += entry.added_bytes;
    stats_.last_success_ms = std::max(stats_.last_success_ms, entry.finished_ms);
  }
  if (request.keep == 0) return absl::OkStatus();
  // Those that somebody has asked for by name are his.
  ARM_ASSIGN_OR_RETURN(
      const std::vector<store::BackupId> deleted,
      repository->Prune(request.keep, [](const store::BackupEntry& each) { return each.note.empty(); }));
  if (!deleted.empty()) {
    LOG(INFO) << "backup: deleted directory=" << directory << " ids=" << Sv(absl::StrJoin(deleted, ","));
  }
  const absl::MutexLock lock(&mutex_);
  work->job.deleted = deleted;
  return absl::OkStatus();
}

void BackupJobs::End(Work* work, const absl::Status& result) {
  const absl::MutexLock lock(&mutex_);
  BackupJob& job = work->job;
  if (!result.ok()) LOG(ERROR) << "backup: failed directory=" << job.directory << " status=" << result;
  job.state = result.ok() ? BackupJob::State::kDone : BackupJob::State::kFailed;
  job.result = result;
  ++(result.ok() ? stats_.done_total : stats_.failed_total);
  stats_.is_running = false;
  if (options_.interval <= absl::ZeroDuration()) return;
  if (job.is_scheduled && !result.ok()) {
    due_ = absl::Now() + std::min(options_.interval, kRetry);
  } else if (result.ok() && job.directory == options_.directory) {
    due_ = absl::Now() + options_.interval;
  }
}

}  // namespace armature::engine
