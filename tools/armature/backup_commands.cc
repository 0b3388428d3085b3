#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_repository.h"
#include "tools/armature/command.h"
#include "tools/armature/commands.h"
#include "tools/armature/message_json.h"
#include "tools/armature/offline_backup.h"
#include "tools/armature/text_table.h"

namespace armature::cli {
namespace {

using store::BackupEntry;
using store::BackupId;
using store::BackupRepository;
using store::BackupRepositoryOptions;

struct BackupOptions {
  std::string directory;
  BackupId id = 0;  // 0: all backups
  std::string data_dir;
};

absl::StatusOr<std::unique_ptr<BackupRepository>> OpenRepository(const std::string& directory,
                                                                 BackupRepositoryOptions::Mode mode) {
  // The log lines would disturb the output of the command.
  FLAGS_minloglevel = google::GLOG_ERROR;
  absl::StatusOr<std::unique_ptr<BackupRepository>> repository = BackupRepository::Open(directory, {.mode = mode});
  if (!repository.ok()) return BackupError(repository.status());
  return repository;
}

std::string ShowTime(int64_t ms) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixMillis(ms), absl::UTCTimeZone());
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
  session.Print({{"Backups", list}}, [&backups] { return BackupsTable(backups); });
}

absl::Status ListBackups(const Session& session, const BackupOptions& options) {
  std::vector<admin::v1::Backup> backups;
  if (options.directory.empty()) {
    ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
    ARM_ASSIGN_OR_RETURN(const auto answer, client.ListDatabaseBackups({}));
    backups.assign(answer.backups().begin(), answer.backups().end());
  } else {
    ARM_ASSIGN_OR_RETURN(const auto repository,
                         OpenRepository(options.directory, BackupRepositoryOptions::Mode::kRead));
    const absl::StatusOr<std::vector<BackupEntry>> entries = repository->List();
    if (!entries.ok()) return BackupError(entries.status());
    for (const BackupEntry& entry : *entries) backups.push_back(ToMessage(entry));
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
  ARM_ASSIGN_OR_RETURN(const auto repository, OpenRepository(options.directory, BackupRepositoryOptions::Mode::kRead));
  const absl::StatusOr<std::vector<BackupEntry>> chosen = Chosen(repository.get(), options.id);
  if (!chosen.ok()) return BackupError(chosen.status());
  size_t damaged = 0;
  std::vector<admin::v1::Backup> backups;
  for (const BackupEntry& entry : *chosen) {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    const absl::Status verified = repository->Verify(entry.id, ObserverOf(&bar, Cat("backup ", entry.id)));
    // Without --id, backups that are deleted meanwhile are left out.
    if (absl::IsNotFound(verified) && options.id == 0) continue;
    if (!verified.ok() && !absl::IsDataLoss(verified)) return BackupError(verified);
    backups.push_back(ToMessage(entry));
    backups.back().set_damage(std::string(verified.message()));
    if (!verified.ok()) ++damaged;
  }
  PrintBackups(session, backups);
  if (damaged == 0) return absl::OkStatus();
  return DifferencesError(Cat(damaged, " of ", backups.size(), " backups are damaged and cannot be restored"));
}

absl::Status DeleteBackup(const Session& session, const BackupOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto repository, OpenRepository(options.directory, BackupRepositoryOptions::Mode::kWrite));
  const absl::StatusOr<BackupEntry> entry = repository->Find(options.id);
  if (!entry.ok()) return BackupError(entry.status());
  const std::string made = entry->finished_ms == 0 ? "" : Cat(" of ", ShowTime(entry->finished_ms));
  ARM_RETURN_IF_ERROR(session.Confirm(Cat("Delete backup ", options.id, made, " in ", options.directory)));
  ARM_RETURN_IF_ERROR(BackupError(repository->Delete(options.id)));
  PrintBackup(session, ToMessage(*entry));
  return absl::OkStatus();
}

absl::Status RestoreBackup(const Session& session, const BackupOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto repository, OpenRepository(options.directory, BackupRepositoryOptions::Mode::kRead));
  const absl::StatusOr<BackupEntry> entry = repository->Find(options.id);
  if (!entry.ok()) return BackupError(entry.status());
  {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    ARM_RETURN_IF_ERROR(BackupError(
        repository->Restore(options.id, options.data_dir, ObserverOf(&bar, Cat("restore ", options.data_dir)))));
  }
  PrintBackup(session, ToMessage(*entry));
  return absl::OkStatus();
}

CLI::Option* AddDirectory(CLI::App& command, std::string* directory, const char* help) {
  return command.add_option("--dir", *directory, help)->type_name("DIR");
}

CLI::Option* AddId(CLI::App& command, BackupId* id, const char* help) {
  return command.add_option("--id", *id, help)->type_name("N")->check(CLI::Range(BackupId{1}, UINT32_MAX));
}

// Adds a command that works on a directory of backups on this machine.
CLI::App& AddRepositoryCommand(CLI::App& group, const char* name, const char* description, Action* action,
                               absl::Status (*run)(const Session&, const BackupOptions&), BackupOptions** options) {
  CLI::App& command = *group.add_subcommand(name, description);
  *options = &SetAction(command, action, run);
  AddDirectory(command, &(*options)->directory, "Directory of the backups, on this machine")->required();
  return command;
}

void AddCreate(CLI::App& group, Action* action) {
  CLI::App& create = *group.add_subcommand("create", "Back up the database while clients use it");
  CreateBackupOptions& options = SetAction(create, action, CreateBackup);
  create.add_option("--to", options.directory, "Directory on the daemon's machine; default: its --backup_dir")
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
      "  armature backup create --data-dir /var/lib/armature --to /backup/armature\n");
}

void AddCancel(CLI::App& group, Action* action) {
  CLI::App& cancel = *group.add_subcommand("cancel", "Cancel a running backup");
  CancelBackupOptions& options = SetAction(cancel, action, CancelBackup);
  cancel.add_option("--job", options.job, "Number of its job, as backup create --no-wait prints it")
      ->type_name("N")
      ->required();
}

void AddRestoreTable(CLI::App& group, Action* action) {
  CLI::App& restore =
      *group.add_subcommand("restore-table", "Restore one table of a backup as a new table of a running daemon");
  RestoreTableOptions& options = SetAction(restore, action, RestoreTable);
  AddDirectory(restore, &options.directory, "Directory on the daemon's machine; default: its --backup_dir");
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
               "Directory on this machine; default: ask the daemon for its backups");
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
