#ifndef ARMATURE_ENGINE_ITEMS_BATCH_GET_H_
#define ARMATURE_ENGINE_ITEMS_BATCH_GET_H_

// BatchGetItem: rows by their keys, from several tables.

#include "engine/items/batch_request.h"
#include "engine/items/request.h"
#include "engine/parts.h"

namespace armature::engine {

// Reads what is in memory on the caller's thread, and goes on on the read pool when a row is not, or when it has become
// much. Rows without capacity, and those behind the first 16 MB, come back unprocessed.
void RunBatchGet(Parts* parts, RequestContext context, BatchGetRequest request, Callback<BatchGetResult> done);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_BATCH_GET_H_
