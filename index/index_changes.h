#ifndef ARMATURE_INDEX_INDEX_CHANGES_H_
#define ARMATURE_INDEX_INDEX_CHANGES_H_

// Adds the index changes of a write to its write unit.

#include <cstdint>
#include <string_view>
#include <vector>

#include "index/index_delta.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/commit/write_unit.h"

namespace armature::index {

// Sets the change record of `unit`. Without changes no record is written, because consumers would have nothing to do.
void RecordGlobalIndexChanges(const store::Table& table, std::string_view base_key, int64_t now_ms,
                              const std::vector<EntryChange>& changes, store::WriteUnit* unit);

// Adds the entry changes of local indexes to `unit`, and the growth of the item collection. The growth is that of the
// base item in bytes plus that of its entries, each with the storage overhead. `collection_key`: hash and partition
// components of the table key. Returns the growth.
int64_t AddLocalIndexChanges(const store::Table& table, std::string_view collection_key, store::StatsDelta base_delta,
                             const std::vector<EntryChange>& changes, store::WriteUnit* unit);

}  // namespace armature::index

#endif  // ARMATURE_INDEX_INDEX_CHANGES_H_
