#include "daemon/rpc/health_service.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "daemon/rpc/rpc_status.h"
#include "google/protobuf/stubs/logging.h"
#include "grpc/health/v1/health.pb.h"

namespace armature::daemon {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

namespace {

// No longer names are known.
constexpr size_t kHealthRequestBytesMax = 256;

OutMessage HealthAnswer(int status) {
  HealthCheckResponse response;
  response.set_status(static_cast<HealthCheckResponse::ServingStatus>(status));
  OutMessage message;
  message.bytes = response.SerializeAsString();
  return message;
}

RpcStatus HealthError(RpcCode code, std::string text) {
  RpcStatus status;
  status.code = code;
  status.message = std::move(text);
  return status;
}

RpcStatus ClientHasGone() { return HealthError(RpcCode::kCancelled, "The client has gone"); }

}  // namespace

bool IsKnownToHealth(std::string_view request) {
  constexpr std::string_view kServices[] = {"",
                                            "armature.api.v1.ItemService",
                                            "armature.api.v1.TableService",
                                            "armature.api.v1.StreamService",
                                            "armature.api.v1.StatementService",
                                            "armature.admin.v1.AdminService"};
  if (request.size() > kHealthRequestBytesMax) return false;
  const google::protobuf::LogSilencer silencer;  // strangers write no lines into our log
  HealthCheckRequest message;
  if (!message.ParseFromArray(request.data(), static_cast<int>(request.size()))) return false;
  return std::find(std::begin(kServices), std::end(kServices), message.service()) != std::end(kServices);
}

// One Check call. Thread-safety: belongs to the loop's thread. Lifetime: the call holds it, and outlives it until
// OnDone.
class HealthService::Check final : public RpcHandler {
 public:
  Check(const HealthService* service, RpcCall* call) : service_(service), call_(call) {}

  void OnMessage(InMessage message) override {
    if (!IsKnownToHealth(message.bytes)) {
      return call_->Finish(HealthError(RpcCode::kNotFound, "service name unknown"));
    }
    call_->Finish(HealthAnswer(service_->status()));
  }
  // Has no effect after the answer. The code is gRPC's own for a client that sends no request.
  void OnReadEnd() override { call_->Finish(HealthError(RpcCode::kUnimplemented, "The call has no request")); }
  void OnCancel() override { call_->Finish(ClientHasGone()); }

 private:
  const HealthService* const service_;
  RpcCall* const call_;
};

// One Watch call. Thread-safety: belongs to the loop's thread. Lifetime: the call holds it, and outlives it until
// OnDone.
class HealthService::Watch final : public RpcHandler {
 public:
  Watch(HealthService* service, RpcCall* call) : service_(service), call_(call) {}

  void OnMessage(InMessage message) override {
    has_request_ = true;
    is_known_ = IsKnownToHealth(message.bytes);
    Update();
  }
  void OnReadEnd() override {
    if (!has_request_) call_->Finish(ClientHasGone());
  }
  void OnCancel() override {
    is_over_ = true;
    call_->Finish(ClientHasGone());
  }
  void OnDone() override {
    is_over_ = true;
    service_->Remove(this);
  }

  // Sends the status if the client does not have it.
  void Update() {
    if (!has_request_ || is_over_) return;
    const int status = is_known_ ? service_->status() : HealthCheckResponse::SERVICE_UNKNOWN;
    if (std::exchange(sent_, status) != status) call_->Write(HealthAnswer(status));
    // A watch that stays would hold up the stop.
    if (!service_->is_draining_) return;
    is_over_ = true;
    call_->Finish({.code = RpcCode::kUnavailable, .message = "The daemon is stopping"});
  }

 private:
  HealthService* const service_;
  RpcCall* const call_;
  bool has_request_ = false;
  bool is_known_ = false;  // the service that is asked for
  bool is_over_ = false;
  int sent_ = HealthCheckResponse::UNKNOWN;
};

HealthService::HealthService(RpcFront* front) {
  front->Add(kCheck, [this](const std::shared_ptr<RpcCall>& call) {
    call->set_handler(std::make_shared<Check>(this, call.get()));
    call->Read(/*is_owed=*/true);
  });
  front->Add(kWatch, [this](const std::shared_ptr<RpcCall>& call) { OpenNewWatch(call); });
}

HealthService::~HealthService() = default;

int HealthService::status() const {
  return is_draining_ ? HealthCheckResponse::NOT_SERVING : HealthCheckResponse::SERVING;
}

void HealthService::OpenNewWatch(const std::shared_ptr<RpcCall>& call) {
  const auto watch = std::make_shared<Watch>(this, call.get());
  {
    const absl::MutexLock lock(&mutex_);
    watches_[watch.get()] = {.call = call, .watch = watch};
  }
  call->set_handler(watch);
  call->SetPatient();
  call->Read(/*is_owed=*/true);
}

void HealthService::Remove(const Watch* watch) {
  OpenWatch removed;  // released without the lock
  const absl::MutexLock lock(&mutex_);
  const auto found = watches_.find(watch);
  if (found == watches_.end()) return;
  removed = std::move(found->second);
  watches_.erase(found);
}

void HealthService::Drain() {
  is_draining_ = true;
  std::vector<OpenWatch> open;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [key, watch] : watches_) open.push_back(watch);
  }
  for (OpenWatch& each : open) {
    each.call->Post([watch = std::move(each.watch)] {
      if (const std::shared_ptr<Watch> alive = watch.lock(); alive != nullptr) alive->Update();
    });
  }
}

}  // namespace armature::daemon
