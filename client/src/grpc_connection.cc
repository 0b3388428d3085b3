#include "client/src/grpc_connection.h"

#include <chrono>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "armature/client/errors.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::client {
namespace {

// A daemon on the same machine restarts within moments. The first pause of gRPC is one second.
constexpr int kReconnectInitialMs = 50;
constexpr int kReconnectMaxMs = 1000;

grpc::ChannelArguments ArgumentsOf(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(options.receive_bytes_max);
  arguments.SetMaxSendMessageSize(options.send_bytes_max);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectInitialMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  // Channels with equal arguments would share one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // RetryingConnection repeats calls, because it knows which calls may be repeated.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  return arguments;
}

absl::Status WaitUntilConnected(grpc::Channel& channel, bool is_secure,
                                std::chrono::system_clock::time_point deadline) {
  while (true) {
    const grpc_connectivity_state state = channel.GetState(/*try_to_connect=*/true);
    switch (state) {
      case GRPC_CHANNEL_READY:
        return absl::OkStatus();
      case GRPC_CHANNEL_TRANSIENT_FAILURE:
      case GRPC_CHANNEL_SHUTDOWN:
        // gRPC does not tell the reason.
        return NeverSent(UnavailableError(is_secure ? "cannot connect to the daemon, or one of us does not trust the "
                                                      "other's certificate"
                                                    : "cannot connect to the daemon"));
      case GRPC_CHANNEL_IDLE:
      case GRPC_CHANNEL_CONNECTING:
        break;
    }
    if (!channel.WaitForStateChange(state, deadline)) {
      return NeverSent(absl::DeadlineExceededError("no connection to the daemon in time"));
    }
  }
}

}  // namespace

GrpcConnection::GrpcConnection(std::string_view target, const ClientOptions& options)
    : is_secure_(options.credentials != nullptr) {
  const auto credentials = options.credentials != nullptr ? options.credentials : grpc::InsecureChannelCredentials();
  for (int i = 0; i < options.channel_count; ++i) {
    auto channel = grpc::CreateCustomChannel(std::string(target), credentials, ArgumentsOf(options));
    Stubs stubs;
    stubs.all = {api::v1::ItemService::NewStub(channel), api::v1::TableService::NewStub(channel),
                 api::v1::StreamService::NewStub(channel), admin::v1::AdminService::NewStub(channel)};
    lanes_.push_back({std::move(channel), std::move(stubs)});
  }
}

absl::StatusOr<GrpcConnection::Lane*> GrpcConnection::ConnectedLane(const CallContext& context) {
  Lane& lane = lanes_[turn_.fetch_add(1, std::memory_order_relaxed) % lanes_.size()];
  ARM_RETURN_IF_ERROR(WaitUntilConnected(*lane.channel, is_secure_, absl::ToChronoTime(context.deadline)));
  return &lane;
}

absl::StatusOr<Stubs*> GrpcConnection::StubsForStream(const CallContext& context) {
  ARM_ASSIGN_OR_RETURN(Lane* const lane, ConnectedLane(context));
  return &lane->stubs;
}

absl::Status GrpcConnection::Call(const Method& method, const CallContext& call,
                                  const google::protobuf::Message& request, google::protobuf::Message* response) {
  ARM_ASSIGN_OR_RETURN(Lane* const lane, ConnectedLane(call));
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(call.deadline));
  for (const auto& [name, value] : call.metadata) context.AddMetadata(name, value);
  const grpc::Status status = method.invoke(lane->stubs, &context, request, response);
  if (status.ok()) return absl::OkStatus();
  return MakeCallStatus(static_cast<absl::StatusCode>(status.error_code()), status.error_message(),
                        status.error_details());
}

}  // namespace armature::client
