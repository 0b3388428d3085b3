#ifndef ARMATURE_ENGINE_ITEMS_TRANSACT_GET_H_
#define ARMATURE_ENGINE_ITEMS_TRANSACT_GET_H_

// TransactGetItems: many items as they are at one moment.

#include "engine/items/request.h"
#include "engine/items/transact_request.h"
#include "engine/parts.h"

namespace armature::engine {

// Locks the rows, as a write of all of them would, and reads them: so there is a moment at which all of them are what
// the answer says, and everything in it is durable.
void RunTransactGet(Parts* parts, RequestContext context, TransactGetRequest request, Callback<TransactGetResult> done);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_TRANSACT_GET_H_
