#ifndef ARMATURE_STORAGE_MODEL_INDEX_UPDATE_H_
#define ARMATURE_STORAGE_MODEL_INDEX_UPDATE_H_

// The rules of GlobalSecondaryIndexUpdates and of changed throughput. Private to CheckTableUpdate and ApplyTableUpdate.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/model/table_update.h"

namespace armature::model {

// True if the update creates or removes an index.
bool MakesOrRemovesIndex(const TableUpdate& update);

// The entries' rules for which no table is needed: one action each, each index once, one index made or removed.
absl::Status CheckIndexUpdates(const TableUpdate& update);

// Checks the update against the states of the indexes: one index is created or removed at a time, an index that is
// being removed cannot be changed, and an index that waits for its column family cannot be removed. Errors:
// ResourceInUseException, LimitExceededException.
absl::Status CheckIndexStates(const TableUpdate& update, const TableDescriptor& table);

// Applies the entries to `table`, whose billing mode is what the update makes it; `was_on_demand` is what it was
// before.
absl::Status ApplyIndexUpdates(const TableUpdate& update, int64_t now_ms, bool was_on_demand, TableDescriptor* table);

// Sets `*current` to `wanted` at `now_ms` and notes the change. `resource` is "table" or "index <name>".
// Errors: ValidationException if the amounts stay as they are.
absl::Status ChangeProvisioned(const Throughput& wanted, std::string_view resource, int64_t now_ms,
                               std::optional<Throughput>* current, ThroughputChanges* changes);

// Sets the amounts that are given; those that were never given are `unset`. Amounts of -1 mean none.
void MergeThroughput(const Throughput& given, int64_t unset, std::optional<Throughput>* current);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_INDEX_UPDATE_H_
