#ifndef ARMATURE_ENGINE_ITEMS_TRANSACT_WRITE_H_
#define ARMATURE_ENGINE_ITEMS_TRANSACT_WRITE_H_

// TransactWriteItems: conditional writes of many items, all or nothing.

#include "engine/items/request.h"
#include "engine/items/transact_request.h"
#include "engine/parts.h"

namespace armature::engine {

// Locks all rows in a global order, reads them, checks the conditions, and writes everything in one commit together
// with the record of the client's token. A transaction that waits too long for a row lock is cancelled with a conflict.
// No thread blocks meanwhile.
void RunTransactWrite(Parts* parts, RequestContext context, TransactWriteRequest request,
                      Callback<TransactWriteResult> done);

// Starts the removal of expired tokens in the background, if it is due.
void SweepTokensIfDue(Parts* parts);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_TRANSACT_WRITE_H_
