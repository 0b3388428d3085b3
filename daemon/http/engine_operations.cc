#include "daemon/http/engine_operations.h"

#include <utility>

#include "daemon/json/error_json.h"

namespace armature::daemon {

bool EngineOperations::Knows(std::string_view target, std::string_view* operation) const {
  return JsonApi::Knows(target, operation);
}

void EngineOperations::Call(JsonCall call, JsonApi::Done done) { api_.Call(std::move(call), std::move(done)); }

JsonAnswer EngineOperations::Error(const absl::Status& status, std::string_view request_id) const {
  return ErrorAnswer(status, request_id);
}

}  // namespace armature::daemon
