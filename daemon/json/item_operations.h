#ifndef ARMATURE_DAEMON_JSON_ITEM_OPERATIONS_H_
#define ARMATURE_DAEMON_JSON_ITEM_OPERATIONS_H_

// Operations on items in the JSON protocol, single and in batches and transactions.

#include <string_view>

#include "daemon/json/json_api.h"
#include "engine/engine.h"

namespace armature::daemon {

struct JsonOperation {
  std::string_view name;
  // Parses the document, authorises the caller and calls the engine. Calls `done` exactly once, on this or another
  // thread; does not block.
  void (*run)(engine::Engine* engine, const JsonCall& call, JsonApi::Done done);
};

// The operation with `name`, or null.
const JsonOperation* FindItemOperation(std::string_view name);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_ITEM_OPERATIONS_H_
