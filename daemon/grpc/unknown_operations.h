#ifndef ARMATURE_DAEMON_GRPC_UNKNOWN_OPERATIONS_H_
#define ARMATURE_DAEMON_GRPC_UNKNOWN_OPERATIONS_H_

// Answers to calls of methods that no service has.

#include "daemon/grpc/call_gate.h"
#include "grpcpp/generic/async_generic_service.h"

namespace armature::daemon {

// Ends every call with UNIMPLEMENTED and an UnknownOperationException that names the operation and this version. The
// request is not read. Callers are authenticated before, by ListenerCredentials.
//
// Thread-safety: thread-safe. Lifetime: outlives the server. The gate outlives it.
class UnknownOperations final : public grpc::CallbackGenericService {
 public:
  explicit UnknownOperations(const CallGate* gate) : gate_(gate) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;

 private:
  const CallGate* const gate_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_UNKNOWN_OPERATIONS_H_
