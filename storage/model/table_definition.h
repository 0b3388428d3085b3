#ifndef ARMATURE_STORAGE_MODEL_TABLE_DEFINITION_H_
#define ARMATURE_STORAGE_MODEL_TABLE_DEFINITION_H_

// The definition of a table as a client asks for it, and the rules it must keep.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/model/table_descriptor.h"

namespace armature::model {

// Request shapes: enums are texts here, because an unknown one is an error of the request, told in its words.
struct KeyElementDefinition {
  std::string attribute_name;
  std::string key_type;  // HASH or RANGE
};

struct AttributeDefinition {
  std::string attribute_name;
  std::string attribute_type;  // S, N or B
};

struct ProjectionDefinition {
  std::string projection_type;  // empty: not given
  std::optional<std::vector<std::string>> non_key_attributes;
};

struct IndexDefinition {
  std::string index_name;
  std::vector<KeyElementDefinition> key_schema;
  ProjectionDefinition projection;
  std::optional<Throughput> provisioned;
  std::optional<Throughput> on_demand_max;
  std::optional<Throughput> warm;
};

struct TableDefinition {
  std::string table_name;
  std::vector<AttributeDefinition> attribute_definitions;
  std::vector<KeyElementDefinition> key_schema;
  // An empty key schema counts as an absent one, unless the protocol can tell and does so here.
  bool empty_key_schema_given = false;
  std::optional<std::vector<IndexDefinition>> local_indexes;  // present and empty is an error
  std::optional<std::vector<IndexDefinition>> global_indexes;
  std::string billing_mode;  // empty: PROVISIONED
  std::optional<bool> stream_enabled;
  std::string stream_view_type;  // empty: not given
  // Everything else; billing mode and stream are filled in by BuildTableDescriptor.
  TableSettings settings;
};

// Checks `definition` by the documented rules, in the documented order, and builds the descriptor from it. Ids,
// uuid, state and creation time are left for the catalog.
//
// Errors: ValidationException with the documented text. Constraint violations of the request's shape are gathered,
// at most ten, in one message.
// Source: the API reference, CreateTable.
absl::StatusOr<TableDescriptor> BuildTableDescriptor(const TableDefinition& definition);

// Errors: ValidationException unless `table_class` is the name of a table class, or empty.
absl::Status CheckTableClass(std::string_view table_class);

// [a-zA-Z0-9_.-] only.
bool HasOnlyNameCharacters(std::string_view name);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_DEFINITION_H_
