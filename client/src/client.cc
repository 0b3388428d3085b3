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

// What Method::invoke points to: the one place that knows the types on both sides of Connection.
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

// Null members mean the default.
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

absl::StatusOr<api::v1::GetItemResponse> Client::GetItem(const api::v1::GetItemRequest& request,
                                                         const CallOptions& options) const {
  return Call<&api::v1::ItemService::Stub::GetItem>("GetItem", request, options);
}

absl::StatusOr<api::v1::PutItemResponse> Client::PutItem(const api::v1::PutItemRequest& request,
                                                         const CallOptions& options) const {
  return Call<&api::v1::ItemService::Stub::PutItem>("PutItem", request, options);
}

absl::StatusOr<api::v1::UpdateItemResponse> Client::UpdateItem(const api::v1::UpdateItemRequest& request,
                                                               const CallOptions& options) const {
  return Call<&api::v1::ItemService::Stub::UpdateItem>("UpdateItem", request, options);
}

absl::StatusOr<api::v1::DeleteItemResponse> Client::DeleteItem(const api::v1::DeleteItemRequest& request,
                                                               const CallOptions& options) const {
  return Call<&api::v1::ItemService::Stub::DeleteItem>("DeleteItem", request, options);
}

absl::StatusOr<api::v1::QueryResponse> Client::Query(const api::v1::QueryRequest& request,
                                                     const CallOptions& options) const {
  return Call<&api::v1::ItemService::Stub::Query>("Query", request, options);
}

absl::StatusOr<api::v1::ScanResponse> Client::Scan(const api::v1::ScanRequest& request,
                                                   const CallOptions& options) const {
  return Call<&api::v1::ItemService::Stub::Scan>("Scan", request, options);
}

absl::StatusOr<api::v1::BatchGetItemResponse> Client::BatchGetItem(const api::v1::BatchGetItemRequest& request,
                                                                   const CallOptions& options) const {
  return Call<&api::v1::ItemService::Stub::BatchGetItem>("BatchGetItem", request, options);
}

absl::StatusOr<api::v1::BatchWriteItemResponse> Client::BatchWriteItem(const api::v1::BatchWriteItemRequest& request,
                                                                       const CallOptions& options) const {
  return Call<&api::v1::ItemService::Stub::BatchWriteItem>("BatchWriteItem", request, options);
}

absl::StatusOr<api::v1::TransactGetItemsResponse> Client::TransactGetItems(
    const api::v1::TransactGetItemsRequest& request, const CallOptions& options) const {
  return Call<&api::v1::ItemService::Stub::TransactGetItems>("TransactGetItems", request, options);
}

absl::StatusOr<api::v1::TransactWriteItemsResponse> Client::TransactWriteItems(
    const api::v1::TransactWriteItemsRequest& request, const CallOptions& options) const {
  constexpr std::string_view kName = "TransactWriteItems";
  if (request.has_client_request_token()) {
    return Call<&api::v1::ItemService::Stub::TransactWriteItems>(kName, request, options);
  }
  // So that attempts of this call are one transaction.
  api::v1::TransactWriteItemsRequest with_token = request;
  with_token.set_client_request_token(NewClientToken());
  return Call<&api::v1::ItemService::Stub::TransactWriteItems>(kName, with_token, options);
}

absl::StatusOr<api::v1::CreateTableResponse> Client::CreateTable(const api::v1::CreateTableRequest& request,
                                                                 const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::CreateTable>("CreateTable", request, options);
}

absl::StatusOr<api::v1::DescribeTableResponse> Client::DescribeTable(const api::v1::DescribeTableRequest& request,
                                                                     const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::DescribeTable>("DescribeTable", request, options);
}

absl::StatusOr<api::v1::ListTablesResponse> Client::ListTables(const api::v1::ListTablesRequest& request,
                                                               const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::ListTables>("ListTables", request, options);
}

absl::StatusOr<api::v1::DeleteTableResponse> Client::DeleteTable(const api::v1::DeleteTableRequest& request,
                                                                 const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::DeleteTable>("DeleteTable", request, options);
}

