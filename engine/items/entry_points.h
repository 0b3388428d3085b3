#ifndef ARMATURE_ENGINE_ITEMS_ENTRY_POINTS_H_
#define ARMATURE_ENGINE_ITEMS_ENTRY_POINTS_H_

// Entry points of GetItem, batches and transactions. `done` is called once.

#include "engine/items/request.h"
#include "engine/parts.h"

namespace armature::engine {

// Answers on the caller's thread if the row is in memory, otherwise from the read pool.
void RunGetItem(Parts* parts, const RequestContext& context, GetItemRequest request, Callback<GetItemResult> done);

// Reads rows on the caller's thread while they are in memory, and continues on the read pool at the first row that is
// not, or once much data was read. Rows refused for lack of capacity, and rows beyond the first 16 MB, are returned as
// unprocessed.
void RunBatchGet(Parts* parts, RequestContext context, BatchGetRequest request, Callback<BatchGetResult> done);

// All members are validated before anything is written. Then members whose row locks are free are written in one group
// commit; the others follow when they get their locks. Members refused temporarily are returned as unprocessed.
void RunBatchWrite(Parts* parts, RequestContext context, BatchWriteRequest request, Callback<BatchWriteResult> done);

// Locks all rows, as a transactional write does, and then reads them. The answer is therefore the durable state of one
// point in time.
void RunTransactGet(Parts* parts, RequestContext context, TransactGetRequest request, Callback<TransactGetResult> done);

// Locks all rows in a global order, reads them, checks the conditions, and writes everything in one commit together
// with the record of the client's token. A transaction that waits too long for a row lock is cancelled with a conflict.
// No thread blocks meanwhile.
void RunTransactWrite(Parts* parts, RequestContext context, TransactWriteRequest request,
                      Callback<TransactWriteResult> done);

// Starts the removal of expired tokens in the background, if it is due.
void SweepTokensIfDue(Parts* parts);
// Sets the clock of tokens, before the first sweep and the first transaction. Reads from disk.
void StartTokenClock(Parts* parts);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_ENTRY_POINTS_H_
