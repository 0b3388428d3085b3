#ifndef ARMATURE_STORAGE_MODEL_KEY_DEFINITION_H_
#define ARMATURE_STORAGE_MODEL_KEY_DEFINITION_H_

// Rules for key schemas and their attributes. Private to the builders of tables and their updates.
//
// All functions require a definition that has passed CheckTableShape, and attributes sorted by name.
// Errors: ValidationException with the documented text.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/model/key_schema.h"
#include "storage/model/table_definition.h"

namespace armature::model {

// Returns the attributes sorted by name. An attribute must not be defined twice.
absl::StatusOr<std::vector<KeyAttribute>> BuildKeyAttributes(const std::vector<AttributeDefinition>& definitions);

// Checks the key of a table: all its attributes are defined, and the rules of CheckPairKey hold.
absl::Status CheckTableKey(const std::vector<KeyElementDefinition>& elements, const std::vector<KeyAttribute>& defined);

// Checks that exactly the attributes used in the keys of the table and its indexes are defined.
absl::Status CheckUseOfAttributes(const TableDefinition& definition, const std::vector<KeyAttribute>& defined);

// Checks the key of a table or a local index: one HASH, then at most one RANGE.
absl::Status CheckPairKey(const std::vector<KeyElementDefinition>& elements);

// Checks the key of a global index: one to four HASH, then at most four RANGE.
absl::Status CheckGlobalIndexKey(const std::vector<KeyElementDefinition>& elements);

// Builds the typed schema of elements that have passed the checks above.
KeySchema BuildKeySchema(const std::vector<KeyElementDefinition>& elements, const std::vector<KeyAttribute>& defined);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_KEY_DEFINITION_H_
