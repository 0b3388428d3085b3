#ifndef ARMATURE_ENGINE_ITEMS_GET_ITEM_H_
#define ARMATURE_ENGINE_ITEMS_GET_ITEM_H_

// GetItem: reads one row by key.

#include "engine/items/request.h"
#include "engine/parts.h"

namespace armature::engine {

// Answers on the caller's thread if the row is in memory, otherwise from the read pool.
void RunGetItem(Parts* parts, GetItemRequest request, Callback<GetItemResult> done);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_GET_ITEM_H_
