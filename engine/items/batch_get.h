#ifndef ARMATURE_ENGINE_ITEMS_BATCH_GET_H_
#define ARMATURE_ENGINE_ITEMS_BATCH_GET_H_

// BatchGetItem: reads rows of several tables by key.

#include "engine/items/batch_request.h"
#include "engine/items/request.h"
#include "engine/parts.h"

namespace armature::engine {

// Reads rows on the caller's thread while they are in memory, and continues on the read pool at the first row that is
// not, or once much data was read. Rows refused for lack of capacity, and rows beyond the first 16 MB, are returned as
// unprocessed.
void RunBatchGet(Parts* parts, RequestContext context, BatchGetRequest request, Callback<BatchGetResult> done);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_BATCH_GET_H_
