#include "engine/backup/point_in_time.h"

#include <string_view>

#include "engine/backup/table_backup_requests.h"
#include "engine/parts.h"
#include "engine/tables/resource_arn.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

absl::Status CheckShape(const RestoreToPointInTimeRequest& request) {
  model::ConstraintList faults;
  CheckTargetShape(request.restore, &faults);
  if (request.source_table_name.has_value()) {
    faults.CheckName(*request.source_table_name, "sourceTableName", model::kTableNameMinChars);
  }
  CheckOverrideShapes(request.restore, &faults);
  return faults.ToStatus();
}

// Checks that the request has one source and one time.
absl::Status CheckAlternatives(const RestoreToPointInTimeRequest& request) {
  const bool has_name = request.source_table_name.has_value();
  const bool has_arn = request.source_table_arn.has_value();
  if (has_name && has_arn) return InvalidRequestError("Must provide exactly one of: sourceTableArn, sourceTableName");
  if (!has_name && !has_arn) {
    return ValidationError("The parameter 'TableName' is required but was not present in the request");
  }
  const bool is_latest = request.use_latest_time.value_or(false);
  if (is_latest && request.time_ms.has_value()) {
    return InvalidRequestError(
        "Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time restore request. Please "
        "specify either RestoreDateTime time or UseLatestRestorableTime");
  }
  if (is_latest || request.time_ms.has_value()) return absl::OkStatus();
  return InvalidRequestError(
      "Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both");
}

absl::Status CheckSourceArn(const RestoreToPointInTimeRequest& request) {
  if (!request.source_table_arn.has_value()) return absl::OkStatus();
  model::Arn arn;
  if (!model::IsTableArn(*request.source_table_arn) || !model::ParseArn(*request.source_table_arn, &arn).ok()) {
    return InvalidParameterError("sourceTableArn is not a valid ARN");
  }
  if (!arn.is_of_this_account()) return OtherOwnerError();
  if (arn.is_of_this_region() || request.restore.sse.has_value()) return absl::OkStatus();
  return InvalidRequestError("sseSpecificationOverride must be provided for cross-region restores");
}

}  // namespace

absl::Status RestoreTableToPointInTime(const store::Database& database, const RestoreToPointInTimeRequest& request) {
  ARM_RETURN_IF_ERROR(CheckShape(request));
  ARM_RETURN_IF_ERROR(CheckAlternatives(request));
  ARM_RETURN_IF_ERROR(CheckSourceArn(request));
  const std::string& source =
      request.source_table_name.has_value() ? *request.source_table_name : *request.source_table_arn;
  const std::string_view name = model::TableNamePart(source);
  // A table of another region is not here.
  const absl::StatusOr<PinnedTable> pinned = FindTable(database, source);
  if (!pinned.ok()) return TableNotFoundError(Cat("Table not found: ", name));
  if (!pinned->table->descriptor.settings.point_in_time_recovery.has_value()) {
    return PointInTimeRecoveryUnavailableError(Cat("Point in time recovery is not enabled for table '", name, "'"));
  }
  return PointInTimeRecoveryUnavailableError(
      Cat("Point in time recovery is enabled for table '", name,
          "', but this version of the server keeps no history of tables; restore a backup of the table instead"));
}

}  // namespace armature::engine