absl::StatusOr<api::v1::UpdateTableResponse> Client::UpdateTable(const api::v1::UpdateTableRequest& request,
                                                                 const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::UpdateTable>("UpdateTable", request, options);
}

absl::StatusOr<api::v1::UpdateTimeToLiveResponse> Client::UpdateTimeToLive(
    const api::v1::UpdateTimeToLiveRequest& request, const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::UpdateTimeToLive>("UpdateTimeToLive", request, options);
}

absl::StatusOr<api::v1::DescribeTimeToLiveResponse> Client::DescribeTimeToLive(
    const api::v1::DescribeTimeToLiveRequest& request, const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::DescribeTimeToLive>("DescribeTimeToLive", request, options);
}

absl::StatusOr<api::v1::TagResourceResponse> Client::TagResource(const api::v1::TagResourceRequest& request,
                                                                 const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::TagResource>("TagResource", request, options);
}

absl::StatusOr<api::v1::UntagResourceResponse> Client::UntagResource(const api::v1::UntagResourceRequest& request,
                                                                     const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::UntagResource>("UntagResource", request, options);
}

absl::StatusOr<api::v1::ListTagsOfResourceResponse> Client::ListTagsOfResource(
    const api::v1::ListTagsOfResourceRequest& request, const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::ListTagsOfResource>("ListTagsOfResource", request, options);
}

absl::StatusOr<api::v1::DescribeLimitsResponse> Client::DescribeLimits(const api::v1::DescribeLimitsRequest& request,
                                                                       const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::DescribeLimits>("DescribeLimits", request, options);
}

absl::StatusOr<api::v1::DescribeEndpointsResponse> Client::DescribeEndpoints(
    const api::v1::DescribeEndpointsRequest& request, const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::DescribeEndpoints>("DescribeEndpoints", request, options);
}

absl::StatusOr<api::v1::DescribeContinuousBackupsResponse> Client::DescribeContinuousBackups(
    const api::v1::DescribeContinuousBackupsRequest& request, const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::DescribeContinuousBackups>("DescribeContinuousBackups", request, options);
}

absl::StatusOr<api::v1::UpdateContinuousBackupsResponse> Client::UpdateContinuousBackups(
    const api::v1::UpdateContinuousBackupsRequest& request, const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::UpdateContinuousBackups>("UpdateContinuousBackups", request, options);
}

absl::StatusOr<api::v1::CreateBackupResponse> Client::CreateBackup(const api::v1::CreateBackupRequest& request,
                                                                   const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::CreateBackup>("CreateBackup", request, options);
}

absl::StatusOr<api::v1::DescribeBackupResponse> Client::DescribeBackup(const api::v1::DescribeBackupRequest& request,
                                                                       const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::DescribeBackup>("DescribeBackup", request, options);
}

absl::StatusOr<api::v1::ListBackupsResponse> Client::ListBackups(const api::v1::ListBackupsRequest& request,
                                                                 const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::ListBackups>("ListBackups", request, options);
}

absl::StatusOr<api::v1::DeleteBackupResponse> Client::DeleteBackup(const api::v1::DeleteBackupRequest& request,
                                                                   const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::DeleteBackup>("DeleteBackup", request, options);
}

absl::StatusOr<api::v1::RestoreTableFromBackupResponse> Client::RestoreTableFromBackup(
    const api::v1::RestoreTableFromBackupRequest& request, const CallOptions& options) const {
  return Call<&api::v1::TableService::Stub::RestoreTableFromBackup>("RestoreTableFromBackup", request, options);
}

absl::StatusOr<api::v1::ListStreamsResponse> Client::ListStreams(const api::v1::ListStreamsRequest& request,
                                                                 const CallOptions& options) const {
  return Call<&api::v1::StreamService::Stub::ListStreams>("ListStreams", request, options);
}

