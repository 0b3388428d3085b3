#ifndef ARMATURE_DAEMON_JSON_ITEM_OPERATIONS_H_
#define ARMATURE_DAEMON_JSON_ITEM_OPERATIONS_H_

// Operations on items in the JSON protocol, single and in batches and transactions.

#include "daemon/json/json_api.h"
#include "engine/engine.h"

namespace armature::daemon {

// Runs the operation of a call if it is one on items: parses the document, authorises the caller and calls the engine,
// which calls `done` exactly once, on this or another thread. Does not block. False, with nothing moved, for another
// operation.
bool RunItemOperation(engine::Engine* engine, JsonCall& call, JsonApi::Done& done);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_ITEM_OPERATIONS_H_
