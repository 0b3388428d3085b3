#ifndef ARMATURE_ENGINE_TABLES_UPDATE_TABLE_H_
#define ARMATURE_ENGINE_TABLES_UPDATE_TABLE_H_

// UpdateTable.

#include "absl/status/statusor.h"
#include "engine/tables/table_description.h"
#include "storage/model/table_update.h"
#include "storage/store/database.h"

namespace armature::engine {

// Applies all changes of `update`, or none. Blocking: writes to disk.
//
// The change is in effect when it returns. The result describes the moment at which the change was accepted, as the API
// does: throughput before the change, and state UPDATING where a client should wait. Errors: those of
// model::CheckTableUpdate and ApplyTableUpdate; ResourceNotFoundException.
absl::StatusOr<TableDescription> UpdateTable(store::Database* database, const model::TableUpdate& update);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_UPDATE_TABLE_H_
