#ifndef ARMATURE_ENGINE_BACKUP_TABLE_BACKUPS_H_
#define ARMATURE_ENGINE_BACKUP_TABLE_BACKUPS_H_

// CreateBackup, DescribeBackup, ListBackups, DeleteBackup, RestoreTableFromBackup: backups of one table, as clients of
// the API know them. Each is a backup of the whole database in the configured directory, whose note says which table it
// was made for; it shares its files with the others, so it costs what has changed.

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

namespace armature::engine {

struct Parts;

enum class BackupStatus : uint8_t { kCreating, kAvailable, kDeleted };

struct TableBackup {
  std::string arn;  // <table's ARN>/backup/<14 digits of milliseconds>-<8 hex digits>
  std::string name;
  BackupStatus status = BackupStatus::kCreating;
  int64_t creation_time_ms = 0;  // since the epoch
  model::TableDescriptor table;  // as it was
  Totals totals;                 // of the table, as they were
};

struct CreateBackupRequest {
  std::optional<std::string> table_name = {};  // or ARN
  std::optional<std::string> backup_name = {};
};

struct ListTableBackupsRequest {
  std::optional<std::string> table_name = {};  // or ARN
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
  // Overrides: what the client has given takes the place of what the table had.
  std::optional<std::string> billing_mode = {};
  std::optional<std::vector<model::IndexDefinition>> local_indexes = {};
  std::optional<std::vector<model::IndexDefinition>> global_indexes = {};
  std::optional<model::Throughput> provisioned = {};
  std::optional<model::Throughput> on_demand_max = {};
};

// A table of any backup, by name.
struct RestoreTableOfRequest {
  std::string directory;  // of backups; empty: that of the options
  store::BackupId backup = 0;
  std::string table_name;         // in the backup
  std::string target_table_name;  // new
};

// All but the last block: they read files. Errors: ValidationException; the others as told.
//
// Starts the backup and does not wait for it. Errors: TableNotFoundException; LimitExceededException.
absl::StatusOr<TableBackup> CreateTableBackup(Parts* parts, const CreateBackupRequest& request);
// Errors: BackupNotFoundException.
absl::StatusOr<TableBackup> DescribeTableBackup(const Parts& parts, const std::optional<std::string>& arn);
absl::StatusOr<ListTableBackupsResult> ListTableBackups(const Parts& parts, const ListTableBackupsRequest& request);
// Answers what was deleted. Errors: BackupNotFoundException; BackupInUseException while it is read, or another backup
// is made.
absl::StatusOr<TableBackup> DeleteTableBackup(Parts* parts, const std::optional<std::string>& arn);
// Whether the table may be deleted: not before the backups that were begun of it have it. Errors:
// ResourceInUseException.
absl::Status CheckNotBeingBackedUp(const Parts& parts, const std::optional<std::string>& table_name);
// Starts the restore and does not wait for it: the table is CREATING until it is whole. Errors:
// BackupNotFoundException, TableAlreadyExistsException, LimitExceededException.
absl::StatusOr<TableDescription> RestoreTableFromBackup(Parts* parts, const RestoreTableRequest& request);

// The same for a table of any backup, without overrides; what is not there is a ResourceNotFoundException.
absl::StatusOr<TableDescription> RestoreTableOf(Parts* parts, const RestoreTableOfRequest& request);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_TABLE_BACKUPS_H_
