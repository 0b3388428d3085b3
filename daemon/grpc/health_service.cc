#include "daemon/grpc/health_service.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/grpc/byte_buffers.h"
#include "google/protobuf/unknown_field_set.h"
#include "grpcpp/impl/codegen/server_callback_handlers.h"

namespace armature::daemon {
namespace {

using Context = grpc::CallbackServerContext;

// HealthCheckResponse.ServingStatus.
constexpr int kServing = 1;
constexpr int kNotServing = 2;
constexpr int kServiceUnknown = 3;

// No longer names are known.
constexpr size_t kRequestBytesMax = 256;

// True for the whole server and for its services.
bool IsKnownService(const grpc::ByteBuffer& request) {
  constexpr std::string_view kServices[] = {"",
                                            "armature.api.v1.ItemService",
                                            "armature.api.v1.TableService",
                                            "armature.api.v1.StreamService",
                                            "armature.api.v1.StatementService",
                                            "armature.admin.v1.AdminService"};
  if (request.Length() > kRequestBytesMax) return false;
  const MessageBytes message(request);
  google::protobuf::UnknownFieldSet fields;
  if (!fields.ParseFromArray(message.view().data(), static_cast<int>(message.view().size()))) return false;
  std::string name;
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() == 1 && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      name = field.length_delimited();
    }
  }
  return std::find(std::begin(kServices), std::end(kServices), name) != std::end(kServices);
}

// A HealthCheckResponse: its field 1 is the status.
grpc::ByteBuffer AnswerWith(int status) { return TakeBytes({'\x08', static_cast<char>(status)}); }

}  // namespace

void HealthWatch::Start() {
  ledger_->Add(this);
  const bool is_surplus = !ledger_->CheckCalls(*this).ok();
  {
    const absl::MutexLock lock(&mutex_);
    is_finished_ = is_surplus;
    is_reading_ = !is_surplus;
  }
  if (is_surplus) return Finish(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls"));
  Set(CallPhase::kReading);
  StartRead(&request_);
}

void HealthWatch::Drain() {
  {
    const absl::MutexLock lock(&mutex_);
    is_draining_ = true;
    if (is_known_) wanted_ = kNotServing;
  }
  GoOn();
}

void HealthWatch::OnReadDone(bool ok) {
  Set(CallPhase::kRunning);
  const bool is_known = ok && ledger_->Received(*this, request_.Length()).ok() && IsKnownService(request_);
  request_.Clear();
  {
    const absl::MutexLock lock(&mutex_);
    is_reading_ = false;
    is_known_ = is_known;
    is_over_ = is_over_ || !ok;
    const int known = is_draining_ ? kNotServing : kServing;
    wanted_ = is_known ? known : kServiceUnknown;
  }
  GoOn();
}

void HealthWatch::OnWriteDone(bool ok) {
  {
    const absl::MutexLock lock(&mutex_);
    is_writing_ = false;
    is_over_ = is_over_ || !ok;
  }
  GoOn();
}

void HealthWatch::OnCancel() {
  {
    const absl::MutexLock lock(&mutex_);
    is_over_ = true;
  }
  GoOn();
}

void HealthWatch::OnDone() {
  // Keeps the stream alive while `ended_` runs.
  const std::shared_ptr<HealthWatch> self = shared_from_this();
  ledger_->Remove(this);
  ended_(this);
}

void HealthWatch::GoOn() {
  // gRPC's reaction on another thread may end the stream.
  const std::shared_ptr<HealthWatch> self = shared_from_this();
  int status = 0;
  {
    const absl::MutexLock lock(&mutex_);
    if (is_reading_ || is_writing_ || is_finished_) return;
    if (is_over_) {
      is_finished_ = true;
    } else if (wanted_ != sent_) {
      status = sent_ = wanted_;
      is_writing_ = true;
    } else {
      return;
    }
  }
  if (status == 0) return Finish(grpc::Status(grpc::StatusCode::CANCELLED, "The client has gone"));
  answer_ = AnswerWith(status);
  StartWrite(&answer_);
}

HealthService::HealthService(CallLedger* ledger) : ledger_(ledger) {
  using grpc::internal::RpcMethod;
  using WatchHandler = grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
  AddMethod(new grpc::internal::RpcServiceMethod(kCheck, RpcMethod::CLIENT_STREAMING, nullptr));
  MarkMethodRawCallback(0, new GuardedHandler([this](OpenedCall* opened) { Check(opened); }));
  AddMethod(new grpc::internal::RpcServiceMethod(kWatch, RpcMethod::BIDI_STREAMING, nullptr));
  MarkMethodRawCallback(1, new WatchHandler([this](Context* context) {
                          return watches_.Open([this, context](StreamSet<HealthWatch>::Ended ended) {
                            return std::make_shared<HealthWatch>(ledger_, context, std::move(ended));
                          });
                        }));
}

void HealthService::Drain() {
  is_draining_ = true;
  watches_.Drain();
}

void HealthService::Check(OpenedCall* opened) const {
  auto* const guarded = new GuardedCall(ledger_, opened);  // ends itself
  if (!guarded->CheckCalls().ok())
    return guarded->End(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls"));
  guarded->ReadRequest([this, guarded](const grpc::Status& read) {
    if (!read.ok()) return guarded->End(read);
    if (!IsKnownService(guarded->TakeRequest())) {
      return guarded->End(grpc::Status(grpc::StatusCode::NOT_FOUND, "service name unknown"));
    }
    *guarded->response() = AnswerWith(is_draining_ ? kNotServing : kServing);
    guarded->End(grpc::Status::OK);
  });
}

}  // namespace armature::daemon
