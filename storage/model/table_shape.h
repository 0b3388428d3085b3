#ifndef ARMATURE_STORAGE_MODEL_TABLE_SHAPE_H_
#define ARMATURE_STORAGE_MODEL_TABLE_SHAPE_H_

// The constraints on the shape of table definitions and updates: lengths, enums, names. Private to the builders of
// tables and their updates.

#include "absl/status/status.h"
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

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_SHAPE_H_
