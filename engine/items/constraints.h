#ifndef ARMATURE_ENGINE_ITEMS_CONSTRAINTS_H_
#define ARMATURE_ENGINE_ITEMS_CONSTRAINTS_H_

// Shape checks of item operations: required members, enumerations, and the table names in RequestItems of batches.
// Enumeration values are listed in the order in which the API prints them in errors.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "engine/items/validation_layer.h"
#include "storage/model/constraint_list.h"

namespace armature::engine {

inline constexpr std::string_view kReturnConsumedCapacityValues[] = {"INDEXES", "TOTAL", "NONE"};
inline constexpr std::string_view kReturnItemCollectionMetricsValues[] = {"SIZE", "NONE"};
inline constexpr std::string_view kReturnValuesValues[] = {"ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"};
inline constexpr std::string_view kReturnValuesOnFailureValues[] = {"ALL_OLD", "NONE"};
inline constexpr std::string_view kSelectValues[] = {"SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES",
                                                     "ALL_PROJECTED_ATTRIBUTES"};

// Adds a violation unless `value` is empty (absent) or one of `allowed`.
inline void CheckOptionalEnum(std::string_view value, std::string_view path, std::span<const std::string_view> allowed,
                              model::ConstraintList* list) {
  if (!value.empty()) list->CheckEnum(value, path, allowed);
}

// Check ReturnConsumedCapacity and ReturnItemCollectionMetrics.
inline void CheckCapacityReport(std::string_view value, model::ConstraintList* list) {
  CheckOptionalEnum(value, "returnConsumedCapacity", kReturnConsumedCapacityValues, list);
}
inline void CheckCollectionReport(std::string_view value, model::ConstraintList* list) {
  CheckOptionalEnum(value, "returnItemCollectionMetrics", kReturnItemCollectionMetricsValues, list);
}
// Checks the length of ClientRequestToken.
void CheckClientRequestToken(const std::optional<std::string>& token, model::ConstraintList* list);

// Check ReturnValues: with LayerRules::short_enums the text names neither value nor member. Its list is the API's.
void CheckReturnValues(std::string_view value, const LayerRules& rules, model::ConstraintList* list);

// A required member other than the table name.
struct RequiredMember {
  std::string_view path;  // "key", "item"
  bool given = true;
};

// Checks the shape of a request: table name, `member`, and the checks of `add_others`. Like the service, reports an
// invalid name without other violations, unless a required member is missing too.
absl::Status CheckShape(const std::optional<std::string>& table_name, const RequiredMember& member,
                        absl::FunctionRef<void(model::ConstraintList*)> add_others);

// True for a table name that may stand in RequestItems. The parts of an ARN are checked later.
bool IsRequestItemsKey(std::string_view name_or_arn);
// Adds the violation of RequestItems, shown as `printed`, with a table name that may not.
void AddRequestItemsKeys(std::string_view printed, model::ConstraintList* constraints);

// Checks that ARNs are well-formed and that no table is named twice (once by name and once by ARN). Errors:
// ValidationException.
absl::Status CheckTablesOnce(const std::vector<std::string_view>& names);

// `{<table>=<printed>}`, the form of RequestItems in error messages.
std::string PrintedRequestItems(std::string_view table_name, std::string_view printed);

inline constexpr char kDuplicateKeysText[] = "Provided list of item keys contains duplicates";

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_CONSTRAINTS_H_
