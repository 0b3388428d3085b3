#include "engine/tables/continuous_backups.h"

#include <algorithm>
#include <string_view>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/parts.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

constexpr int64_t kPeriodDaysMin = 1;
constexpr int64_t kPeriodDaysMax = 35;  // also the default
constexpr absl::Duration kRestorableAfter = absl::Minutes(5);
constexpr std::string_view kRecoveryPath = "pointInTimeRecoverySpecification";

absl::Status TableNotFound(std::string_view name_or_arn) {
  return TableNotFoundError(Cat("Table not found: ", model::TableNamePart(name_or_arn)));
}

void CheckSpecification(const std::optional<PointInTimeRecoverySpecification>& specification,
                        model::ConstraintList* constraints) {
  if (!specification.has_value()) return constraints->AddNull(kRecoveryPath);
  if (!specification->enabled.has_value()) {
    constraints->AddNull(Cat(kRecoveryPath, ".pointInTimeRecoveryEnabled"));
  }
  if (!specification->period_days.has_value()) return;
  const std::string path = Cat(kRecoveryPath, ".recoveryPeriodInDays");
  constraints->CheckMinimum(*specification->period_days, path, kPeriodDaysMin);
  constraints->CheckMaximum(*specification->period_days, path, kPeriodDaysMax);
}

ContinuousBackupsDescription Describe(const model::TableDescriptor& table, absl::Time now) {
  ContinuousBackupsDescription description;
  description.enabled = table.state != model::TableState::kCreating;
  const std::optional<model::PointInTimeRecovery>& recovery = table.settings.point_in_time_recovery;
  if (!recovery.has_value()) return description;
  description.recovery_enabled = true;
  description.period_days = recovery->period_days;
  description.earliest_ms =
      std::max(recovery->enabled_since_ms, absl::ToUnixMillis(now - absl::Hours(24) * recovery->period_days));
  description.latest_ms = std::max(description.earliest_ms, absl::ToUnixMillis(now - kRestorableAfter));
  return description;
}

absl::Status Apply(const PointInTimeRecoverySpecification& specification, absl::Time now,
                   model::TableDescriptor* table) {
  if (table->state == model::TableState::kCreating) {
    return ContinuousBackupsUnavailableError(
        Cat("Backups are being enabled for the table: ", table->name, ". Please retry later"));
  }
  std::optional<model::PointInTimeRecovery>& recovery = table->settings.point_in_time_recovery;
  if (!*specification.enabled) {
    recovery.reset();
    return absl::OkStatus();
  }
  if (!recovery.has_value()) recovery = {absl::ToUnixMillis(now), static_cast<int32_t>(kPeriodDaysMax)};
  if (specification.period_days.has_value()) recovery->period_days = static_cast<int32_t>(*specification.period_days);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ContinuousBackupsDescription> DescribeContinuousBackups(const store::Database& database,
                                                                       const std::optional<std::string>& table_name) {
  ARM_RETURN_IF_ERROR(model::CheckRequiredTableReference(table_name));
  const absl::StatusOr<PinnedTable> pinned = FindTableInAnyState(database, *table_name);
  if (!pinned.ok()) return TableNotFound(*table_name);
  return Describe(pinned->table->descriptor, absl::Now());
}

absl::StatusOr<ContinuousBackupsDescription> UpdateContinuousBackups(store::Database* database,
                                                                     const UpdateContinuousBackupsRequest& request) {
  model::ConstraintList constraints;
  model::CheckTableReferenceShape(request.table_name, &constraints);
  CheckSpecification(request.specification, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_RETURN_IF_ERROR(model::CheckTableReference(*request.table_name));
  const PointInTimeRecoverySpecification& specification = *request.specification;
  if (!*specification.enabled && specification.period_days.has_value()) {
    return ValidationError(
        "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.");
  }
  const absl::Time now = absl::Now();
  ARM_ASSIGN_OR_RETURN(
      const std::optional<model::TableDescriptor> updated,
      database->UpdateTable(model::LocalTableName(*request.table_name),
                            [&](model::TableDescriptor* table) { return Apply(specification, now, table); }));
  if (!updated.has_value()) return TableNotFound(*request.table_name);
  return Describe(*updated, now);
}

}  // namespace armature::engine
