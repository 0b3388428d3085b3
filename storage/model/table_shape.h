#ifndef ARMATURE_STORAGE_MODEL_TABLE_SHAPE_H_
#define ARMATURE_STORAGE_MODEL_TABLE_SHAPE_H_

// Constraints on the shape of table definitions and updates: lengths, enumerations, names. Private to the builders of
// tables and their updates, except for the functions at the end.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "storage/model/constraint_list.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_update.h"

namespace armature::model {

// The collected violations, or OK. After OK all lists and texts are within their limits, all enumerations are known,
// and all required members are present.
//
// An empty list or enumeration cannot be distinguished from an absent one, and counts as absent. An empty name is
// reported as empty.
absl::Status CheckTableShape(const TableDefinition& definition);

// The collected violations of an update, or OK, by the rules of CheckTableShape.
absl::Status CheckTableUpdateShape(const TableUpdate& update);

// For other requests with indexes; see setting_rules.h for settings. Adds violations to `faults`. The path names the
// member, such as "globalSecondaryIndexes". Absent members and empty lists of indexes are valid.
void CheckIndexShapes(const std::optional<std::vector<IndexDefinition>>& indexes, IndexKind kind,
                      std::string_view list_path, ConstraintList* faults);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_SHAPE_H_
