#ifndef ARMATURE_DAEMON_GRPC_REQUEST_CONTEXTS_H_
#define ARMATURE_DAEMON_GRPC_REQUEST_CONTEXTS_H_

#include <chrono>

#include "absl/time/time.h"
#include "engine/request.h"
#include "grpcpp/server_context.h"

namespace armature::daemon {

// Deadline and cancellation of a call, for the engine. `context` must live until the request is done.
inline engine::RequestContext MakeRequestContext(grpc::CallbackServerContext* context) {
  engine::RequestContext made;
  if (context->deadline() != std::chrono::system_clock::time_point::max()) {
    made.deadline = absl::FromChrono(context->deadline());
  }
  made.cancelled = [context] { return context->IsCancelled(); };
  return made;
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_REQUEST_CONTEXTS_H_
