#ifndef ARMATURE_STORAGE_MODEL_KEY_DEFINITION_H_
#define ARMATURE_STORAGE_MODEL_KEY_DEFINITION_H_

// The rules of key schemas and of the attributes that they use. Private to the builders of
// tables and their updates.
//
// All functions expect a definition that CheckTableShape has passed, and attributes sorted by name.
// Errors: ValidationException with the documented text.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/model/key_schema.h"
#include "storage/model/table_definition.h"

namespace armature::model {

// The attributes sorted by name; an error if one is defined twice.
absl::StatusOr<std::vector<KeyAttribute>> BuildKeyAttributes(const std::vector<AttributeDefinition>& definitions);

// The key of a table: all attributes defined, and the rules of CheckPairKey.
absl::Status CheckTableKey(const std::vector<KeyElementDefinition>& elements, const std::vector<KeyAttribute>& defined);

// The attributes defined must be exactly those that the keys of the table and its indexes use.
absl::Status CheckUseOfAttributes(const TableDefinition& definition, const std::vector<KeyAttribute>& defined);

// The key of a table or a local index: one HASH, then at most one RANGE.
absl::Status CheckPairKey(const std::vector<KeyElementDefinition>& elements);

// The key of a global index: one to four HASH, then at most four RANGE.
absl::Status CheckGlobalIndexKey(const std::vector<KeyElementDefinition>& elements);

// The typed schema of elements that have passed the checks above.
KeySchema BuildKeySchema(const std::vector<KeyElementDefinition>& elements, const std::vector<KeyAttribute>& defined);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_KEY_DEFINITION_H_
