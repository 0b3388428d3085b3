#include "client/src/grpc_connection.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "armature/client/errors.h"
#include "armature/client/security.h"
#include "client/src/connecting.h"
#include "client/src/targets.h"
#include "grpcpp/channel.h"
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

// With several addresses: after this time without an answer from the other machine a connection is given up.
constexpr int kKeepaliveMs = 5000;
// With several addresses: time for a connection, before the next address is tried.
constexpr int kConnectMs = 2000;

grpc::ChannelArguments ArgumentsOf(const ClientOptions& options, bool has_standby) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(options.receive_bytes_max);
  arguments.SetMaxSendMessageSize(options.send_bytes_max);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectInitialMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  // Channels with equal arguments would share one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // RetryingConnection repeats calls, because it knows which calls may be repeated.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  if (has_standby) {
    // A daemon that was paused, or whose machine is gone, does not close its connections.
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  }
  return arguments;
}

absl::Status WaitUntilConnected(const std::shared_ptr<grpc::Channel>& channel, std::string_view target, bool is_secure,
                                std::chrono::system_clock::time_point deadline) {
  while (true) {
    const grpc_connectivity_state state = channel->GetState(/*try_to_connect=*/true);
    switch (state) {
      case GRPC_CHANNEL_READY:
        return absl::OkStatus();
      case GRPC_CHANNEL_TRANSIENT_FAILURE:
      case GRPC_CHANNEL_SHUTDOWN:
        return WhyNotConnected(channel, target, is_secure, deadline);
      case GRPC_CHANNEL_IDLE:
      case GRPC_CHANNEL_CONNECTING:
        break;
    }
    if (!channel->WaitForStateChange(state, deadline)) {
      return NeverSent(absl::DeadlineExceededError(Av(Cat(target, " does not answer a connection in time"))));
    }
  }
}

class GrpcConnection final : public Connection {
 public:
  GrpcConnection(const std::vector<std::string>& targets, const ClientOptions& options)
      : targets_(targets), is_secure_(options.credentials != nullptr), addresses_(targets.size()) {
    QuietLibrary();
    const auto credentials = is_secure_ ? options.credentials : grpc::InsecureChannelCredentials();
    const grpc::ChannelArguments arguments = ArgumentsOf(options, /*has_standby=*/addresses_ > 1);
    for (int i = 0; i < options.channel_count; ++i) {
      for (size_t address = 0; address < addresses_; ++address) {
        auto channel = grpc::CreateCustomChannel(targets[address], credentials, arguments);
        Stubs stubs;
        stubs.all = {api::v1::ItemService::NewStub(channel), api::v1::TableService::NewStub(channel),
                     api::v1::StreamService::NewStub(channel), api::v1::StatementService::NewStub(channel),
                     admin::v1::AdminService::NewStub(channel)};
        lanes_.push_back({std::move(channel), std::move(stubs), address});
      }
    }
  }

  absl::Status Call(const Method& method, const CallContext& call, const google::protobuf::Message& request,
                    google::protobuf::Message* response) override {
    ARM_ASSIGN_OR_RETURN(Lane* const lane, Connected(call));
    grpc::ClientContext context;
    SetUp(call, &context);
    absl::Status status = StatusOf(method.invoke(lane->stubs, &context, request, response));
    // A daemon that cannot serve now may have been replaced.
    if (addresses_ > 1 && absl::IsUnavailable(status)) {
      size_t tried = lane->address;
      address_.compare_exchange_strong(tried, (tried + 1) % addresses_);
    }
    return status;
  }

  absl::StatusOr<Stubs*> StubsForStream(const CallContext& context) override {
    ARM_ASSIGN_OR_RETURN(Lane* const lane, Connected(context));
    return &lane->stubs;
  }

 private:
  struct Lane {
    std::shared_ptr<grpc::Channel> channel;
    Stubs stubs;
    size_t address = 0;  // in the list of addresses
  };

  // The next channel in turn, connected to the address that was reached last, or else to the next one that can be
  // reached. Errors: that of the first address whose failure may pass, so that a caller tries again; else the last one.
  absl::StatusOr<Lane*> Connected(const CallContext& context) {
    const size_t turn = turn_.fetch_add(1, std::memory_order_relaxed) % (lanes_.size() / addresses_);
    const size_t first = address_.load(std::memory_order_relaxed);
    absl::Status failed;
    for (size_t i = 0; i < addresses_; ++i) {
      const size_t address = (first + i) % addresses_;
      Lane& lane = lanes_[turn * addresses_ + address];
      absl::Status reached =
          WaitUntilConnected(lane.channel, targets_[address], is_secure_, absl::ToChronoTime(context.deadline));
      if (reached.ok()) {
        if (address != first) address_.store(address, std::memory_order_relaxed);
        return &lane;
      }
      if (failed.ok() || IsLasting(failed)) failed = std::move(reached);
    }
    return failed;
  }

  const std::vector<std::string> targets_;
  const bool is_secure_;
  const size_t addresses_;
  std::vector<Lane> lanes_;  // for each turn, one for each address; not empty; constant after construction
  std::atomic<size_t> turn_ = 0;
  std::atomic<size_t> address_ = 0;  // that was reached last
};

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || text.str().empty()) return absl::InvalidArgumentError(Cat("cannot read ", path, ", or it is empty"));
  return text.str();
}

}  // namespace

CallContext ContextOf(const ClientOptions& client_options, const CallOptions& options) {
  CallContext context;
  context.deadline = client_options.clock->Now() + options.timeout.value_or(client_options.timeout);
  context.metadata = client_options.metadata;
  context.metadata.insert(context.metadata.end(), options.metadata.begin(), options.metadata.end());
  context.assume_idempotent = options.idempotent;
  return context;
}

void SetUp(const CallContext& call, grpc::ClientContext* context) {
  if (call.deadline != absl::InfiniteFuture()) context->set_deadline(absl::ToChronoTime(call.deadline));
  for (const auto& [name, value] : call.metadata) context->AddMetadata(name, value);
}

absl::Status StatusOf(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return MakeCallStatus(static_cast<absl::StatusCode>(status.error_code()), status.error_message(),
                        status.error_details());
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> TlsCredentials(const TlsOptions& options) {
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return absl::InvalidArgumentError("a certificate of the client and its key come together");
  }
  grpc::SslCredentialsOptions ssl;
  ARM_ASSIGN_OR_RETURN(ssl.pem_root_certs, ReadFile(options.ca_file));
  ARM_ASSIGN_OR_RETURN(ssl.pem_cert_chain, ReadFile(options.certificate_file));
  ARM_ASSIGN_OR_RETURN(ssl.pem_private_key, ReadFile(options.key_file));
  return grpc::SslCredentials(ssl);
}

std::shared_ptr<Connection> MakeGrpcConnection(std::string_view target, const ClientOptions& options) {
  return std::make_shared<GrpcConnection>(SplitTargets(target), options);
}

}  // namespace armature::client
