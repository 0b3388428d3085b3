#ifndef ARMATURE_ENGINE_ITEMS_TRANSACT_GET_H_
#define ARMATURE_ENGINE_ITEMS_TRANSACT_GET_H_

// TransactGetItems: reads many items at one point in time.

#include "engine/items/request.h"
#include "engine/items/transact_request.h"
#include "engine/parts.h"

namespace armature::engine {

// Locks all rows, as a transactional write does, and then reads them. The answer is therefore the durable state of one
// point in time.
void RunTransactGet(Parts* parts, RequestContext context, TransactGetRequest request, Callback<TransactGetResult> done);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_TRANSACT_GET_H_
