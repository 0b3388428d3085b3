#ifndef ARMATURE_ENGINE_ITEMS_BATCH_WRITE_H_
#define ARMATURE_ENGINE_ITEMS_BATCH_WRITE_H_

// BatchWriteItem: independent puts and deletes.

#include "engine/items/batch_request.h"
#include "engine/items/request.h"
#include "engine/parts.h"

namespace armature::engine {

// All members are validated before anything is written. Then members whose row locks are free are written in one group
// commit; the others follow when they get their locks. Members refused temporarily are returned as unprocessed.
void RunBatchWrite(Parts* parts, RequestContext context, BatchWriteRequest request, Callback<BatchWriteResult> done);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_BATCH_WRITE_H_
