#ifndef ARMATURE_ENGINE_ITEMS_BATCH_WRITE_H_
#define ARMATURE_ENGINE_ITEMS_BATCH_WRITE_H_

// BatchWriteItem: puts and deletes that have nothing to do with each other.

#include "engine/items/batch_request.h"
#include "engine/items/request.h"
#include "engine/parts.h"

namespace armature::engine {

// Whatever is wrong with a member is told before anything is written. Then each member is written by itself: those
// whose rows are free at once go into one group commit, others follow when their rows get free. Members that the server
// cannot take now come back unprocessed.
void RunBatchWrite(Parts* parts, RequestContext context, BatchWriteRequest request, Callback<BatchWriteResult> done);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_BATCH_WRITE_H_
