#ifndef ARMATURE_CLIENT_SRC_GRPC_CONNECTION_H_
#define ARMATURE_CLIENT_SRC_GRPC_CONNECTION_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "armature/client/connection.h"
#include "armature/client/options.h"
#include "client/src/stubs.h"
#include "grpcpp/channel.h"

namespace armature::client {

// One attempt of each call, over a fixed number of gRPC channels that take turns.
//
// A call is sent only after its channel is connected. An unreachable daemon therefore gives an error marked as never
// sent, so that even a conditional write may be repeated.
//
// Thread-safety: thread-safe.
// Errors: UNAVAILABLE, marked as never sent, without a connection; otherwise the error of the daemon.
class GrpcConnection final : public Connection {
 public:
  // Precondition: the options passed the checks of Connect.
  GrpcConnection(std::string_view target, const ClientOptions& options);

  absl::Status Call(const Method& method, const CallContext& context, const google::protobuf::Message& request,
                    google::protobuf::Message* response) override;
  absl::StatusOr<Stubs*> StubsForStream(const CallContext& context) override;

 private:
  struct Lane {
    std::shared_ptr<grpc::Channel> channel;
    Stubs stubs;
  };

  // The next channel in turn, connected.
  absl::StatusOr<Lane*> ConnectedLane(const CallContext& context);

  const bool is_secure_;
  std::vector<Lane> lanes_;  // not empty; constant after construction
  std::atomic<size_t> turn_ = 0;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_GRPC_CONNECTION_H_
