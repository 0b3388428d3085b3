#ifndef ARMATURE_STORAGE_MODEL_TABLE_UPDATE_H_
#define ARMATURE_STORAGE_MODEL_TABLE_UPDATE_H_

// A change of a table as a client asks for it, and the rules it must keep.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_descriptor.h"

namespace armature::model {

struct StreamDefinition {
  std::optional<bool> enabled;
  std::string view_type;  // empty: not given
};

struct SseDefinition {
  std::optional<bool> enabled;
  std::string type;     // empty: not given
  std::string kms_key;  // empty: not given
};

// Amounts of an on-demand maximum or a warm throughput may be kThroughputNotGiven: they stay as they are.
struct IndexThroughputUpdate {
  std::string index_name;
  std::optional<Throughput> provisioned;
  std::optional<Throughput> on_demand_max;
  std::optional<Throughput> warm;
};

// An entry of GlobalSecondaryIndexUpdates. One of the three should be there.
struct GlobalIndexUpdate {
  std::optional<IndexThroughputUpdate> update;
  std::optional<IndexDefinition> create;
  std::optional<std::string> remove;  // the index's name
};

// As for definitions, texts and lists that are empty count as absent, except where they are optional.
struct TableUpdate {
  std::optional<std::string> table_name;  // name or ARN; the engine's to look up
  std::vector<AttributeDefinition> attribute_definitions;
  std::string billing_mode;
  std::optional<Throughput> provisioned;
  std::optional<std::vector<GlobalIndexUpdate>> global_index_updates;
  std::optional<StreamDefinition> stream;
  std::optional<SseDefinition> sse;
  std::string table_class;
  std::optional<bool> deletion_protection;
  std::optional<Throughput> on_demand_max;  // amounts as in IndexThroughputUpdate
  std::optional<Throughput> warm;
};

// The rules for which no table is needed, in the documented order. Constraint violations of the request's shape are
// gathered, at most ten, in one message.
// Errors: ValidationException, LimitExceededException.
// Source: the API reference, UpdateTable.
absl::Status CheckTableUpdate(const TableUpdate& update);

// Checks `update`, which has passed CheckTableUpdate, by the rules that depend on the table, and changes `table` at
// `now_ms`. `table` is unspecified after an error.
// An index to be made is CREATING without an id, one to be removed is DELETING, and the table is UPDATING then: the
// catalog goes on from there.
// Errors: ValidationException; ResourceNotFoundException for an index that is not there; ResourceInUseException if the
// state of the table or the index does not admit the change; LimitExceededException.
absl::Status ApplyTableUpdate(const TableUpdate& update, int64_t now_ms, TableDescriptor* table);

// Takes a global index that has been deleted out of `table`, and the definitions of attributes that are in no key any
// more.
void EraseGlobalIndex(IndexId id, TableDescriptor* table);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_UPDATE_H_
