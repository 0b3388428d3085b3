#include "tools/armature/offline_backup.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/message_json.h"
#include "tools/armature/offline_engine.h"
#include "tools/armature/table_calls.h"
#include "tools/armature/text_table.h"

namespace armature::cli {
namespace {

constexpr absl::Duration kPollEvery = absl::Milliseconds(100);

bool HasEnded(const admin::v1::BackupJob& job) {
  return job.state() == admin::v1::BACKUP_JOB_STATE_DONE || job.state() == admin::v1::BACKUP_JOB_STATE_FAILED;
}

// The absolute path: the daemon has another working directory than this process.
absl::StatusOr<std::string> Absolute(const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return UsageError(Cat("cannot tell where ", path, " is: ", error.message()));
  return absolute.lexically_normal().string();
}

absl::Status Finish(const Session& session, const admin::v1::BackupJob& job) {
  // A failed job may have made a backup: then it failed to delete older ones.
  if (job.has_backup()) PrintBackup(session, job.backup());
  if (job.state() == admin::v1::BACKUP_JOB_STATE_DONE) return absl::OkStatus();
  return InputError(job.error());
}

absl::Status CreateOnline(const Session& session, const CreateBackupOptions& options) {
  admin::v1::StartBackupRequest request;
  ARM_ASSIGN_OR_RETURN(*request.mutable_directory(), Absolute(options.directory));
  request.set_keep(options.keep);
  request.set_note(options.note);
  if (options.rate_mb.has_value()) request.set_bytes_per_second_max(uint64_t{*options.rate_mb} << 20);
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const admin::v1::StartBackupResponse started, client.StartBackup(request));
  admin::v1::BackupJob job = started.job();
  if (options.no_wait) {
    session.Print(MessageToJson(job));
    return absl::OkStatus();
  }
  {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    admin::v1::GetBackupJobRequest find;
    find.set_id(job.id());
    while (!HasEnded(job)) {
      const bool is_waiting = job.state() == admin::v1::BACKUP_JOB_STATE_WAITING;
      bar.Show({.what = Cat("backup ", job.directory()),
                .done = static_cast<int64_t>(job.done_bytes()),
                .total = static_cast<int64_t>(job.total_bytes()),
                .note = is_waiting ? "waits for another one" : ""});
      absl::SleepFor(kPollEvery);
      ARM_ASSIGN_OR_RETURN(admin::v1::GetBackupJobResponse found, client.GetBackupJob(find));
      job = std::move(*found.mutable_job());
    }
  }
  return Finish(session, job);
}

absl::Status CreateOffline(const Session& session, const CreateBackupOptions& options) {
  if (options.directory.empty()) return UsageError("with --data-dir, --to must name the directory of the backups");
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<OfflineEngine> engine, OfflineEngine::Open(options.data_dir));
  absl::StatusOr<std::unique_ptr<store::BackupRepository>> repository = store::BackupRepository::Open(
      options.directory, {.mode = store::BackupRepositoryOptions::Mode::kWrite,
                          .bytes_per_second_max = uint64_t{options.rate_mb.value_or(0)} << 20});
  if (!repository.ok()) return BackupError(repository.status());
  absl::StatusOr<store::BackupEntry> made = absl::UnknownError("");
  {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    made = (*repository)->Create(engine->database(), options.note, ObserverOf(&bar, Cat("backup ", options.directory)));
  }
  if (!made.ok()) return BackupError(made.status());
  PrintBackup(session, ToMessage(*made));
  if (options.keep == 0) return absl::OkStatus();
  const auto may_go = [](const store::BackupEntry& each) { return each.note.empty(); };
  return BackupError((*repository)->Prune(options.keep, may_go).status());
}

}  // namespace

absl::Status CreateBackup(const Session& session, const CreateBackupOptions& options) {
  return options.data_dir.empty() ? CreateOnline(session, options) : CreateOffline(session, options);
}

absl::Status CancelBackup(const Session& session, const CancelBackupOptions& options) {
  admin::v1::CancelBackupJobRequest request;
  request.set_id(options.job);
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const admin::v1::CancelBackupJobResponse answer, client.CancelBackupJob(request));
  session.Print(MessageToJson(answer.job()));
  return absl::OkStatus();
}

absl::Status RestoreTable(const Session& session, const RestoreTableOptions& options) {
  admin::v1::RestoreTableRequest request;
  ARM_ASSIGN_OR_RETURN(*request.mutable_directory(), Absolute(options.directory));
  request.set_backup_id(options.id);
  request.set_table_name(options.table_name);
  request.set_target_table_name(options.target);
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const admin::v1::RestoreTableResponse answer, client.RestoreTable(request));
  api::v1::TableDescription table = answer.table();
  ProgressBar bar(&session.progress(), session.is_progress_live());
  while (options.wait && table.table_status() == api::v1::TABLE_STATUS_CREATING) {
    bar.Show({.what = Cat("restore ", options.target), .done = table.item_count()});
    absl::SleepFor(kPollEvery);
    // A table whose restore fails is deleted. The daemon's log has the reason.
    ARM_ASSIGN_OR_RETURN(table, DescribeTable(client, options.target));
  }
  const Json json = MessageToJson(table);
  session.Print(json, [&json] { return DetailsTable(json); });
  return absl::OkStatus();
}

absl::Status BackupError(const absl::Status& error) {
  if (error.ok()) return error;
  if (absl::IsFailedPrecondition(error) || absl::IsNotFound(error) || absl::IsAborted(error))
    return UsageError(Sv(error.message()));
  return InputError(Sv(error.message()));
}

store::BackupObserver ObserverOf(ProgressBar* bar, const std::string& what) {
  return [bar, what](const store::BackupProgress& progress) {
    bar->Show({.what = what,
               .done = static_cast<int64_t>(progress.done_bytes),
               .total = static_cast<int64_t>(progress.total_bytes)});
    return true;
  };
}

std::string NoteLine(const std::string& note) { return note.substr(0, note.find('\n')); }

admin::v1::Backup ToMessage(const store::BackupEntry& entry) {
  admin::v1::Backup message;
  message.set_id(entry.id);
  message.set_started_time_ms(entry.started_ms);
  message.set_finished_time_ms(entry.finished_ms);
  message.set_database_id(entry.database_id);
  message.set_format_version(static_cast<uint32_t>(entry.format_version));
  message.set_size_bytes(entry.size_bytes);
  message.set_added_bytes(entry.added_bytes);
  message.set_file_count(entry.file_count);
  message.set_note(entry.note);
  message.set_damage(entry.damage);
  return message;
}

void PrintBackup(const Session& session, const admin::v1::Backup& backup) {
  Json json = MessageToJson(backup);
  session.Print(json, [&json, &backup] {
    if (!backup.note().empty()) json["Note"] = NoteLine(backup.note());
    return DetailsTable(json);
  });
}

}  // namespace armature::cli
