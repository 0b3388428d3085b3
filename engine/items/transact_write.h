#ifndef ARMATURE_ENGINE_ITEMS_TRANSACT_WRITE_H_
#define ARMATURE_ENGINE_ITEMS_TRANSACT_WRITE_H_

// TransactWriteItems: writes and conditions on many items, all or nothing.

#include "engine/items/request.h"
#include "engine/items/transact_request.h"
#include "engine/parts.h"

namespace armature::engine {

// All rows are locked, in one order for everybody; then read, judged, and written in one commit together with the
// record of the client's token. Who finds a row locked waits for a while and is then cancelled with a conflict. Nothing
// blocks meanwhile.
void RunTransactWrite(Parts* parts, RequestContext context, TransactWriteRequest request,
                      Callback<TransactWriteResult> done);

// Begins to remove tokens that have expired, in the background, if that is due.
void SweepTokensIfDue(Parts* parts);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_TRANSACT_WRITE_H_
