#ifndef ARMATURE_ENGINE_BACKUP_TABLE_BACKUPS_H_
#define ARMATURE_ENGINE_BACKUP_TABLE_BACKUPS_H_

// CreateBackup, DescribeBackup, ListBackups, DeleteBackup, RestoreTableFromBackup: the API's backups of one table. Each
// is a backup of the whole database in the configured directory, with a note that names its table. It shares files with
// the other backups, so its cost is the data changed since the previous one.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/backup/backup_jobs.h"
#include "engine/items/request.h"
#include "engine/tables/table_description.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/backup/backup_reader.h"

namespace armature::engine {

struct Parts;

enum class BackupStatus : uint8_t { kCreating, kAvailable, kDeleted };

// The ARN is <table's ARN>/backup/<14 digits of milliseconds>-<8 hex digits>. Table and totals are those at the time of
// the backup.
struct TableBackup : store::TableBackupNote {
  BackupStatus status = BackupStatus::kCreating;
};

struct CreateBackupRequest {
  std::optional<std::string> table_name = {};  // name or ARN
  std::optional<std::string> backup_name = {};
};

struct ListTableBackupsRequest {
  std::optional<std::string> table_name = {};  // name or ARN
  std::optional<int64_t> limit = {};
  std::optional<int64_t> from_ms = {};   // inclusive
  std::optional<int64_t> until_ms = {};  // exclusive
  std::optional<std::string> exclusive_start_arn = {};
  std::optional<std::string> type = {};  // USER (the default), SYSTEM, AWS_BACKUP, ALL
};

struct ListTableBackupsResult {
  std::vector<TableBackup> backups;  // newest last
  std::optional<std::string> last_evaluated_arn;
};

struct RestoreTableRequest {
  std::optional<std::string> target_table_name = {};
  std::optional<std::string> backup_arn = {};
  // Overrides: members that are present replace those of the source table.
  std::optional<std::string> billing_mode = {};
  std::optional<std::vector<model::IndexDefinition>> local_indexes = {};
  std::optional<std::vector<model::IndexDefinition>> global_indexes = {};
  std::optional<model::Throughput> provisioned = {};
  std::optional<model::Throughput> on_demand_max = {};
  std::optional<model::SseDefinition> sse = {};
};

// Restores a table of any backup, by name.
struct RestoreTableOfRequest {
  std::string directory;  // backup directory; empty: that of the options
  store::BackupId backup = 0;
  std::string table_name;         // in the backup
  std::string target_table_name;  // name of the new table
};

// All functions except CheckNotBeingBackedUp block, because they read files. Errors: ValidationException, and those
// stated for each.
//
// Starts the backup without waiting for it. Errors: TableNotFoundException; LimitExceededException.
absl::StatusOr<TableBackup> CreateTableBackup(Parts* parts, const CreateBackupRequest& request);
// Errors: BackupNotFoundException.
absl::StatusOr<TableBackup> DescribeTableBackup(const Parts& parts, const std::optional<std::string>& arn);
absl::StatusOr<ListTableBackupsResult> ListTableBackups(const Parts& parts, const ListTableBackupsRequest& request);
// Returns the deleted backup. Errors: BackupNotFoundException; BackupInUseException while the backup is read, or
// another backup is made.
absl::StatusOr<TableBackup> DeleteTableBackup(Parts* parts, const std::optional<std::string>& arn);
// OK if the table may be deleted. A table must stay until its backups in progress contain it. Errors:
// ResourceInUseException.
absl::Status CheckNotBeingBackedUp(const Parts& parts, const std::optional<std::string>& table_name);
// Starts the restore without waiting for it. The table is CREATING until it is complete. Errors:
// BackupNotFoundException, BackupInUseException while the backup is being made, TableAlreadyExistsException,
// LimitExceededException.
absl::StatusOr<TableDescription> RestoreTableFromBackup(Parts* parts, const RestoreTableRequest& request);

// Starts the restore of a table of any backup, without overrides and without waiting for it. A missing backup or table
// is a ResourceNotFoundException.
absl::StatusOr<TableDescription> RestoreTableOf(Parts* parts, const RestoreTableOfRequest& request);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_TABLE_BACKUPS_H_
