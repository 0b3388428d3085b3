#ifndef ARMATURE_ENGINE_TABLES_CONTINUOUS_BACKUPS_H_
#define ARMATURE_ENGINE_TABLES_CONTINUOUS_BACKUPS_H_

// DescribeContinuousBackups, UpdateContinuousBackups: the setting is stored and reported. Point-in-time restore is not
// supported yet.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "storage/store/database.h"

namespace armature::engine {

struct PointInTimeRecoverySpecification {
  std::optional<bool> enabled;
  std::optional<int64_t> period_days;
};

struct UpdateContinuousBackupsRequest {
  std::optional<std::string> table_name;
  std::optional<PointInTimeRecoverySpecification> specification;
};

struct ContinuousBackupsDescription {
  bool enabled = true;  // ContinuousBackupsStatus: true once the table has been created
  // PointInTimeRecoveryDescription. The other members are set only if it is enabled.
  bool recovery_enabled = false;
  int64_t period_days = 0;
  int64_t earliest_ms = 0;
  int64_t latest_ms = 0;
};

// Errors: ValidationException, TableNotFoundException, ContinuousBackupsUnavailableException. UpdateContinuousBackups
// blocks: it writes to disk.
absl::StatusOr<ContinuousBackupsDescription> DescribeContinuousBackups(const store::Database& database,
                                                                       const std::optional<std::string>& table_name);
absl::StatusOr<ContinuousBackupsDescription> UpdateContinuousBackups(store::Database* database,
                                                                     const UpdateContinuousBackupsRequest& request);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_CONTINUOUS_BACKUPS_H_
