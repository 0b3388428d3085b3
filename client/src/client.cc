#include "armature/client/client.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "armature/client/pipeline.h"
#include "armature/client/table_export.h"
#include "armature/client/transaction.h"
#include "client/src/grpc_connection.h"
#include "client/src/retrying_connection.h"
#include "client/src/stubs.h"
#include "client/src/write_session.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::client {
namespace {

template <auto kMember>
struct MemberOf;

template <class Service, class RequestMessage, class ResponseMessage,
          grpc::Status (Service::*kMember)(grpc::ClientContext*, const RequestMessage&, ResponseMessage*)>
struct MemberOf<kMember> {
  using Stub = Service;
  using Request = RequestMessage;
  using Response = ResponseMessage;
};

// The function of Method::invoke. It alone knows the types on both sides of Connection.
template <auto kMember>
grpc::Status Invoke(Stubs& stubs, grpc::ClientContext* context, const google::protobuf::Message& request,
                    google::protobuf::Message* response) {
  using Member = MemberOf<kMember>;
  auto& stub = *std::get<std::unique_ptr<typename Member::Stub>>(stubs.all);
  return (stub.*kMember)(context, static_cast<const typename Member::Request&>(request),
                         static_cast<typename Member::Response*>(response));
}

absl::Status CheckOptions(std::string_view target, const ClientOptions& options) {
  if (target.empty()) return absl::InvalidArgumentError("the target is empty");
  if (options.timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("timeout must be positive");
  }
  if (options.channel_count < 1 || options.channel_count > 64) {
    return absl::InvalidArgumentError("channel_count must be 1 to 64");
  }
  if (options.receive_bytes_max < 1 || options.send_bytes_max < 1) {
    return absl::InvalidArgumentError("receive_bytes_max and send_bytes_max must be positive");
  }
  if (options.access_key.has_value()) {
    if (options.access_key->id.empty() || options.access_key->secret.empty()) {
      return absl::InvalidArgumentError("an access key has an id and a secret");
    }
    if (options.credentials == nullptr && !target.starts_with("unix:")) {
      return absl::InvalidArgumentError("the secret of the access key would be sent in clear text; use TLS");
    }
  }
  return absl::OkStatus();
}

// Replaces null members by their defaults, and adds the access key to the metadata.
ClientOptions Complete(ClientOptions options) {
  const ClientOptions defaults;
  if (options.retry == nullptr) options.retry = defaults.retry;
  if (options.backoff == nullptr) options.backoff = defaults.backoff;
  if (options.idempotency == nullptr) options.idempotency = defaults.idempotency;
  if (options.clock == nullptr) options.clock = defaults.clock;
  if (options.access_key.has_value()) {
    const std::string pair = Cat(options.access_key->id, ":", options.access_key->secret);
    options.metadata.emplace_back("authorization", Cat("Basic ", Sv(absl::Base64Escape(pair))));
  }
  return options;
}

}  // namespace

Client::Client(std::shared_ptr<Connection> connection, ClientOptions options)
    : options_(std::make_shared<const ClientOptions>(Complete(std::move(options)))) {
  connection_ = std::make_shared<RetryingConnection>(std::move(connection), options_);
}

Client Client::WithReadYourWrites() const {
  Client client = *this;
  client.session_ = std::make_shared<WriteSession>();
  return client;
}

template <auto kMember, class Request>
auto Client::Call(std::string_view name, const Request& request, const CallOptions& options) const {
  using Response = typename MemberOf<kMember>::Response;
  CallContext context;
  context.deadline = options_->clock->Now() + options.timeout.value_or(options_->timeout);
  context.metadata = options_->metadata;
  context.metadata.insert(context.metadata.end(), options.metadata.begin(), options.metadata.end());
  context.assume_idempotent = options.idempotent;
  absl::StatusOr<Response> response{Response()};
  const Method method{name, &Invoke<kMember>};
  absl::Status status = session_ == nullptr ? connection_->Call(method, context, request, &*response)
                                            : session_->Call(*connection_, method, context, request, &*response);
  if (!status.ok()) response = std::move(status);
  return response;
}

#define ARMATURE_DEFINE_OPERATION(package, Service, Name)                                             \
  absl::StatusOr<package::v1::Name##Response> Client::Name(const package::v1::Name##Request& request, \
                                                           const CallOptions& options) const {        \
    return Call<&package::v1::Service::Stub::Name>(#Name, request, options);                          \
  }
ARMATURE_CLIENT_OPERATIONS(ARMATURE_DEFINE_OPERATION)
#undef ARMATURE_DEFINE_OPERATION

absl::StatusOr<api::v1::TransactWriteItemsResponse> Client::TransactWriteItems(
    const api::v1::TransactWriteItemsRequest& request, const CallOptions& options) const {
  constexpr std::string_view kName = "TransactWriteItems";
  if (request.has_client_request_token()) {
    return Call<&api::v1::ItemService::Stub::TransactWriteItems>(kName, request, options);
  }
  // All attempts of this call are one transaction.
  api::v1::TransactWriteItemsRequest with_token = request;
  with_token.set_client_request_token(NewClientToken());
  return Call<&api::v1::ItemService::Stub::TransactWriteItems>(kName, with_token, options);
}

QueryPaginator Client::QueryPages(api::v1::QueryRequest request, CallOptions options) const {
  return QueryPaginator(std::move(request),
                        [client = *this, options = std::move(options)](const api::v1::QueryRequest& page) {
                          return client.Query(page, options);
                        });
}

ScanPaginator Client::ScanPages(api::v1::ScanRequest request, CallOptions options) const {
  return ScanPaginator(std::move(request),
                       [client = *this, options = std::move(options)](const api::v1::ScanRequest& page) {
                         return client.Scan(page, options);
                       });
}

QueryItemRange Client::QueryItems(api::v1::QueryRequest request, CallOptions options) const {
  return QueryItemRange(QueryPages(std::move(request), std::move(options)));
}

ScanItemRange Client::ScanItems(api::v1::ScanRequest request, CallOptions options) const {
  return ScanItemRange(ScanPages(std::move(request), std::move(options)));
}

absl::StatusOr<std::unique_ptr<TableExport>> Client::ExportTable(const admin::v1::ExportTableRequest& request,
                                                                 const CallOptions& options) const {
  return TableExport::Open(connection_, *options_, request, options);
}

absl::StatusOr<std::unique_ptr<Pipeline>> Client::OpenPipeline(const PipelineOptions& options) const {
  return Pipeline::Open(connection_, *options_, options);
}

absl::StatusOr<std::unique_ptr<Pipeline>> Client::OpenPipeline() const { return OpenPipeline(PipelineOptions()); }

absl::StatusOr<Client> Connect(std::string_view target, ClientOptions options) {
  ARM_RETURN_IF_ERROR(CheckOptions(target, options));
  auto connection = std::make_shared<GrpcConnection>(target, options);
  return Client(std::move(connection), std::move(options));
}

}  // namespace armature::client
