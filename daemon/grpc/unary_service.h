#ifndef ARMATURE_DAEMON_GRPC_UNARY_SERVICE_H_
#define ARMATURE_DAEMON_GRPC_UNARY_SERVICE_H_

// A gRPC service for operations over messages (daemon/api/unary_operation.h), all served by one handler.

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "daemon/api/unary_operation.h"
#include "daemon/grpc/call_gate.h"
#include "engine/operations.h"
#include "grpcpp/impl/service_type.h"

namespace armature::daemon {

// The path of an operation's method, such as "/armature.api.v1.TableService/TagResource".
std::string MethodPath(const engine::Operation& operation);

// Thread-safety: thread-safe. Lifetime: `gate` must outlive the server.
class UnaryService : public grpc::Service {
 public:
  UnaryService(const CallGate* gate, std::span<const UnaryOperation> operations);

 protected:
  // Serves the operation with `handler`, which gRPC takes over. For operations that are not unary calls over messages.
  void AddMethod(const engine::Operation& operation, grpc::internal::RpcMethod::RpcType type,
                 grpc::internal::MethodHandler* handler);

  const CallGate* gate() const { return gate_; }

 private:
  grpc::ServerUnaryReactor* Serve(const UnaryOperation& operation, grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request, grpc::ByteBuffer* response) const;

  const CallGate* const gate_;
  const std::vector<UnaryOperation> operations_;
  std::deque<std::string> paths_;  // gRPC keeps pointers to them
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_UNARY_SERVICE_H_
