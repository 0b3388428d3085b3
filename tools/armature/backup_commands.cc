#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_repository.h"
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
  BackupId id = 0;  // 0: all
  std::string data_dir;
};

absl::StatusOr<std::unique_ptr<BackupRepository>> OpenRepository(const std::string& directory,
                                                                 BackupRepositoryOptions::Mode mode) {
  // The answers of commands are enough for people.
  FLAGS_minloglevel = google::GLOG_ERROR;
  absl::StatusOr<std::unique_ptr<BackupRepository>> repository = BackupRepository::Open(directory, {.mode = mode});
  if (!repository.ok()) return BackupError(repository.status());
  return repository;
}

std::string ShowTime(int64_t ms) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixMillis(ms), absl::UTCTimeZone());
}

void PrintBackups(const Session& session, const std::vector<admin::v1::Backup>& backups) {
  if (session.format() == OutputFormat::kJson) {
    Json result = Json::object();
    result["Backups"] = Json::array();
    for (const admin::v1::Backup& backup : backups) result["Backups"].push_back(MessageToJson(backup));
    session.Print(result);
    return;
  }
  TextTable table({"ID", "MADE", "SIZE", "ADDED", "NOTE", "STATE"});
  for (const admin::v1::Backup& backup : backups) {
    table.AddRow({Cat(backup.id()), backup.finished_time_ms() == 0 ? "" : ShowTime(backup.finished_time_ms()),
                  ShowBytes(backup.size_bytes()), ShowBytes(backup.added_bytes()), NoteLine(backup.note()),
                  backup.damage().empty() ? "whole" : Cat("DAMAGED: ", backup.damage())});
  }
  session.PrintText(table.ToString());
}

