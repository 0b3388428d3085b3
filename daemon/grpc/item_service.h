#ifndef ARMATURE_DAEMON_GRPC_ITEM_SERVICE_H_
#define ARMATURE_DAEMON_GRPC_ITEM_SERVICE_H_

// Items over gRPC: raw request and answer bytes, with the engine between.

#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/item_operations.h"
#include "daemon/grpc/pipeline_stream.h"
#include "daemon/grpc/unary_service.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: outlives the server; `gate` outlives it.
class ItemService final : public UnaryService {
 public:
  ItemService(const CallGate* gate, RpcFront* front);

  // Ends the Pipeline streams after they have answered the operations that they have read, because the server is
  // stopping.
  void Drain() { pipelines_.Drain(); }

 private:
  StreamSet<PipelineStream> pipelines_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_ITEM_SERVICE_H_
