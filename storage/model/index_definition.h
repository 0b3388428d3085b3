#ifndef ARMATURE_STORAGE_MODEL_INDEX_DEFINITION_H_
#define ARMATURE_STORAGE_MODEL_INDEX_DEFINITION_H_

// Rules for secondary indexes and capacity. Private to the builders of tables and their updates.

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/model/table_definition.h"

namespace armature::model {

// Checks the indexes of `definition`, local indexes first, and appends them to `table`, which has its key and attribute
// definitions already. `table` is unspecified after an error.
//
// `definition` has passed CheckTableShape and CheckUseOfAttributes.
// Errors: ValidationException with the documented text.
absl::Status BuildIndexes(const TableDefinition& definition, TableDescriptor* table);

// Checks the projection of an index that is added to a table.
absl::Status CheckProjection(const ProjectionDefinition& projection);

// Builds an index that is added to a table. Its key and name have been checked, and `table` defines its attributes.
// Checks its capacity by the table's billing mode, and the number of names projected by all indexes.
absl::StatusOr<IndexDescriptor> BuildAddedIndex(const IndexDefinition& definition, const TableDescriptor& table);

// Refuses capacity units above the maximum. `suffix` ends the error text.
absl::Status CheckCapacityBounds(const Throughput& throughput, std::string_view suffix);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_INDEX_DEFINITION_H_
