#ifndef ARMATURE_DAEMON_GRPC_UNARY_SERVICE_H_
#define ARMATURE_DAEMON_GRPC_UNARY_SERVICE_H_

// A gRPC service for operations over messages (daemon/api/unary_operation.h).

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/api/unary_operation.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/stream_set.h"
#include "daemon/rpc/rpc_front.h"
#include "engine/operations.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: outlives the server; `gate` outlives it.
class UnaryService {
 public:
  // Adds the methods to `front`.
  UnaryService(const CallGate* gate, RpcFront* front, std::span<const UnaryOperation> operations);
  UnaryService(const UnaryService&) = delete;
  UnaryService& operator=(const UnaryService&) = delete;

 protected:
  // Serves the operation, whose calls have one request and one answer, by `run`, which CallGate::Admit calls.
  using RunUnary = std::function<void(const UnaryCall& call, const std::string& request)>;
  void AddUnary(const engine::Operation& operation, RunUnary run);
  // Serves the operation by streams of the set.
  template <class Stream>
  void AddStreams(std::string_view operation, StreamSet<Stream>* streams) {
    front_->Add(engine::FindOperation(operation)->path, [gate = gate_, streams](const std::shared_ptr<RpcCall>& call) {
      streams->Open(std::make_shared<Stream>(gate, call));
    });
  }

 private:
  void Run(const UnaryOperation& operation, const UnaryCall& unary, const std::string& request) const;

  const CallGate* const gate_;
  RpcFront* const front_;
  const std::vector<UnaryOperation> operations_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_UNARY_SERVICE_H_
