#include "armature/client/client.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "armature/client/errors.h"
#include "armature/client/pipeline.h"
#include "armature/client/table_export.h"
#include "armature/client/transaction.h"
#include "armature/client/watcher.h"
#include "client/src/grpc_connection.h"
#include "client/src/hints.h"
#include "client/src/targets.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/table_name.h"

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
  ARM_RETURN_IF_ERROR(CheckTargets(target));
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
    if (options.credentials == nullptr && !AreUnixSockets(target)) {
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

class RealClock final : public Clock {
 public:
  absl::Time Now() override { return absl::Now(); }
  void SleepFor(absl::Duration duration) override { absl::SleepFor(duration); }
};

// Repeats failed calls of another connection according to the policies of the options: see retry_policy.h.
//
// Thread-safety: thread-safe.
// Errors: those of the last attempt. CertainlyNotApplied is true only if it is true for each attempt.
class RetryingConnection final : public Connection {
 public:
  // The policies and the clock must not be null.
  RetryingConnection(std::shared_ptr<Connection> next, std::shared_ptr<const ClientOptions> options)
      : next_(std::move(next)), options_(std::move(options)) {}

  absl::Status Call(const Method& method, const CallContext& context, const google::protobuf::Message& request,
                    google::protobuf::Message* response) override {
    bool maybe_applied = false;
    for (int attempts = 1;; ++attempts) {
      response->Clear();
      absl::Status status = next_->Call(method, context, request, response);
      if (!status.ok() && maybe_applied) status = MaybeApplied(std::move(status));
      if (status.ok()) {
        hints_.Learn(*response);
        return status;
      }
      const bool may_repeat = CertainlyNotApplied(status) || context.assume_idempotent ||
                              options_->idempotency->IsIdempotent(method, request);
      if (!options_->retry->ShouldRetry(status, attempts) || !may_repeat) return Failed(std::move(status), request);
      const absl::Duration delay = RetryAfter(status) + options_->backoff->DelayAfter(attempts);
      if (options_->clock->Now() + delay >= context.deadline) return Failed(std::move(status), request);
      maybe_applied = maybe_applied || !CertainlyNotApplied(status);
      options_->clock->SleepFor(delay);
    }
  }

  // Streams are not repeated.
  absl::StatusOr<Stubs*> StubsForStream(const CallContext& context) override { return next_->StubsForStream(context); }

 private:
  absl::Status Failed(absl::Status status, const google::protobuf::Message& request) const {
    status = hints_.Add(std::move(status), request);
    if (options_->on_failure) options_->on_failure(request, status);
    return status;
  }

  const std::shared_ptr<Connection> next_;
  const std::shared_ptr<const ClientOptions> options_;
  Hints hints_;
};

// Calls fn(table) for each table that the request writes to. May call it twice for the same table.
template <class Request, class Fn>
void ForEachTable(const Request& request, const Fn& fn) {
  if constexpr (std::is_same_v<Request, api::v1::BatchWriteItemRequest>) {
    for (const auto& [table, writes] : request.request_items()) fn(table);
  } else if constexpr (std::is_same_v<Request, api::v1::TransactWriteItemsRequest>) {
    for (const api::v1::TransactWriteItem& item : request.transact_items()) {
      if (item.has_put()) fn(item.put().table_name());
      if (item.has_delete_()) fn(item.delete_().table_name());
      if (item.has_update()) fn(item.update().table_name());
    }
  } else if constexpr (requires { request.table_name(); }) {  // a statement names its table itself
    fn(request.table_name());
  }
}

}  // namespace

