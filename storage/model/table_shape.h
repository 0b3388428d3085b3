#ifndef ARMATURE_STORAGE_MODEL_TABLE_SHAPE_H_
#define ARMATURE_STORAGE_MODEL_TABLE_SHAPE_H_

// The constraints on the shape of table definitions and updates: lengths, enums, names. Private to the builders of
// tables and their updates, but for the parts below.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "storage/model/constraint_list.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_update.h"

namespace armature::model {

// The gathered violations, or OK. After OK every list and text is within its bounds, every enum is
// known and every required member is there.
//
// The shapes cannot tell an empty list or enum from an absent one; both count as absent. An empty
// name is told as empty.
absl::Status CheckTableShape(const TableDefinition& definition);

// The same for an update.
absl::Status CheckTableUpdateShape(const TableUpdate& update);

// Parts, for other requests that say what a table shall be like: add what is wrong to `faults`. A path names the
// member, "globalSecondaryIndexes". What is absent is not checked, and an empty list of indexes is as good as any.
void CheckIndexShapes(const std::optional<std::vector<IndexDefinition>>& indexes, IndexKind kind,
                      std::string_view list_path, ConstraintList* faults);
void CheckThroughputShape(const std::optional<Throughput>& throughput, const std::string& path, ConstraintList* faults);
void CheckBillingModeShape(std::string_view billing_mode, std::string_view path, ConstraintList* faults);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_SHAPE_H_
