#ifndef ARMATURE_ENGINE_ITEMS_STREAM_CHANGE_H_
#define ARMATURE_ENGINE_ITEMS_STREAM_CHANGE_H_

// The record of a write in the stream of its table.

#include <cstdint>

#include "engine/items/row_write.h"
#include "storage/store/commit/write_unit.h"

namespace armature::engine {

// Adds the record of the decided write to `unit`, if the table has a stream now. The caller holds the row's lock, so
// the records of an item are in the order of its changes. The write changes the item.
void RecordStreamChange(const RowWrite& row, int64_t now_ms, store::WriteUnit* unit);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_STREAM_CHANGE_H_
