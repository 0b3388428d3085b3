#ifndef ARMATURE_STORAGE_MODEL_TABLE_UPDATE_H_
#define ARMATURE_STORAGE_MODEL_TABLE_UPDATE_H_

// A change of a table as a client requests it, and its validation.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_descriptor.h"

namespace armature::model {

// Amounts of an on-demand maximum or a warm throughput that are kThroughputNotGiven stay as they are.
struct IndexThroughputUpdate : ThroughputSettings {
  std::string index_name;
};

// An entry of GlobalSecondaryIndexUpdates. A valid entry has one of the three members.
struct GlobalIndexUpdate {
  std::optional<IndexThroughputUpdate> update;
  std::optional<IndexDefinition> create;
  std::optional<std::string> remove;  // the index's name
};

// An empty list counts as absent, except where it is optional. The throughput is as in IndexThroughputUpdate.
struct TableUpdate : SettingsDefinition {
  std::optional<std::string> table_name;  // name or ARN, resolved by the engine
  std::vector<AttributeDefinition> attribute_definitions;
  std::optional<std::vector<GlobalIndexUpdate>> global_index_updates;
};

// Checks the rules that need no table, in the documented order. One message reports up to ten violations of the
// request's shape.
// Errors: ValidationException, LimitExceededException.
// Source: the API reference, UpdateTable.
absl::Status CheckTableUpdate(const TableUpdate& update);

// Checks `update`, which has passed CheckTableUpdate, by the rules that depend on the table, and changes `table` at
// `now_ms`. `table` is unspecified after an error.
// A new index becomes CREATING, without an id; a removed index becomes DELETING; the table becomes UPDATING. The
// catalog continues from there. Errors: ValidationException; ResourceNotFoundException for an unknown index;
// ResourceInUseException if the state of the table or the index does not admit the change; LimitExceededException.
absl::Status ApplyTableUpdate(const TableUpdate& update, int64_t now_ms, TableDescriptor* table);

// Removes a deleted global index from `table`, and the definitions of attributes that no key uses any more.
void EraseGlobalIndex(IndexId id, TableDescriptor* table);

// Removes the definitions of attributes that no key of the table or its indexes uses.
void EraseUnusedDefinitions(TableDescriptor* table);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_UPDATE_H_
