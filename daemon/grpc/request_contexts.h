#ifndef ARMATURE_DAEMON_GRPC_REQUEST_CONTEXTS_H_
#define ARMATURE_DAEMON_GRPC_REQUEST_CONTEXTS_H_

#include <chrono>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "engine/items/request.h"
#include "grpcpp/server_context.h"

namespace armature::daemon {

// Deadline and cancellation of a call for the engine. `context` must live until the request is done. `trace` may be
// null.
inline engine::RequestContext MakeRequestContext(grpc::CallbackServerContext* context,
                                                 std::shared_ptr<engine::RequestTrace> trace) {
  engine::RequestContext made;
  made.trace = std::move(trace);
  if (context->deadline() != std::chrono::system_clock::time_point::max()) {
    made.deadline = absl::FromChrono(context->deadline());
  }
  made.cancelled = [context] { return context->IsCancelled(); };
  return made;
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_REQUEST_CONTEXTS_H_
