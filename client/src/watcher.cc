#include "armature/client/watcher.h"

#include <string>
#include <utility>

#include "armature/client/errors.h"
#include "client/src/grpc_connection.h"
#include "client/src/response_stream.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::client {
namespace {

constexpr absl::Duration kHeartbeat = absl::Seconds(5);  // of the daemon, unless the request has another one
// A daemon that has sent nothing for so many heartbeats is lost.
constexpr int kHeartbeatsMissed = 3;

}  // namespace

struct WatchCall {
  api::v1::WatchRequest request;
  ResponseStream<api::v1::WatchResponse> responses;
};

Watcher::Watcher(std::shared_ptr<Connection> connection, std::shared_ptr<const ClientOptions> client_options,
                 api::v1::WatchRequest request, WatchOptions options)
    : connection_(std::move(connection)),
      client_options_(std::move(client_options)),
      options_(std::move(options)),
      request_(std::move(request)) {}

Watcher::~Watcher() { Drop(); }

void Watcher::Cancel() {
  const absl::MutexLock lock(&mutex_);
  cancelled_ = true;
  if (call_ != nullptr) call_->responses.Cancel();
}

bool Watcher::is_cancelled() {
  const absl::MutexLock lock(&mutex_);
  return cancelled_;
}

bool Watcher::Pause(absl::Duration duration) {
  const absl::MutexLock lock(&mutex_);
  return !mutex_.AwaitWithTimeout(absl::Condition(&cancelled_), duration);
}

void Watcher::Drop() {
  std::unique_ptr<WatchCall> call;
  {
    const absl::MutexLock lock(&mutex_);
    call.swap(call_);
  }
  if (call != nullptr) call->responses.CancelAndWait();
}

absl::Status Watcher::Connect() {
  CallOptions call_options;
  call_options.metadata = options_.metadata;
  CallContext context = ContextOf(*client_options_, call_options);
  ARM_ASSIGN_OR_RETURN(Stubs* const stubs, connection_->StubsForStream(context));
  context.deadline = absl::InfiniteFuture();
  std::unique_ptr<WatchCall> call(new WatchCall{request_, ResponseStream<api::v1::WatchResponse>(connection_)});
  auto& stub = std::get<std::unique_ptr<api::v1::StreamService::Stub>>(stubs->all);
  call->responses.Start(context,
                        [&](grpc::ClientContext* made, grpc::ClientReadReactor<api::v1::WatchResponse>* reactor) {
                          stub->async()->Watch(made, &call->request, reactor);
                        });
  const absl::MutexLock lock(&mutex_);
  call_ = std::move(call);
  // Cancel did not see the call.
  if (cancelled_) call_->responses.Cancel();
  return absl::OkStatus();
}

absl::Status Watcher::NextOfCall(api::v1::WatchResponse* response) {
  WatchCall* call = nullptr;
  {
    const absl::MutexLock lock(&mutex_);
    call = call_.get();
  }
  if (call == nullptr) {
    ARM_RETURN_IF_ERROR(Connect());
    const absl::MutexLock lock(&mutex_);
    call = call_.get();
  }
  const absl::Duration heartbeat =
      request_.has_heartbeat_ms() ? absl::Milliseconds(request_.heartbeat_ms()) : kHeartbeat;
  ARM_ASSIGN_OR_RETURN(const bool has_response,
                       call->responses.Next(response, kHeartbeatsMissed * heartbeat + client_options_->timeout));
  return has_response ? absl::OkStatus() : absl::UnavailableError("the daemon has ended the watch");
}

bool Watcher::MayReconnect(const absl::Status& status) const {
  const std::string name = ErrorName(status);
  if (IsTransient(status)) return true;
  // The daemon may not know yet that the connection of the watch was lost, whose place is taken so long.
  if (name == "LimitExceededException") return has_watched_;
  // These are not the daemon's: the network, or its limits, have ended the call.
  return name.empty() && !IsLasting(status) &&
         (absl::IsCancelled(status) || absl::IsDeadlineExceeded(status) || absl::IsInternal(status) ||
          absl::IsUnknown(status) || absl::IsUnavailable(status));
}

absl::Status Watcher::Next(api::v1::WatchResponse* response) {
  const absl::Time lost = client_options_->clock->Now();
  for (int attempts = 1;; ++attempts) {
    absl::Status status = is_cancelled() ? absl::CancelledError("the watch was cancelled") : NextOfCall(response);
    if (is_cancelled()) {
      Drop();
      return absl::CancelledError("the watch was cancelled");
    }
    if (status.ok()) {
      has_watched_ = true;
      request_.clear_start();
      request_.set_after_sequence_number(response->position());
      return status;
    }
    Drop();
    const absl::Duration pause = client_options_->backoff->DelayAfter(attempts);
    if (!MayReconnect(status) || client_options_->clock->Now() + pause - lost > options_.reconnect_for) return status;
    if (!Pause(pause)) return absl::CancelledError("the watch was cancelled");
  }
}

}  // namespace armature::client
