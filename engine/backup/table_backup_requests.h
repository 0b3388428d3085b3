#ifndef ARMATURE_ENGINE_BACKUP_TABLE_BACKUP_REQUESTS_H_
#define ARMATURE_ENGINE_BACKUP_TABLE_BACKUP_REQUESTS_H_

// What of requests about backups of tables can be judged without a table and without a backup, and how such backups are
// named.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backup/table_backups.h"

namespace armature::engine {

// After OK the required members are there and every member keeps its bounds.
//
// Errors: ValidationException with the documented text. Violations of the request's shape are gathered in the order of
// the operation's members; then come the parts of ARNs, and what members say against each other.
// Source: the API reference, of each operation; the order of index lists is that of CreateTable.
absl::Status CheckCreateBackup(const CreateBackupRequest& request);
absl::Status CheckDescribeBackup(const std::optional<std::string>& arn);
absl::Status CheckListTableBackups(const ListTableBackupsRequest& request);
absl::Status CheckDeleteBackup(const std::optional<std::string>& arn);
// What depends on the table in the backup is left: whether its indexes have the overrides' keys, and whether it has the
// throughput that a billing mode needs.
absl::Status CheckRestoreTable(const RestoreTableRequest& request);

// A backup that there is not, in the words of the API.
absl::Status NoSuchBackupError(std::string_view arn);

// The parts of a backup's ARN. Views into the text.
struct BackupArnParts {
  std::string_view table_arn;
  // Empty, which is nobody's name, in the ARN of another region or account.
  std::string_view table_name;
  int64_t time_ms = 0;  // since the epoch
  uint32_t random = 0;  // tells backups of one millisecond from each other
};

// <table's ARN>/backup/<14 digits>-<8 hex digits>. Errors: ValidationException.
// Source: ARNs of the original service; it answers a malformed one with texts that begin with "Invalid Backup ARN".
absl::StatusOr<BackupArnParts> ParseBackupArn(std::string_view arn);

// The inverse. `time_ms` is neither negative nor beyond the year 5138, which has more digits.
std::string MakeBackupArn(std::string_view table_arn, int64_t time_ms, uint32_t random);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_TABLE_BACKUP_REQUESTS_H_
