#ifndef ARMATURE_STORAGE_MODEL_INDEX_DEFINITION_H_
#define ARMATURE_STORAGE_MODEL_INDEX_DEFINITION_H_

// The rules of secondary indexes and of capacity. Private to the builders of tables and their updates.

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/model/table_definition.h"

namespace armature::model {

// Checks the indexes of `definition`, local ones first, and appends them to `table`, whose key and
// attribute definitions are there already. `table` is unspecified after an error.
//
// `definition` has passed CheckTableShape and CheckUseOfAttributes.
// Errors: ValidationException with the documented text.
absl::Status BuildIndexes(const TableDefinition& definition, TableDescriptor* table);

// For an index that is to be added to a table: the check of its projection by itself, ...
absl::Status CheckProjection(const ProjectionDefinition& projection);

// ... and the index, whose key and name have been checked and whose attributes `table` defines. Checks its capacity by
// the table's billing mode, and the names that all indexes project.
absl::StatusOr<IndexDescriptor> BuildAddedIndex(const IndexDefinition& definition, const TableDescriptor& table);

// Capacity units above the maximum are an error. `suffix` ends its text.
absl::Status CheckCapacityBounds(const Throughput& throughput, std::string_view suffix);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_INDEX_DEFINITION_H_
