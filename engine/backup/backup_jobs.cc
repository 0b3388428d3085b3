#include "engine/backup/backup_jobs.h"

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
// After a failure the schedule retries after this time, or after its interval if that is shorter.
constexpr absl::Duration kRetry = absl::Minutes(5);
constexpr absl::Duration kOpenEvery = absl::Milliseconds(100);

bool HasEnded(const BackupJob& job) {
  return job.state == BackupJob::State::kDone || job.state == BackupJob::State::kFailed;
}

}  // namespace

BackupJobs::BackupJobs(store::Database* database, BackupOptions options)
    : database_(database), options_(std::move(options)), live_(LiveOf(options_)) {
  if (!options_.directory.empty()) pool_.RunAdmitted([this] { FindLastBackup(); });
}

BackupJobs::~BackupJobs() {
  const absl::MutexLock lock(&mutex_);
  is_stopping_ = true;
  over_.Notify();
}

absl::StatusOr<std::string> BackupJobs::DirectoryOf(const std::string& requested) const {
  const std::string& directory = requested.empty() ? options_.directory : requested;
  if (directory.empty()) {
    return ValidationError("There is no directory for backups: name one, or start the server with --backup_dir");
  }
  if (const absl::Status named = options_.places->CheckName(directory); !named.ok()) {
    return ValidationError(Cat("The directory for backups ", Sv(named.message()), ": ", directory));
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
  while (works_.size() >= kRememberedMax && works_.front()->has_begun && HasEnded(works_.front()->job)) {
    works_.pop_front();
  }
  auto work = std::make_unique<Work>();
  work->job.id = ++last_id_;
  work->job.directory = std::move(directory);
  work->job.requested_ms = absl::ToUnixMillis(absl::Now());
  work->request = std::move(request);
  works_.push_back(std::move(work));
  pool_.RunAdmitted([this, added = works_.back().get()] { Run(added); });
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
  over_.Notify();
  if (work->job.state == BackupJob::State::kWaiting) {
    work->job.state = BackupJob::State::kFailed;
    work->job.result = absl::CancelledError("the backup was cancelled");
  }
  return work->job;
}

absl::StatusOr<std::vector<store::BackupEntry>> BackupJobs::List(const std::string& directory) const {
  ARM_ASSIGN_OR_RETURN(const std::string path, DirectoryOf(directory));
  // Neither the place nor the directory may exist yet: the first backup makes them.
  const absl::StatusOr<store::BackupPlacePtr> place = OpenPlace(path, store::BackupPlaces::Use::kRead);
  if (absl::IsNotFound(place.status())) return std::vector<store::BackupEntry>();
  ARM_RETURN_IF_ERROR(place.status());
  const absl::StatusOr<std::unique_ptr<store::BackupRepository>> repository =
      store::BackupRepository::Open((*place)->path(), {.volume = (*place)->volume()});
  if (absl::IsNotFound(repository.status())) return std::vector<store::BackupEntry>();
  if (!repository.ok()) return store::ErrorIn(**place, repository.status());
  absl::StatusOr<std::vector<store::BackupEntry>> entries = (*repository)->List();
  if (!entries.ok()) return store::ErrorIn(**place, entries.status());
  return entries;
}

absl::StatusOr<store::BackupPlacePtr> BackupJobs::OpenPlace(const std::string& directory,
                                                            store::BackupPlaces::Use use) const {
  return options_.places->Open(directory, use, [this] {
    const absl::MutexLock lock(&mutex_);
    return ends_waits_ || is_stopping_;
  });
}

void BackupJobs::EndWaits() {
  const absl::MutexLock lock(&mutex_);
  ends_waits_ = true;
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
  BackupStats stats = stats_;
  stats.interval = live_.interval;
  return stats;
}

void BackupJobs::ChangeOptions(const BackupOptions& options) {
  const absl::MutexLock lock(&mutex_);
  const bool is_rescheduled = live_.interval != options.interval;
  live_ = LiveOf(options);
  const bool is_under_way = std::any_of(works_.begin(), works_.end(), [](const std::unique_ptr<Work>& work) {
    return work->job.is_scheduled && !HasEnded(work->job);
  });
  // Until the last backup is known, FindLastBackup schedules, without a directory nobody does, and the end of one that
  // is being made schedules the next.
  if (is_rescheduled && knows_last_ && !is_under_way)
    Schedule(absl::FromUnixMillis(stats_.last_success_ms) + live_.interval);
}

void BackupJobs::FindLastBackup() {
  const absl::StatusOr<std::vector<store::BackupEntry>> entries = List("");
  if (!entries.ok()) LOG(ERROR) << "backup: directory=" << options_.directory << " status=" << entries.status();
  const absl::MutexLock lock(&mutex_);
  if (entries.ok()) {
    for (const store::BackupEntry& entry : *entries) {
      if (!entry.damage.empty() || entry.database_id != database_->database_id()) continue;
      stats_.last_success_ms = std::max(stats_.last_success_ms, entry.finished_ms);
    }
  }
  // The clock may have been ahead when the backup was made.
  stats_.last_success_ms = std::min(stats_.last_success_ms, absl::ToUnixMillis(absl::Now()));
  knows_last_ = true;
  Schedule(absl::FromUnixMillis(stats_.last_success_ms) + live_.interval);
}

void BackupJobs::Schedule(absl::Time due) {
  if (is_stopping_) return;
  timers_.Cancel(timer_);
  ++turn_;
  if (live_.interval <= absl::ZeroDuration()) {
    stats_.next_due_ms = 0;
    return;
  }
  // If the clock was set back, the schedule would be delayed by as much.
  due = std::min(due, absl::Now() + live_.interval);
  stats_.next_due_ms = absl::ToUnixMillis(due);
  timer_ = timers_.At(Deadline::After(due - absl::Now()), [this, turn = turn_] { StartScheduled(turn); });
}

void BackupJobs::StartScheduled(uint64_t turn) {
  const absl::MutexLock lock(&mutex_);
  // A timer that was replaced may fire at the same moment.
  if (is_stopping_ || turn != turn_) return;
  StartBackupRequest request;
  request.keep = live_.keep;
  Add(std::move(request), options_.directory)->job.is_scheduled = true;
}

// `work` is waiting or cancelled. It is not removed before it has ended, and only this thread ends it.
void BackupJobs::Run(Work* work) {
  {
    const absl::MutexLock lock(&mutex_);
    work->has_begun = true;
    if (is_stopping_ || work->is_cancelled) return;
    work->job.state = BackupJob::State::kRunning;
    stats_.is_running = true;
  }
  End(work, Make(work));
}

bool BackupJobs::IsCancelled(const Work& work) const {
  const absl::MutexLock lock(&mutex_);
  return is_stopping_ || ends_waits_ || work.is_cancelled;
}

// Retries while another process or thread writes to the directory, for example to delete a backup.
absl::StatusOr<std::unique_ptr<store::BackupRepository>> BackupJobs::OpenInTurn(const store::BackupPlace& place,
                                                                                const Work& work) {
  store::BackupRepositoryOptions options;
  options.mode = store::BackupRepositoryOptions::Mode::kWrite;
  {
    const absl::MutexLock lock(&mutex_);
    options.bytes_per_second_max = work.request.bytes_per_second_max.value_or(live_.bytes_per_second_max);
  }
  options.volume = place.volume();
  absl::StatusOr<std::unique_ptr<store::BackupRepository>> repository =
      store::BackupRepository::Open(place.path(), options);
  while (absl::IsAborted(repository.status())) {
    {
      const int64_t due_ns = MonotonicAfter(kOpenEvery);
      const absl::MutexLock lock(&mutex_);
      while (!is_stopping_ && !work.is_cancelled && MonotonicNs() < due_ns) over_.Until(&mutex_, due_ns);
      if (is_stopping_ || work.is_cancelled) return absl::CancelledError("the backup was cancelled");
    }
    repository = store::BackupRepository::Open(place.path(), options);
  }
  return repository;
}

// `work->request` and the directory no longer change.
absl::Status BackupJobs::Make(Work* work) {
  const absl::StatusOr<store::BackupPlacePtr> place = options_.places->Open(
      work->job.directory, store::BackupPlaces::Use::kWrite, [this, work] { return IsCancelled(*work); });
  if (absl::IsCancelled(place.status())) return absl::CancelledError("the backup was cancelled");
  ARM_RETURN_IF_ERROR(place.status());
  return store::ErrorIn(**place, MakeIn(**place, work));
}

absl::Status BackupJobs::MakeIn(const store::BackupPlace& place, Work* work) {
  const StartBackupRequest& request = work->request;
  const std::string& directory = work->job.directory;
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<store::BackupRepository> repository, OpenInTurn(place, *work));
  ARM_ASSIGN_OR_RETURN(store::BackupEntry entry,
                       repository->Create(database_, request.note, [&](const store::BackupProgress& progress) {
                         const absl::MutexLock lock(&mutex_);
                         work->job.progress = progress;
                         return !is_stopping_ && !work->is_cancelled;
                       }));
  LOG(INFO) << "backup: created directory=" << directory << " id=" << entry.id << " size_bytes=" << entry.size_bytes
            << " added_bytes=" << entry.added_bytes << " took_ms=" << entry.finished_ms - entry.started_ms;
  {
    const absl::MutexLock lock(&mutex_);
    work->job.made = entry;
    stats_.copied_bytes_total += entry.added_bytes;
    stats_.last_success_ms = std::max(stats_.last_success_ms, entry.finished_ms);
  }
  if (request.keep == 0) return absl::OkStatus();
  // Backups with a note were requested explicitly and are kept.
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
  // A backup may exist even if deleting older ones failed.
  if (job.made.has_value() && job.directory == options_.directory) {
    Schedule(absl::Now() + live_.interval);
  } else if (job.is_scheduled) {
    Schedule(absl::Now() + std::min(live_.interval, kRetry));
  }
}

}  // namespace armature::engine
