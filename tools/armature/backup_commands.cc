#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/admin/v1/admin.pb.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/data_directory.h"
#include "tools/armature/command.h"
#include "tools/armature/data_place.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"
#include "tools/armature/offline_engine.h"

namespace armature::cli {
namespace {

using store::BackupEntry;
using store::BackupId;
using store::BackupRepository;
using store::BackupRepositoryOptions;

constexpr absl::Duration kPollEvery = absl::Milliseconds(100);

struct CreateBackupOptions {
  std::string directory;            // empty: the backup directory of the daemon
  std::string data_dir;             // data directory of a stopped daemon; empty: ask the running daemon
  uint32_t keep = 0;                // 0: keep all backups
  std::optional<uint32_t> rate_mb;  // absent: the limit of the daemon; 0: no limit
  std::string note;
  bool no_wait = false;
};

struct RestoreTableOptions {
  std::string directory;  // on the daemon's machine; empty: the backup directory of the daemon
  BackupId id = 0;
  std::string table_name;
  std::string target;
  bool wait = false;
};

// Options of the commands that work on a directory of backups without the daemon.
struct BackupOptions {
  std::string directory;
  BackupId id = 0;  // 0: all backups
  std::string data_dir;
};

// Turns an error of a repository into a UsageError or InputError.
absl::Status OrBackupError(const absl::Status& error) {
  if (error.ok()) return error;
  if (absl::IsFailedPrecondition(error) || absl::IsNotFound(error) || absl::IsAborted(error))
    return UsageError(Sv(error.message()));
  return InputError(Sv(error.message()));
}

template <class T>
absl::StatusOr<T> OrBackupError(absl::StatusOr<T> result) {
  if (result.ok()) return result;
  return OrBackupError(result.status());
}

// A directory of backups that is open.
struct OpenBackups {
  std::unique_ptr<place::Place> place;
  std::unique_ptr<BackupRepository> repository;
};

absl::StatusOr<OpenBackups> OpenToRead(const BackupOptions& options) {
  store::RestrictNewFiles();
  OpenBackups opened;
  ARM_ASSIGN_OR_RETURN(opened.place, OpenBackupPlace(options.directory, /*makes=*/false, options.data_dir));
  absl::StatusOr<std::unique_ptr<BackupRepository>> repository =
      BackupRepository::Open(opened.place->data_dir(), {.volume = opened.place->volume()});
  // The path in a volume does not tell which volume it is.
  if (!repository.ok() && place::IsRados(options.directory)) {
    repository = WithContext(repository.status(), options.directory);
  }
  ARM_ASSIGN_OR_RETURN(opened.repository, OrBackupError(std::move(repository)));
  return opened;
}

// An observer that shows the progress of a repository in `bar`.
store::BackupObserver ObserverOf(ProgressBar* bar, const std::string& what) {
  return [bar, what](const store::BackupProgress& progress) {
    bar->Show({.what = what,
               .done = static_cast<int64_t>(progress.done_bytes),
               .total = static_cast<int64_t>(progress.total_bytes)});
    return true;
  };
}

admin::v1::Backup ToMessage(const BackupEntry& entry) {
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

// The first line of a note, which is for people. The other lines are for programs.
std::string NoteLine(const std::string& note) { return note.substr(0, note.find('\n')); }

void PrintBackup(const Session& session, const admin::v1::Backup& backup) {
  Json json = MessageToJson(backup);
  session.Print(json, [&json, &backup] {
    if (!backup.note().empty()) json["Note"] = NoteLine(backup.note());
    return DetailsTable(json);
  });
}

std::string BackupsTable(const std::vector<admin::v1::Backup>& backups) {
  TextTable table({"ID", "MADE", "SIZE", "ADDED", "NOTE", "STATE"});
  for (const admin::v1::Backup& backup : backups) {
    table.AddRow({Cat(backup.id()), backup.finished_time_ms() == 0 ? "" : ShowTime(backup.finished_time_ms()),
                  ShowBytes(backup.size_bytes()), ShowBytes(backup.added_bytes()), NoteLine(backup.note()),
                  backup.damage().empty() ? "whole" : Cat("DAMAGED: ", backup.damage())});
  }
  return table.ToString();
}

void PrintBackups(const Session& session, const std::vector<admin::v1::Backup>& backups) {
  Json list = Json::array();
  for (const admin::v1::Backup& backup : backups) list.push_back(MessageToJson(backup));
  session.PrintAsTable({{"Backups", list}}, [&backups] { return BackupsTable(backups); });
}

bool HasEnded(const admin::v1::BackupJob& job) {
  return job.state() == admin::v1::BACKUP_JOB_STATE_DONE || job.state() == admin::v1::BACKUP_JOB_STATE_FAILED;
}

// A path as the absolute one: the daemon has another working directory than this process.
absl::StatusOr<std::string> Absolute(const std::string& path) {
  if (path.empty() || place::IsRados(path)) return path;
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
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<place::Place> place,
                       OpenBackupPlace(options.directory, /*makes=*/true, options.data_dir));
  ARM_ASSIGN_OR_RETURN(const auto repository,
                       OrBackupError(BackupRepository::Open(
                           place->data_dir(), {.mode = BackupRepositoryOptions::Mode::kWrite,
                                               .bytes_per_second_max = uint64_t{options.rate_mb.value_or(0)} << 20,
                                               .volume = place->volume()})));
  absl::StatusOr<BackupEntry> made = absl::UnknownError("");
  {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    made = repository->Create(engine->database(), options.note, ObserverOf(&bar, Cat("backup ", options.directory)));
  }
  if (!made.ok()) return OrBackupError(made.status());
  PrintBackup(session, ToMessage(*made));
  if (options.keep == 0) return absl::OkStatus();
  const auto may_go = [](const BackupEntry& each) { return each.note.empty(); };
  return OrBackupError(repository->Prune(options.keep, may_go).status());
}

absl::Status CreateBackup(const Session& session, const CreateBackupOptions& options) {
  return options.data_dir.empty() ? CreateOnline(session, options) : CreateOffline(session, options);
}

absl::Status CancelBackup(const Session& session, const uint64_t& job) {
  admin::v1::CancelBackupJobRequest request;
  request.set_id(job);
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

absl::Status ListBackups(const Session& session, const BackupOptions& options) {
  std::vector<admin::v1::Backup> backups;
  if (options.directory.empty()) {
    ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
    ARM_ASSIGN_OR_RETURN(const auto answer, client.ListDatabaseBackups({}));
    backups.assign(answer.backups().begin(), answer.backups().end());
  } else {
    ARM_ASSIGN_OR_RETURN(const OpenBackups opened, OpenToRead(options));
    ARM_ASSIGN_OR_RETURN(const std::vector<BackupEntry> entries, OrBackupError(opened.repository->List()));
    for (const BackupEntry& entry : entries) backups.push_back(ToMessage(entry));
  }
  PrintBackups(session, backups);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BackupEntry>> Chosen(BackupRepository* repository, BackupId id) {
  if (id == 0) return repository->List();
  ARM_ASSIGN_OR_RETURN(BackupEntry entry, repository->Find(id));
  return std::vector<BackupEntry>{std::move(entry)};
}

absl::Status VerifyBackups(const Session& session, const BackupOptions& options) {
  ARM_ASSIGN_OR_RETURN(const OpenBackups opened, OpenToRead(options));
  BackupRepository* const repository = opened.repository.get();
  ARM_ASSIGN_OR_RETURN(const std::vector<BackupEntry> chosen, OrBackupError(Chosen(repository, options.id)));
  size_t damaged = 0;
  std::vector<admin::v1::Backup> backups;
  for (const BackupEntry& entry : chosen) {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    const absl::Status verified = repository->Verify(entry.id, ObserverOf(&bar, Cat("backup ", entry.id)));
    // Without --id, backups that are deleted meanwhile are left out.
    if (absl::IsNotFound(verified) && options.id == 0) continue;
    if (!verified.ok() && !absl::IsDataLoss(verified)) return OrBackupError(verified);
    backups.push_back(ToMessage(entry));
    backups.back().set_damage(std::string(verified.message()));
    if (!verified.ok()) ++damaged;
  }
  PrintBackups(session, backups);
  if (damaged == 0) return absl::OkStatus();
  return DifferencesError(Cat(damaged, " of ", backups.size(), " backups are damaged and cannot be restored"));
}

absl::Status DeleteBackup(const Session& session, const BackupOptions& options) {
  // Opening it for writing would create a directory that does not exist.
  ARM_ASSIGN_OR_RETURN(OpenBackups opened, OpenToRead(options));
  ARM_ASSIGN_OR_RETURN(opened.repository, OrBackupError(BackupRepository::Open(
                                              opened.place->data_dir(), {.mode = BackupRepositoryOptions::Mode::kWrite,
                                                                         .volume = opened.place->volume()})));
  ARM_ASSIGN_OR_RETURN(const BackupEntry entry, OrBackupError(opened.repository->Find(options.id)));
  const std::string made = entry.finished_ms == 0 ? "" : Cat(" of ", ShowTime(entry.finished_ms));
  ARM_RETURN_IF_ERROR(session.Confirm(Cat("Delete backup ", options.id, made, " in ", options.directory)));
  ARM_RETURN_IF_ERROR(OrBackupError(opened.repository->Delete(options.id)));
  PrintBackup(session, ToMessage(entry));
  return absl::OkStatus();
}

absl::Status RestoreBackup(const Session& session, const BackupOptions& options) {
  ARM_ASSIGN_OR_RETURN(const OpenBackups opened, OpenToRead(options));
  ARM_ASSIGN_OR_RETURN(const BackupEntry entry, OrBackupError(opened.repository->Find(options.id)));
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<place::Place> place, OpenDataPlace(options.data_dir, PlaceUse::kNew));
  {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    ARM_RETURN_IF_ERROR(OrBackupError(opened.repository->Restore(options.id, place->volume(), place->data_dir(),
                                                                 ObserverOf(&bar, Cat("restore ", options.data_dir)))));
  }
  PrintBackup(session, ToMessage(entry));
  return absl::OkStatus();
}

CLI::Option* AddDirectory(CLI::App& command, std::string* directory, const char* help) {
  return command.add_option("--dir", *directory, help)->type_name("DIR");
}

CLI::Option* AddId(CLI::App& command, BackupId* id, const char* help) {
  return command.add_option("--id", *id, help)->type_name("N")->check(CLI::Range(BackupId{1}, UINT32_MAX));
}

// Adds a command that works on a directory of backups without the daemon.
CLI::App& AddRepositoryCommand(CLI::App& group, const char* name, const char* description, Action* action,
                               absl::Status (*run)(const Session&, const BackupOptions&), BackupOptions** options) {
  CLI::App& command = *group.add_subcommand(name, description);
  *options = &SetAction(command, action, run);
  AddDirectory(command, &(*options)->directory,
               "Directory of the backups: a path of this machine, or rados://POOL/NAMESPACE")
      ->required();
  return command;
}

void AddCreate(CLI::App& group, Action* action) {
  CLI::App& create = *group.add_subcommand("create", "Back up the database while clients use it");
  CreateBackupOptions& options = SetAction(create, action, CreateBackup);
  create
      .add_option("--to", options.directory,
                  "Directory on the daemon's machine, or rados://POOL/NAMESPACE; default: its --backup_dir")
      ->type_name("DIR");
  create.add_option("--keep", options.keep, "Afterwards delete all but the newest N backups without a note")
      ->type_name("N")
      ->check(CLI::Range(1u, 1'000'000u));
  create.add_option("--rate-mb", options.rate_mb, "Maximum rate in MiB a second; 0: no limit")
      ->type_name("N")
      ->check(CLI::Range(0u, 1'048'576u));
  create.add_option("--note", options.note, "Stored with the backup; protects it from --keep")->type_name("TEXT");
  create.add_flag("--no-wait", options.no_wait, "Do not wait for the end of the backup");
  create.add_option("--data-dir", options.data_dir, "Back up this data directory of a stopped daemon")
      ->type_name("DIR");
  create.footer(
      "Backups in one directory share their unchanged files. Each backup is read again and compared with its\n"
      "checksums before it counts. Interrupting this command does not end the backup: use backup cancel.\n\n"
      "Examples:\n  armature backup create --to /backup/armature --keep 7\n"
      "  armature backup create --data-dir /var/lib/armature --to /backup/armature\n"
      "  armature backup create --to rados://armature/orders-backups\n");
}

void AddCancel(CLI::App& group, Action* action) {
  CLI::App& cancel = *group.add_subcommand("cancel", "Cancel a running backup");
  uint64_t& job = SetAction(cancel, action, CancelBackup);
  cancel.add_option("--job", job, "Number of its job, as backup create --no-wait prints it")
      ->type_name("N")
      ->required();
}

void AddRestoreTable(CLI::App& group, Action* action) {
  CLI::App& restore =
      *group.add_subcommand("restore-table", "Restore one table of a backup as a new table of a running daemon");
  RestoreTableOptions& options = SetAction(restore, action, RestoreTable);
  AddDirectory(restore, &options.directory,
               "Directory on the daemon's machine, or rados://POOL/NAMESPACE; default: its --backup_dir");
  AddId(restore, &options.id, "Number of the backup")->required();
  restore.add_option("--table-name", options.table_name, "The table in the backup")->type_name("NAME")->required();
  restore.add_option("--target-table-name", options.target, "The new table")->type_name("NAME")->required();
  restore.add_flag("--wait", options.wait, "Return when the table is complete");
  restore.footer(
      "Items and indexes are those of the backup; tags, time to live and streams are not restored.\n\n"
      "Example:\n  armature backup restore-table --id 12 --table-name Orders --target-table-name Orders-then --wait\n");
}

}  // namespace

void AddBackupCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("backup", "Backups of the whole database");
  group.require_subcommand(1);
  AddCreate(group, action);
  AddCancel(group, action);
  AddRestoreTable(group, action);

