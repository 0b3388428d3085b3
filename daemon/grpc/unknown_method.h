#ifndef ARMATURE_DAEMON_GRPC_UNKNOWN_METHOD_H_
#define ARMATURE_DAEMON_GRPC_UNKNOWN_METHOD_H_

// Answers to calls of methods that no service has.

#include "daemon/grpc/call_gate.h"
#include "daemon/rpc/rpc_front.h"

namespace armature::daemon {

// Ends every call with UNIMPLEMENTED and an UnknownOperationException that names the operation and this version, once
// the caller is known. The request is not read. `gate` outlives the server. For RpcFront::set_unknown.
OpenCall UnknownMethod(const CallGate* gate);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_UNKNOWN_METHOD_H_
