#ifndef ARMATURE_INDEX_GSI_RECORDER_H_
#define ARMATURE_INDEX_GSI_RECORDER_H_

// Records the entry changes of global indexes in the change record of the write unit.

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

}  // namespace armature::index

#endif  // ARMATURE_INDEX_GSI_RECORDER_H_
