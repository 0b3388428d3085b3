#include "engine/tables/time_to_live.h"

#include <string_view>

#include "engine/parts.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

constexpr std::string_view kTimeToLivePath = "timeToLiveSpecification";

void CheckSpecification(const std::optional<TimeToLiveSpecification>& specification,
                        model::ConstraintList* constraints) {
  if (!specification.has_value()) return constraints->AddNull(kTimeToLivePath);
  if (!specification->enabled.has_value()) constraints->AddNull(Cat(kTimeToLivePath, ".enabled"));
  const std::string path = Cat(kTimeToLivePath, ".attributeName");
  if (!specification->attribute_name.has_value()) return constraints->AddNull(path);
  const std::string& name = *specification->attribute_name;
  constraints->CheckLengthMin(model::PrintedValue(name), name.size(), path, 1);
  constraints->CheckLengthMax(model::PrintedValue(model::Shown(name, 2 * model::kKeyAttributeNameMaxBytes)),
                              name.size(), path, model::kKeyAttributeNameMaxBytes);
}

absl::Status CheckState(const model::TableDescriptor& table) {
  constexpr std::string_view kInUse = "Attempt to change a resource which is still in use: Table ";
  if (table.state == model::TableState::kCreating) {
    return ResourceInUseError(Cat(kInUse, table.name, " is being created"));
  }
  if (table.state == model::TableState::kDeleting) {
    return ResourceInUseError(Cat(kInUse, table.name, " is being deleted"));
  }
  return absl::OkStatus();
}

absl::Status Apply(bool enable, const std::string& attribute, model::TableDescriptor* table) {
  ARM_RETURN_IF_ERROR(CheckState(*table));
  std::string& current = table->settings.time_to_live_attribute;
  if (!enable && current.empty()) return ValidationError("TimeToLive is already disabled");
  if (!current.empty() && current != attribute) {
    return ValidationError(
        Cat("TimeToLive is active on a different AttributeName: current AttributeName is ", current));
  }
  if (enable && !current.empty()) return ValidationError("TimeToLive is already enabled");
  current = enable ? attribute : "";
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TimeToLiveSpecification> UpdateTimeToLive(store::Database* database,
                                                         const UpdateTimeToLiveRequest& request) {
  model::ConstraintList constraints;
  model::CheckTableReferenceShape(request.table_name, &constraints);
  CheckSpecification(request.specification, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_RETURN_IF_ERROR(model::CheckTableReference(*request.table_name));
  ARM_ASSIGN_OR_RETURN(
      const std::optional<model::TableDescriptor> updated,
      database->UpdateTable(model::LocalTableName(*request.table_name), [&](model::TableDescriptor* table) {
        return Apply(*request.specification->enabled, *request.specification->attribute_name, table);
      }));
  if (!updated.has_value()) return NoSuchTableError(*request.table_name);
  return *request.specification;
}

absl::StatusOr<TimeToLiveDescription> DescribeTimeToLive(const store::Database& database,
                                                         const std::optional<std::string>& table_name) {
  ARM_RETURN_IF_ERROR(model::CheckRequiredTableReference(table_name));
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTableInAnyState(database, *table_name));
  const model::TableDescriptor& table = pinned.table->descriptor;
  if (!CheckState(table).ok()) {
    const std::string_view state = model::TableStateName(table.state);
    return ValidationError(
        Cat("Cannot describe time to live while table is in ", state, " state: Current table state is ", state));
  }
  return TimeToLiveDescription{table.settings.time_to_live_attribute};
}

}  // namespace armature::engine
