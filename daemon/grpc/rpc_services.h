#ifndef ARMATURE_DAEMON_GRPC_RPC_SERVICES_H_
#define ARMATURE_DAEMON_GRPC_RPC_SERVICES_H_

// All services of the API over gRPC.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/admin/export_stream.h"
#include "daemon/api/unary_operation.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/message_operations.h"
#include "daemon/grpc/pipeline_stream.h"
#include "daemon/grpc/stream_set.h"
#include "daemon/grpc/watch_stream.h"
#include "daemon/rpc/rpc_front.h"
#include "daemon/telemetry/request_stats.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: outlives the server; `gate` outlives it.
class RpcServices {
 public:
  // Adds the methods to `front`. `data_dir` and `stats`: of the daemon, for its administrators; see AdminOperations.
  RpcServices(const CallGate* gate, RpcFront* front, std::string data_dir, const RequestStats* stats);
  RpcServices(const RpcServices&) = delete;
  RpcServices& operator=(const RpcServices&) = delete;

  // Ends the streams, because the server is stopping; those of Pipeline after they have answered the operations that
  // they have read.
  void Drain();

 private:
  // Serves the operation by streams of the set.
  template <class Stream>
  void AddStreams(std::string_view operation, StreamSet<Stream>* streams);

  const CallGate* const gate_;
  RpcFront* const front_;
  const std::vector<UnaryOperation> admin_;
  std::vector<MessageOperation> operations_;
  StreamSet<PipelineStream> pipelines_;
  StreamSet<WatchStream> watches_;
  StreamSet<ExportStream> exports_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_RPC_SERVICES_H_
