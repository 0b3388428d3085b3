#ifndef ARMATURE_DAEMON_GRPC_STREAM_SERVICE_H_
#define ARMATURE_DAEMON_GRPC_STREAM_SERVICE_H_

// Streams over gRPC: none of the operations is available yet, and each says so.

#include <array>
#include <string_view>

#include "armature/api/v1/service.grpc.pb.h"
#include "daemon/grpc/call_gate.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: `gate` must outlive the server.
class StreamService final : public api::v1::StreamService::CallbackService {
 public:
  // Those that ask the gate themselves: all.
  static constexpr std::array<std::string_view, 4> kGatedMethods = {
      "/armature.api.v1.StreamService/ListStreams", "/armature.api.v1.StreamService/DescribeStream",
      "/armature.api.v1.StreamService/GetShardIterator", "/armature.api.v1.StreamService/GetRecords"};

  explicit StreamService(const CallGate* gate) : gate_(gate) {}

  grpc::ServerUnaryReactor* ListStreams(grpc::CallbackServerContext* context,
                                        const api::v1::ListStreamsRequest* request,
                                        api::v1::ListStreamsResponse* response) override;
  grpc::ServerUnaryReactor* DescribeStream(grpc::CallbackServerContext* context,
                                           const api::v1::DescribeStreamRequest* request,
                                           api::v1::DescribeStreamResponse* response) override;
  grpc::ServerUnaryReactor* GetShardIterator(grpc::CallbackServerContext* context,
                                             const api::v1::GetShardIteratorRequest* request,
                                             api::v1::GetShardIteratorResponse* response) override;
  grpc::ServerUnaryReactor* GetRecords(grpc::CallbackServerContext* context, const api::v1::GetRecordsRequest* request,
                                       api::v1::GetRecordsResponse* response) override;

 private:
  const CallGate* const gate_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_STREAM_SERVICE_H_
