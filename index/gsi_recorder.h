#ifndef ARMATURE_INDEX_GSI_RECORDER_H_
#define ARMATURE_INDEX_GSI_RECORDER_H_

// Global indexes: their entry changes go, ready-made, into the change record of the same write unit.

#include <cstdint>
#include <string_view>
#include <vector>

#include "index/index_delta.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/commit/write_unit.h"

namespace armature::index {

// Sets the change record of `unit`. Without changes nothing is recorded: a consumer has nothing to do.
void RecordGlobalIndexChanges(const store::Table& table, std::string_view base_key, int64_t now_ms,
                              const std::vector<EntryChange>& changes, store::WriteUnit* unit);

}  // namespace armature::index

#endif  // ARMATURE_INDEX_GSI_RECORDER_H_