  CLI::App& list = *group.add_subcommand("list", "List the backups of a directory");
  AddDirectory(list, &SetAction(list, action, ListBackups).directory,
               "Path of this machine, or rados://POOL/NAMESPACE; default: ask the daemon for its backups");
  list.footer("ADDED is the size of the files copied for a backup; it shares the others with earlier backups.\n");

  BackupOptions* options = nullptr;
  CLI::App& verify = AddRepositoryCommand(group, "verify", "Read backups and compare them with their checksums", action,
                                          VerifyBackups, &options);
  AddId(verify, &options->id, "Verify only this backup");
  verify.footer("Exit code 4: a backup is damaged.\n");

  CLI::App& remove =
      AddRepositoryCommand(group, "delete", "Delete a backup; other backups keep the files they share with it", action,
                           DeleteBackup, &options);
  AddId(remove, &options->id, "Number of the backup")->required();

  CLI::App& restore =
      AddRepositoryCommand(group, "restore", "Restore a backup as a data directory", action, RestoreBackup, &options);
  AddId(restore, &options->id, "Number of the backup")->required();
  restore.add_option("--data-dir", options->data_dir, "An empty or missing directory")->type_name("DIR")->required();
  restore.footer(
      "The backup is verified before anything is written. An interrupted restore begins anew when the command is\n"
      "repeated; until it has finished, no daemon starts with the directory.\n\n"
      "Example:\n  armature backup restore --dir /backup/armature --id 12 --data-dir /var/lib/armature\n");
}

}  // namespace armature::cli
