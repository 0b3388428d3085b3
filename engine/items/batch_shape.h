#ifndef ARMATURE_ENGINE_ITEMS_BATCH_SHAPE_H_
#define ARMATURE_ENGINE_ITEMS_BATCH_SHAPE_H_

// Checks of RequestItems shared by BatchGetItem and BatchWriteItem.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "storage/model/constraint_list.h"

namespace armature::engine {

// Checks a table name in RequestItems and adds violations to `constraints`. CheckTablesOnce checks the parts of an ARN.
void CheckRequestItemsKey(std::string_view name_or_arn, model::ConstraintList* constraints);

// Checks that ARNs are well-formed and that no table is named twice (once by name and once by ARN). Errors:
// ValidationException.
absl::Status CheckTablesOnce(const std::vector<std::string_view>& names);

// `{<table>=<printed>}`, the form of RequestItems in error messages.
std::string PrintedRequestItems(std::string_view table_name, std::string_view printed);

inline constexpr char kDuplicateKeysText[] = "Provided list of item keys contains duplicates";

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_BATCH_SHAPE_H_
