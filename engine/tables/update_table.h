#ifndef ARMATURE_ENGINE_TABLES_UPDATE_TABLE_H_
#define ARMATURE_ENGINE_TABLES_UPDATE_TABLE_H_

// UpdateTable.

#include "absl/status/statusor.h"
#include "engine/tables/table_description.h"
#include "storage/model/table_update.h"
#include "storage/store/database.h"

namespace armature::engine {

// Changes all that `update` asks for, or nothing. Blocking: writes to disk.
//
// The change is there when it returns. The answer shows the moment in which it was accepted, as the API does:
// throughput still as it was, and UPDATING what a client should wait for. Errors: those of model::CheckTableUpdate and
// ApplyTableUpdate; ResourceNotFoundException.
absl::StatusOr<TableDescription> UpdateTable(store::Database* database, const model::TableUpdate& update);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_UPDATE_TABLE_H_
