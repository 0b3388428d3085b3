#ifndef ARMATURE_STORAGE_MODEL_INDEX_UPDATE_H_
#define ARMATURE_STORAGE_MODEL_INDEX_UPDATE_H_

// Rules for GlobalSecondaryIndexUpdates and changed throughput. Private to CheckTableUpdate and ApplyTableUpdate.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/model/table_update.h"

namespace armature::model {

// True if the update adds or removes an index.
bool MakesOrRemovesIndex(const TableUpdate& update);

// Checks the rules of the entries that need no table: each entry has one action, each index occurs once, and at most
// one index is added or removed.
absl::Status CheckIndexUpdates(const TableUpdate& update);

// Checks that the states of the indexes admit the entries: one index is added or removed at a time, an index that is
// being removed does not change, and an index without its column family cannot be removed.
// Errors: ResourceInUseException, LimitExceededException.
absl::Status CheckIndexStates(const TableUpdate& update, const TableDescriptor& table);

// Applies the entries to `table`, which has its new billing mode already; `was_on_demand` tells the earlier one.
absl::Status ApplyIndexUpdates(const TableUpdate& update, int64_t now_ms, bool was_on_demand, TableDescriptor* table);

// Sets `*current` to `wanted` and records the change and its time in `changes`. `resource` is "table" or "index
// <name>". Errors: ValidationException if the amounts stay as they are.
absl::Status ChangeProvisioned(const Throughput& wanted, std::string_view resource, int64_t now_ms,
                               std::optional<Throughput>* current, ThroughputChanges* changes);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_INDEX_UPDATE_H_