absl::Status List(const Session& session, const BackupOptions& options) {
  std::vector<admin::v1::Backup> backups;
  if (options.directory.empty()) {
    ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
    ARM_ASSIGN_OR_RETURN(const auto answer, client.ListDatabaseBackups(admin::v1::ListBackupsRequest()));
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

absl::Status Verify(const Session& session, const BackupOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto repository, OpenRepository(options.directory, BackupRepositoryOptions::Mode::kRead));
  const absl::StatusOr<std::vector<BackupEntry>> chosen = Chosen(repository.get(), options.id);
  if (!chosen.ok()) return BackupError(chosen.status());
  size_t damaged = 0;
  std::vector<admin::v1::Backup> backups;
  for (const BackupEntry& entry : *chosen) {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    const absl::Status verified = repository->Verify(entry.id, ObserverOf(&bar, Cat("backup ", entry.id)));
    // It was deleted meanwhile.
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

absl::Status Delete(const Session& session, const BackupOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto repository, OpenRepository(options.directory, BackupRepositoryOptions::Mode::kWrite));
  const absl::StatusOr<BackupEntry> entry = repository->Find(options.id);
  if (!entry.ok()) return BackupError(entry.status());
  const std::string made = entry->finished_ms == 0 ? "" : Cat(" of ", ShowTime(entry->finished_ms));
  ARM_RETURN_IF_ERROR(session.Confirm(Cat("Delete backup ", options.id, made, " in ", options.directory)));
  ARM_RETURN_IF_ERROR(BackupError(repository->Delete(options.id)));
  PrintBackup(session, ToMessage(*entry));
  return absl::OkStatus();
}

absl::Status Restore(const Session& session, const BackupOptions& options) {
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

void AddDirectory(CLI::App* command, const std::shared_ptr<BackupOptions>& options) {
  command->add_option("--dir", options->directory, "Directory of the backups, on this machine")
      ->type_name("DIR")
      ->required();
}

void AddId(CLI::App* command, const std::shared_ptr<BackupOptions>& options) {
  command->add_option("--id", options->id, "Number of the backup")
      ->type_name("N")
      ->check(CLI::Range(BackupId{1}, UINT32_MAX))
      ->required();
}

using Command = absl::Status (*)(const Session&, const BackupOptions&);

std::function<void()> Runs(Command command, const std::shared_ptr<BackupOptions>& options, Action* action) {
  return [command, options, action] {
    *action = [command, options](const Session& session) { return command(session, *options); };
  };
}

void AddCreate(CLI::App* group, Action* action) {
  CLI::App& create = *group->add_subcommand("create", "Back the database up while clients go on");
  const auto options = std::make_shared<CreateBackupOptions>();
  create.add_option("--to", options->directory, "Directory on the daemon's machine; else its --backup_dir")
      ->type_name("DIR");
  create.add_option("--keep", options->keep, "Then delete all but so many, of those without a note")
      ->type_name("N")
      ->check(CLI::Range(1u, 1'000'000u));
  create.add_option("--rate-mb", options->rate_mb, "At most so many MiB a second, 0: as fast as it goes")
      ->type_name("N")
      ->check(CLI::Range(0u, 1'048'576u));
  create.add_option("--note", options->note, "Kept with the backup, and keeps it from --keep")->type_name("TEXT");
  create.add_flag("--no-wait", options->no_wait, "Do not wait for its end");
  create.add_option("--data-dir", options->data_dir, "Of a daemon that is stopped: back it up without it")
      ->type_name("DIR");
  create.footer(
      "Backups in one directory share what did not change between them. Each is read again and compared\n"
      "with its checksums before it counts. To interrupt this command does not end the backup: backup cancel does.\n\n"
      "Examples:\n  armature backup create --to /backup/armature --keep 7\n"
      "  armature backup create --data-dir /var/lib/armature --to /backup/armature\n");
  create.callback(
      [options, action] { *action = [options](const Session& session) { return CreateBackup(session, *options); }; });
  CLI::App& cancel = *group->add_subcommand("cancel", "End a backup that is being made");
  const auto job = std::make_shared<uint64_t>(0);
  cancel.add_option("--job", *job, "Its number, from backup create --no-wait")->type_name("N")->required();
  cancel.callback([job, action] { *action = [job](const Session& session) { return CancelBackup(session, *job); }; });
}

void AddRestoreTable(CLI::App* group, Action* action) {
  CLI::App& restore =
      *group->add_subcommand("restore-table", "Make a new table of one in a backup, in a running daemon");
  const auto options = std::make_shared<RestoreTableOptions>();
  restore.add_option("--dir", options->directory, "Directory on the daemon's machine; else its --backup_dir")
      ->type_name("DIR");
  restore.add_option("--id", options->id, "Number of the backup")
      ->type_name("N")
      ->check(CLI::Range(BackupId{1}, UINT32_MAX))
      ->required();
  restore.add_option("--table-name", options->table_name, "The table in the backup")->type_name("NAME")->required();
  restore.add_option("--target-table-name", options->target, "The new table")->type_name("NAME")->required();
  restore.add_flag("--wait", options->wait, "Wait until it is whole");
  restore.footer(
      "Items and indexes are those of the backup; tags, time to live and streams are not restored.\n\n"
      "Example:\n  armature backup restore-table --id 12 --table-name Orders --target-table-name Orders-then --wait\n");
  restore.callback(
      [options, action] { *action = [options](const Session& session) { return RestoreTable(session, *options); }; });
}

}  // namespace

void AddBackupCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("backup", "Backups of the whole database");
  group.require_subcommand(1);
  AddCreate(&group, action);
  AddRestoreTable(&group, action);

  CLI::App& list = *group.add_subcommand("list", "The backups of a directory");
  auto options = std::make_shared<BackupOptions>();
  list.add_option("--dir", options->directory, "Directory on this machine; else ask the daemon for its own")
      ->type_name("DIR");
  list.footer("ADDED is what was copied for a backup; the rest it shares with earlier ones.\n");
  list.callback(Runs(List, options, action));

  CLI::App& verify = *group.add_subcommand("verify", "Read backups and compare them with their checksums");
  options = std::make_shared<BackupOptions>();
  AddDirectory(&verify, options);
  verify.add_option("--id", options->id, "This one; else all")
      ->type_name("N")
      ->check(CLI::Range(BackupId{1}, UINT32_MAX));
  verify.footer("Exit code 4: one is damaged.\n");
  verify.callback(Runs(Verify, options, action));

  CLI::App& remove = *group.add_subcommand("delete", "Delete a backup; others keep what they share with it");
  options = std::make_shared<BackupOptions>();
  AddDirectory(&remove, options);
  AddId(&remove, options);
  remove.callback(Runs(Delete, options, action));

  CLI::App& restore = *group.add_subcommand("restore", "Make a data directory of a backup");
  options = std::make_shared<BackupOptions>();
  AddDirectory(&restore, options);
  AddId(&restore, options);
  restore.add_option("--data-dir", options->data_dir, "An empty directory, or one that does not exist")
      ->type_name("DIR")
      ->required();
  restore.footer(
      "The backup is verified before anything is written. A restore that was cut off is begun anew when it is\n"
      "run again; until it has finished, no daemon starts with the directory.\n\n"
      "Example:\n  armature backup restore --dir /backup/armature --id 12 --data-dir /var/lib/armature\n");
  restore.callback(Runs(Restore, options, action));
}

}  // namespace armature::cli