absl::StatusOr<api::v1::DescribeStreamResponse> Client::DescribeStream(const api::v1::DescribeStreamRequest& request,
                                                                       const CallOptions& options) const {
  return Call<&api::v1::StreamService::Stub::DescribeStream>("DescribeStream", request, options);
}

absl::StatusOr<api::v1::GetShardIteratorResponse> Client::GetShardIterator(
    const api::v1::GetShardIteratorRequest& request, const CallOptions& options) const {
  return Call<&api::v1::StreamService::Stub::GetShardIterator>("GetShardIterator", request, options);
}

absl::StatusOr<api::v1::GetRecordsResponse> Client::GetRecords(const api::v1::GetRecordsRequest& request,
                                                               const CallOptions& options) const {
  return Call<&api::v1::StreamService::Stub::GetRecords>("GetRecords", request, options);
}

absl::StatusOr<admin::v1::GetServerInfoResponse> Client::GetServerInfo(const admin::v1::GetServerInfoRequest& request,
                                                                       const CallOptions& options) const {
  return Call<&admin::v1::AdminService::Stub::GetServerInfo>("GetServerInfo", request, options);
}

absl::StatusOr<admin::v1::ListIndexViolationsResponse> Client::ListIndexViolations(
    const admin::v1::ListIndexViolationsRequest& request, const CallOptions& options) const {
  return Call<&admin::v1::AdminService::Stub::ListIndexViolations>("ListIndexViolations", request, options);
}

absl::StatusOr<admin::v1::VerifyTableResponse> Client::VerifyTable(const admin::v1::VerifyTableRequest& request,
                                                                   const CallOptions& options) const {
  return Call<&admin::v1::AdminService::Stub::VerifyTable>("VerifyTable", request, options);
}

absl::StatusOr<admin::v1::StartBackupResponse> Client::StartBackup(const admin::v1::StartBackupRequest& request,
                                                                   const CallOptions& options) const {
  return Call<&admin::v1::AdminService::Stub::StartBackup>("StartBackup", request, options);
}

absl::StatusOr<admin::v1::GetBackupJobResponse> Client::GetBackupJob(const admin::v1::GetBackupJobRequest& request,
                                                                     const CallOptions& options) const {
  return Call<&admin::v1::AdminService::Stub::GetBackupJob>("GetBackupJob", request, options);
}

absl::StatusOr<admin::v1::CancelBackupJobResponse> Client::CancelBackupJob(
    const admin::v1::CancelBackupJobRequest& request, const CallOptions& options) const {
  return Call<&admin::v1::AdminService::Stub::CancelBackupJob>("CancelBackupJob", request, options);
}

absl::StatusOr<admin::v1::ListBackupsResponse> Client::ListDatabaseBackups(const admin::v1::ListBackupsRequest& request,
                                                                           const CallOptions& options) const {
  return Call<&admin::v1::AdminService::Stub::ListBackups>("ListBackups", request, options);
}

absl::StatusOr<admin::v1::RestoreTableResponse> Client::RestoreTable(const admin::v1::RestoreTableRequest& request,
                                                                     const CallOptions& options) const {
  return Call<&admin::v1::AdminService::Stub::RestoreTable>("RestoreTable", request, options);
}

absl::StatusOr<admin::v1::ListIndexStatusResponse> Client::ListIndexStatus(
    const admin::v1::ListIndexStatusRequest& request, const CallOptions& options) const {
  return Call<&admin::v1::AdminService::Stub::ListIndexStatus>("ListIndexStatus", request, options);
}

absl::StatusOr<admin::v1::GetIndexStatusResponse> Client::GetIndexStatus(
    const admin::v1::GetIndexStatusRequest& request, const CallOptions& options) const {
  return Call<&admin::v1::AdminService::Stub::GetIndexStatus>("GetIndexStatus", request, options);
}

absl::StatusOr<admin::v1::EchoResponse> Client::Echo(const admin::v1::EchoRequest& request,
                                                     const CallOptions& options) const {
  return Call<&admin::v1::AdminService::Stub::Echo>("Echo", request, options);
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
