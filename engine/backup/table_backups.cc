#include "engine/backup/table_backups.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "engine/backup/restored_table.h"
#include "engine/backup/table_backup_requests.h"
#include "engine/backup/table_restore.h"
#include "engine/parts.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_name.h"
#include "storage/store/backup/backup_place.h"
#include "storage/store/backup/backup_reader.h"
#include "storage/store/backup/backup_repository.h"

namespace armature::engine {
namespace {

using store::BackupEntry;
using store::BackupId;
using store::BackupRepository;
using store::BackupRepositoryOptions;

constexpr size_t kListMax = 100;

// Nullopt for backups that belong to no table.
std::optional<TableBackup> ParseNote(const std::string& text, BackupStatus status) {
  std::optional<store::TableBackupNote> note = store::ParseTableBackupNote(text);
  if (!note.has_value()) return std::nullopt;
  return TableBackup{*std::move(note), status};
}

// A table backup and the database backup that contains it; id 0 while that is in progress.
struct Known {
  TableBackup backup;
  BackupId id = 0;
};

// A backup that is there and cannot be used.
struct Unusable {
  std::string arn;  // empty if its manifest cannot be read
  std::string damage;
};

// All table backups in order of creation. `unusable` may be null.
absl::StatusOr<std::vector<Known>> ListKnown(const Parts& parts, std::vector<Unusable>* unusable = nullptr) {
  std::vector<Known> known;
  // Read first: a backup that finishes meanwhile is then listed here or among the finished ones.
  for (const std::string& note : parts.backups.NotesOfUnfinished()) {
    if (std::optional<TableBackup> backup = ParseNote(note, BackupStatus::kCreating)) {
      known.push_back({*std::move(backup)});
    }
  }
  if (parts.options.backup.directory.empty()) return known;
  ARM_ASSIGN_OR_RETURN(const std::vector<BackupEntry> entries, parts.backups.List(""));
  for (const BackupEntry& entry : entries) {
    std::optional<TableBackup> backup = ParseNote(entry.note, BackupStatus::kAvailable);
    if (!entry.damage.empty() && unusable != nullptr) {
      unusable->push_back({backup.has_value() ? backup->arn : "", entry.damage});
    }
    if (!backup.has_value() || !entry.damage.empty()) continue;
    // A job may still be running after its backup exists.
    const bool is_unfinished = std::any_of(
        known.begin(), known.end(), [&](const Known& each) { return each.id == 0 && each.backup.arn == backup->arn; });
    if (!is_unfinished) known.push_back({*std::move(backup), entry.id});
  }
  std::sort(known.begin(), known.end(), [](const Known& a, const Known& b) {
    return std::pair(a.backup.creation_time_ms, a.backup.arn) < std::pair(b.backup.creation_time_ms, b.backup.arn);
  });
  return known;
}

absl::StatusOr<Known> FindKnown(const Parts& parts, const std::string& given_arn) {
  const std::string arn = LocalBackupArn(given_arn);
  std::vector<Unusable> unusable;
  ARM_ASSIGN_OR_RETURN(std::vector<Known> known, ListKnown(parts, &unusable));
  for (Known& each : known) {
    if (each.backup.arn == arn) return std::move(each);
  }
  // A backup that cannot be read now is not a backup that does not exist.
  for (const Unusable& each : unusable) {
    if (each.arn.empty() || each.arn == arn) return DataLossError(Cat("backup ", arn, ": ", each.damage));
  }
  return NoSuchBackupError(given_arn);
}

// The place of the configured directory; null if there is none yet. Held by requests that list the backups first, so
// that it is opened once.
absl::StatusOr<store::BackupPlacePtr> HoldPlace(const Parts& parts) {
  const std::string& directory = parts.options.backup.directory;
  if (directory.empty()) return nullptr;
  absl::StatusOr<store::BackupPlacePtr> place = parts.backups.OpenPlace(directory, store::BackupPlaces::Use::kRead);
  if (absl::IsNotFound(place.status())) return nullptr;
  return place;
}

}  // namespace

absl::StatusOr<TableBackup> CreateTableBackup(Parts* parts, const CreateBackupRequest& request) {
  ARM_RETURN_IF_ERROR(CheckCreateBackup(request));
  const std::string_view name = model::TableNamePart(*request.table_name);
  const absl::StatusOr<PinnedTable> pinned = FindTable(*parts->database, name);
  if (!pinned.ok()) return TableNotFoundError(Cat("Table not found: ", name));
  const TableDescription table = Describe(*pinned->table);
  TableBackup backup;
  backup.name = *request.backup_name;
  backup.creation_time_ms = absl::ToUnixMillis(absl::Now());
  backup.table = table.descriptor;
  backup.item_count = table.totals.item_count;
  backup.size_bytes = table.totals.size_bytes;
  std::random_device random;
  backup.arn = MakeBackupArn(model::TableArn(table.descriptor.name), backup.creation_time_ms, random());
  StartBackupRequest start;
  start.note = store::EncodeTableBackupNote(backup);
  ARM_ASSIGN_OR_RETURN(const BackupJob job, parts->backups.Start(std::move(start)));
  // From here on the table cannot be deleted; see CheckNotBeingBackedUp.
  const absl::StatusOr<PinnedTable> still = FindTable(*parts->database, name);
  if (!still.ok() || still->table->descriptor.id != backup.table.id) {
    ARM_RETURN_IF_ERROR(parts->backups.Cancel(job.id).status());
    return TableNotFoundError(Cat("Table not found: ", name));
  }
  return backup;
}

absl::Status CheckNotBeingBackedUp(const Parts& parts, const std::optional<std::string>& table_name) {
  if (!table_name.has_value()) return absl::OkStatus();
  const absl::StatusOr<PinnedTable> pinned = FindTable(*parts.database, *table_name);
  if (!pinned.ok()) return absl::OkStatus();
  for (const std::string& note : parts.backups.NotesOfUnfinished()) {
    const std::optional<TableBackup> backup = ParseNote(note, BackupStatus::kCreating);
    if (!backup.has_value() || backup->table.id != pinned->table->descriptor.id) continue;
    return ResourceInUseError(Cat("Attempt to change a resource which is still in use: Table is being backed up: ",
                                  pinned->table->descriptor.name));
  }
  return absl::OkStatus();
}

absl::StatusOr<TableBackup> DescribeTableBackup(const Parts& parts, const std::optional<std::string>& arn) {
  ARM_RETURN_IF_ERROR(CheckBackupArn(arn));
  ARM_ASSIGN_OR_RETURN(Known known, FindKnown(parts, *arn));
  return std::move(known.backup);
}

absl::StatusOr<ListTableBackupsResult> ListTableBackups(const Parts& parts, const ListTableBackupsRequest& request) {
  ARM_RETURN_IF_ERROR(CheckListTableBackups(request));
  ListTableBackupsResult result;
  const std::string type = request.type.value_or("USER");
  if (type != "USER" && type != "ALL") return result;
  ARM_ASSIGN_OR_RETURN(std::vector<Known> known, ListKnown(parts));
  const size_t limit = request.limit.has_value() ? static_cast<size_t>(*request.limit) : kListMax;
  // Only the position is used, because the backup may have been deleted meanwhile.
  std::optional<std::pair<int64_t, std::string>> start;
  if (request.exclusive_start_arn.has_value()) {
    ARM_ASSIGN_OR_RETURN(const BackupArnParts at, ParseBackupArn(*request.exclusive_start_arn));
    start.emplace(at.time_ms, *request.exclusive_start_arn);
  }
  for (Known& each : known) {
    TableBackup& backup = each.backup;
    if (start.has_value() && std::pair(backup.creation_time_ms, backup.arn) <= *start) continue;
    if (request.table_name.has_value() && backup.table.name != model::TableNamePart(*request.table_name)) continue;
    if (backup.creation_time_ms < request.from_ms.value_or(INT64_MIN)) continue;
    if (backup.creation_time_ms >= request.until_ms.value_or(INT64_MAX)) continue;
    if (result.backups.size() == limit) {
      result.last_evaluated_arn = result.backups.back().arn;
      break;
    }
    result.backups.push_back(std::move(backup));
  }
  return result;
}

absl::StatusOr<TableBackup> DeleteTableBackup(Parts* parts, const std::optional<std::string>& arn) {
  ARM_RETURN_IF_ERROR(CheckBackupArn(arn));
  ARM_ASSIGN_OR_RETURN(const store::BackupPlacePtr place, HoldPlace(*parts));
  ARM_ASSIGN_OR_RETURN(Known known, FindKnown(*parts, *arn));
  const absl::Status in_use = BackupInUseError(
      Cat("Backup is being used by another control plane operation: a backup is being made or restored: ", *arn));
  if (known.id == 0) return in_use;
  if (place == nullptr) return NoSuchBackupError(*arn);
  const absl::StatusOr<std::unique_ptr<BackupRepository>> repository =
      BackupRepository::Open(place->path(), {.mode = BackupRepositoryOptions::Mode::kWrite, .volume = place->volume()});
  if (absl::IsAborted(repository.status())) return in_use;
  ARM_RETURN_IF_ERROR(store::ErrorIn(*place, repository.status()));
  const absl::Status deleted = (*repository)->Delete(known.id);
  if (absl::IsNotFound(deleted)) return NoSuchBackupError(*arn);
  if (absl::IsFailedPrecondition(deleted)) return in_use;
  ARM_RETURN_IF_ERROR(store::ErrorIn(*place, deleted));
  known.backup.status = BackupStatus::kDeleted;
  return std::move(known.backup);
}

absl::StatusOr<TableDescription> RestoreTableFromBackup(Parts* parts, const RestoreTableRequest& request) {
  ARM_RETURN_IF_ERROR(CheckRestoreTable(request));
  ARM_ASSIGN_OR_RETURN(store::BackupPlacePtr place, HoldPlace(*parts));
  ARM_ASSIGN_OR_RETURN(const Known known, FindKnown(*parts, *request.backup_arn));
  if (known.id == 0) {
    return BackupInUseError(Cat("Backup is being used by another control plane operation: ", *request.backup_arn));
  }
  if (place == nullptr) return NoSuchBackupError(*request.backup_arn);
  ARM_RETURN_IF_ERROR(CheckRestoreTarget(*parts, *request.target_table_name));
  ARM_ASSIGN_OR_RETURN(model::TableDescriptor target, RestoredTable(known.backup.table, request));
  // Kept open from here on, so that the backup cannot be deleted.
  absl::StatusOr<std::unique_ptr<store::BackupReader>> backup =
      store::BackupReader::Open(place->volume(), place->path(), known.id);
  if (absl::IsNotFound(backup.status())) return NoSuchBackupError(*request.backup_arn);
  ARM_RETURN_IF_ERROR(store::ErrorIn(*place, backup.status()));
  return StartRestore(parts, {.place = std::move(place), .backup = *std::move(backup), .source = known.backup.table.id},
                      std::move(target));
}

absl::StatusOr<TableDescription> RestoreTableOf(Parts* parts, const RestoreTableOfRequest& request) {
  model::ConstraintList faults;
  faults.CheckName(request.target_table_name, "targetTableName", model::kTableNameMinChars);
  ARM_RETURN_IF_ERROR(faults.ToStatus());
  ARM_ASSIGN_OR_RETURN(const std::string directory, parts->backups.DirectoryOf(request.directory));
  // Clients allowed to call this may see the texts of errors.
  const auto refuse = [](const absl::Status& error) {
    return absl::IsNotFound(error) ? ResourceNotFoundError(Sv(error.message())) : ValidationError(Sv(error.message()));
  };
  absl::StatusOr<store::BackupPlacePtr> place = parts->backups.OpenPlace(directory, store::BackupPlaces::Use::kRead);
  if (!place.ok()) return refuse(place.status());
  absl::StatusOr<std::unique_ptr<store::BackupReader>> backup =
      store::BackupReader::Open((*place)->volume(), (*place)->path(), request.backup);
  if (!backup.ok()) return refuse(store::ErrorIn(**place, backup.status()));
  for (const model::TableDescriptor& table : (*backup)->tables()) {
    if (table.name != request.table_name) continue;
    RestoreTableRequest restore;
    restore.target_table_name = request.target_table_name;
    restore.backup_arn = MakeBackupArn(model::TableArn(table.name), absl::ToUnixMillis(absl::Now()), request.backup);
    ARM_ASSIGN_OR_RETURN(model::TableDescriptor target, RestoredTable(table, restore));
    const TableId source = table.id;
    return StartRestore(parts, {.place = *std::move(place), .backup = *std::move(backup), .source = source},
                        std::move(target));
  }
  return ResourceNotFoundError(Cat("Backup ", request.backup, " in ", directory, " has no table ", request.table_name));
}

}  // namespace armature::engine
