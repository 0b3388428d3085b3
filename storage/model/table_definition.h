#ifndef ARMATURE_STORAGE_MODEL_TABLE_DEFINITION_H_
#define ARMATURE_STORAGE_MODEL_TABLE_DEFINITION_H_

// The definition of a new table as a client requests it, and its validation.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/model/key_schema.h"
#include "storage/model/table_descriptor.h"
#include "storage/model/table_settings.h"

namespace armature::model {

// Parts of requests. Enums are texts here, because the error about an unknown value repeats it.
struct KeyElementDefinition {
  std::string attribute_name;
  std::string key_type;  // HASH or RANGE
  friend bool operator==(const KeyElementDefinition&, const KeyElementDefinition&) = default;
};

struct AttributeDefinition {
  std::string attribute_name;
  std::string attribute_type;  // S, N or B
};

struct ProjectionDefinition {
  std::string projection_type;  // empty: absent
  std::optional<std::vector<std::string>> non_key_attributes;
};

struct IndexDefinition : ThroughputSettings {
  std::string index_name;
  std::vector<KeyElementDefinition> key_schema;
  ProjectionDefinition projection;
};

struct TableDefinition : SettingsDefinition {
  std::string table_name;
  bool has_table_name = true;  // false: the request names no table
  std::vector<AttributeDefinition> attribute_definitions;
  std::vector<KeyElementDefinition> key_schema;
  // An empty key schema counts as absent, unless this says that the client sent an empty one.
  bool empty_key_schema_given = false;
  std::optional<std::vector<IndexDefinition>> local_indexes;  // present and empty is an error
  std::optional<std::vector<IndexDefinition>> global_indexes;
  Tags tags;
  std::optional<std::string> resource_policy;  // the document
  std::optional<size_t> tag_without_value;     // position in `tags` of the first tag whose value is absent
};

// Checks `definition` by the documented rules, in the documented order, and builds the descriptor from it. The catalog
// sets ids, uuid, state and creation time.
//
// Errors: ValidationException with the documented text. Violations of the request's shape are collected in one message,
// at most ten. Source: the API reference, CreateTable.
absl::StatusOr<TableDescriptor> BuildTableDescriptor(const TableDefinition& definition);

// The parts that updates and restores of tables share. They require a definition of valid shape; see table_shape.h.
// Errors: ValidationException with the documented text.

// Returns the attributes sorted by name. An attribute must not be defined twice.
absl::StatusOr<std::vector<KeyAttribute>> BuildKeyAttributes(const std::vector<AttributeDefinition>& definitions);

// Checks the key of a global index: one to four HASH, then at most four RANGE.
absl::Status CheckGlobalIndexKey(const std::vector<KeyElementDefinition>& elements);

absl::Status CheckProjection(const ProjectionDefinition& projection);

// Builds a global index that is added to a table. Its key and name have been checked, and `table` defines its
// attributes. Checks its capacity by the table's billing mode, and the number of names projected by all indexes.
absl::StatusOr<IndexDescriptor> BuildAddedIndex(const IndexDefinition& definition, const TableDescriptor& table);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_DEFINITION_H_
