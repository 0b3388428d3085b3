#ifndef ARMATURE_DAEMON_GRPC_TABLE_CALLS_H_
#define ARMATURE_DAEMON_GRPC_TABLE_CALLS_H_

// What handlers of audited calls have in common.

#include <string>
#include <string_view>
#include <utility>

#include "daemon/grpc/call_gate.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon {

// Runs `run(call, engine)` if the caller may, and otherwise ends the call. `operation`: static storage.
template <class Run>
grpc::ServerUnaryReactor* RunAudited(const CallGate& gate, grpc::CallbackServerContext* context,
                                     std::string_view operation, const std::string& table, Run run) {
  return gate.AdmitAudited(context, operation, table, [run = std::move(run)](const AuditedCall& call) {
    const absl::StatusOr<engine::Engine*> engine = call.Allow();
    if (!engine.ok()) return call.Finish(engine.status());
    run(call, **engine);
  });
}

// Ends a call of an operation that is documented and not available.
inline grpc::ServerUnaryReactor* RefuseAudited(const CallGate& gate, grpc::CallbackServerContext* context,
                                               std::string_view operation, const std::string& table) {
  return RunAudited(gate, context, operation, table, [operation](const AuditedCall& call, engine::Engine& /*engine*/) {
    call.Finish(UnknownOperationError(Cat(operation, " is not available in this version")));
  });
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_TABLE_CALLS_H_
