#ifndef ARMATURE_ENGINE_ITEMS_BATCH_SHAPE_H_
#define ARMATURE_ENGINE_ITEMS_BATCH_SHAPE_H_

// What BatchGetItem and BatchWriteItem have in common: how RequestItems names tables.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "storage/model/constraint_list.h"

namespace armature::engine {

// A key of RequestItems: adds to `constraints` what no table name is like. The parts of an ARN are judged by
// CheckTablesOnce.
void CheckRequestItemsKey(std::string_view name_or_arn, model::ConstraintList* constraints);

// No two of the names mean one table, which a name and an ARN may, and ARNs are well-formed. Errors:
// ValidationException.
absl::Status CheckTablesOnce(const std::vector<std::string_view>& names);

// `{<table>=<printed>}`, as messages print RequestItems.
std::string PrintedRequestItems(std::string_view table_name, std::string_view printed);

inline constexpr char kDuplicateKeysText[] = "Provided list of item keys contains duplicates";

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_BATCH_SHAPE_H_
