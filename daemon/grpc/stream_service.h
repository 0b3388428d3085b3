#ifndef ARMATURE_DAEMON_GRPC_STREAM_SERVICE_H_
#define ARMATURE_DAEMON_GRPC_STREAM_SERVICE_H_

// Streams of changes over gRPC: the operations on them, and watches.

#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/unary_service.h"
#include "daemon/grpc/watch_stream.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: outlives the server; `gate` outlives it.
class StreamService final : public UnaryService {
 public:
  StreamService(const CallGate* gate, RpcFront* front) : UnaryService(gate, front, StreamOperations()) {
    AddStreams("Watch", &watches_);
  }

  // Ends the watches, because the server is stopping.
  void Drain() { watches_.Drain(); }

 private:
  StreamSet<WatchStream> watches_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_STREAM_SERVICE_H_
