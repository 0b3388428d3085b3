#ifndef ARMATURE_CLIENT_SRC_GRPC_CONNECTION_H_
#define ARMATURE_CLIENT_SRC_GRPC_CONNECTION_H_

#include <memory>
#include <string_view>
#include <tuple>

#include "absl/status/status.h"
#include "armature/admin/v1/admin.grpc.pb.h"
#include "armature/api/v1/service.grpc.pb.h"
#include "armature/client/connection.h"
#include "armature/client/options.h"
#include "grpcpp/client_context.h"

namespace armature::client {

// The stubs of one channel, found by type. Thread-safety: thread-safe, as the stubs are.
struct Stubs {
  std::tuple<std::unique_ptr<api::v1::ItemService::Stub>, std::unique_ptr<api::v1::TableService::Stub>,
             std::unique_ptr<api::v1::StreamService::Stub>, std::unique_ptr<api::v1::StatementService::Stub>,
             std::unique_ptr<admin::v1::AdminService::Stub>>
      all;
};

// The parts of a call that begins now, other than its request.
CallContext ContextOf(const ClientOptions& client_options, const CallOptions& options);

// Sets the deadline and the metadata of a call of gRPC.
void SetUp(const CallContext& call, grpc::ClientContext* context);

// The end of a call or stream, with the payloads that errors.h reads.
absl::Status StatusOf(const grpc::Status& status);

// A connection that makes one attempt of each call, over a fixed number of gRPC channels that take turns.
//
// A call is sent only after its channel is connected. An unreachable daemon therefore gives an error marked as never
// sent, so that even a conditional write may be repeated.
//
// Errors of a call: UNAVAILABLE, marked as never sent, without a connection; otherwise the error of the daemon.
// Precondition: the options passed the checks of Connect.
std::shared_ptr<Connection> MakeGrpcConnection(std::string_view target, const ClientOptions& options);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_GRPC_CONNECTION_H_