// Keeps the highest change sequence of the writes to each table, by table name, and sets it in each Query and Scan of
// an index. Client::WithReadYourWrites describes the effect for programs.
//
// Thread-safety: thread-safe.
// Cost: a write locks a mutex for one look-up. A read of an index does too, and copies its request if it must change
// it. One number is kept for each written table until the table is deleted through this session.
class WriteSession {
 public:
  // Makes the call `send` of the request. Errors: those of the call. Failed writes are not remembered.
  template <class Response, class Request, class Send>
  absl::Status Call(const Request& request, Response* response, const Send& send) {
    if constexpr (std::is_same_v<Request, api::v1::QueryRequest> || std::is_same_v<Request, api::v1::ScanRequest>) {
      const uint64_t sequence = request.has_index_name() ? SequenceOf(request.table_name()) : 0;
      if (sequence <= request.at_least_sequence()) return send(request);
      Request raised = request;
      raised.set_at_least_sequence(sequence);
      return send(raised);
    } else if constexpr (std::is_same_v<Request, api::v1::DeleteTableRequest>) {
      const uint64_t before = SequenceOf(request.table_name());
      absl::Status status = send(request);
      if (status.ok()) Forget(request.table_name(), before);
      return status;
    } else {
      absl::Status status = send(request);
      if constexpr (requires { response->change_sequence(); }) {
        const uint64_t sequence = response->change_sequence();
        if (status.ok() && sequence != 0) {
          ForEachTable(request, [this, sequence](const std::string& table) { Raise(table, sequence); });
        }
      }
      return status;
    }
  }

 private:
  // The sequence of a table, by name or ARN. 0: no writes.
  uint64_t SequenceOf(std::string_view table) const {
    const absl::MutexLock lock(&mutex_);
    const auto found = sequences_.find(model::TableNamePart(table));
    return found == sequences_.end() ? 0 : found->second;
  }

  void Raise(std::string_view table, uint64_t sequence) {
    const absl::MutexLock lock(&mutex_);
    uint64_t& known = sequences_[std::string(model::TableNamePart(table))];
    known = std::max(known, sequence);
  }

  // Forgets a deleted table. The table may have been created again and written to before the answer about its deletion
  // arrived. Such writes have higher sequences than `before`, the sequence before the call.
  void Forget(std::string_view table, uint64_t before) {
    const absl::MutexLock lock(&mutex_);
    const auto found = sequences_.find(model::TableNamePart(table));
    if (found != sequences_.end() && found->second <= before) sequences_.erase(found);
  }

  mutable absl::Mutex mutex_;
  StringMap<uint64_t> sequences_ ABSL_GUARDED_BY(mutex_);
};

std::shared_ptr<Clock> SystemClock() {
  static const std::shared_ptr<Clock> kClock = std::make_shared<RealClock>();
  return kClock;
}

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
  const CallContext context = ContextOf(*options_, options);
  const Method method{name, &Invoke<kMember>};
  absl::StatusOr<Response> response{Response()};
  const auto send = [&](const Request& sent) { return connection_->Call(method, context, sent, &*response); };
  absl::Status status = session_ == nullptr ? send(request) : session_->Call(request, &*response, send);
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

absl::StatusOr<admin::v1::ListBackupsResponse> Client::ListDatabaseBackups(const admin::v1::ListBackupsRequest& request,
                                                                           const CallOptions& options) const {
  return Call<&admin::v1::AdminService::Stub::ListBackups>("ListBackups", request, options);
}

QueryPaginator Client::QueryPages(api::v1::QueryRequest request, CallOptions options) const {
  return {std::move(request),
          [client = *this, options = std::move(options)](const auto& page) { return client.Query(page, options); }};
}

ScanPaginator Client::ScanPages(api::v1::ScanRequest request, CallOptions options) const {
  return {std::move(request),
          [client = *this, options = std::move(options)](const auto& page) { return client.Scan(page, options); }};
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

std::unique_ptr<Watcher> Client::Watch(api::v1::WatchRequest request, WatchOptions options) const {
  return std::make_unique<Watcher>(connection_, options_, std::move(request), std::move(options));
}

std::unique_ptr<Watcher> Client::Watch(api::v1::WatchRequest request) const { return Watch(std::move(request), {}); }

absl::StatusOr<std::unique_ptr<Pipeline>> Client::OpenPipeline(const PipelineOptions& options) const {
  return Pipeline::Open(connection_, *options_, options);
}

absl::StatusOr<std::unique_ptr<Pipeline>> Client::OpenPipeline() const { return OpenPipeline(PipelineOptions()); }

absl::StatusOr<Client> Connect(std::string_view target, ClientOptions options) {
  ARM_RETURN_IF_ERROR(CheckOptions(target, options));
  std::shared_ptr<Connection> connection = MakeGrpcConnection(target, options);
  return Client(std::move(connection), std::move(options));
}

}  // namespace armature::client
