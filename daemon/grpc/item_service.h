#ifndef ARMATURE_DAEMON_GRPC_ITEM_SERVICE_H_
#define ARMATURE_DAEMON_GRPC_ITEM_SERVICE_H_

// Items over gRPC: raw bytes in, raw bytes out, the engine between.

#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/item_operations.h"
#include "daemon/grpc/pipeline_stream.h"
#include "daemon/grpc/stream_set.h"
#include "daemon/grpc/unary_service.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: `gate` must outlive the server.
class ItemService final : public UnaryService {
 public:
  explicit ItemService(const CallGate* gate);

  // Ends the streams of Pipeline once they have answered the operations that they have read: the server is about to
  // stop.
  void Drain() { pipelines_.Drain(); }

 private:
  grpc::ServerUnaryReactor* Serve(const ItemOperationRow& operation, grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request, grpc::ByteBuffer* response) const;

  StreamSet<PipelineStream> pipelines_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_ITEM_SERVICE_H_
