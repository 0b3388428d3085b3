#ifndef ARMATURE_STORAGE_MODEL_INDEX_UPDATE_H_
#define ARMATURE_STORAGE_MODEL_INDEX_UPDATE_H_

// The rules of GlobalSecondaryIndexUpdates and of changed throughput. Private to CheckTableUpdate and ApplyTableUpdate.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/model/table_update.h"

namespace armature::model {

// Whether an index is to be made or removed.
bool MakesOrRemovesIndex(const TableUpdate& update);

// The entries' rules for which no table is needed: one action each, each index once, one index made or removed.
absl::Status CheckIndexUpdates(const TableUpdate& update);

// Whether the states of the indexes admit the entries: one index is made or removed at a time, one that is being
// removed is left alone, and one that waits for its space cannot be removed. Errors: ResourceInUseException,
// LimitExceededException.
absl::Status CheckIndexStates(const TableUpdate& update, const TableDescriptor& table);

// Applies the entries to `table`, whose billing mode is what the update makes it; `was_on_demand` is what it was
// before.
absl::Status ApplyIndexUpdates(const TableUpdate& update, int64_t now_ms, bool was_on_demand, TableDescriptor* table);

// Sets `*current` to `wanted` at `now_ms` and notes the change. `resource` is "table" or "index <name>".
// Errors: ValidationException if the amounts stay as they are.
absl::Status ChangeProvisioned(const Throughput& wanted, std::string_view resource, int64_t now_ms,
                               std::optional<Throughput>* current, ThroughputChanges* changes);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_INDEX_UPDATE_H_
