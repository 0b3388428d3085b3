#include "daemon/grpc/unary_handler.h"

#include "daemon/grpc/error_map.h"
#include "engine/request_queue.h"
#include "storage/base/api_error.h"
#include "storage/store/data_directory.h"

namespace armature::daemon {
namespace {

// An operator gets through an overload.
bool MayWait(const engine::Operation& operation) {
  return operation.plane != engine::Plane::kTable && operation.plane != engine::Plane::kAdmin;
}

}  // namespace

// A call whose turn never comes, because its client has gone, ends here.
UnaryHandler::~UnaryHandler() {
  if (is_counting_) Count(CancelledError("The call was cancelled"));
}

void UnaryHandler::Start() {
  call_->set_handler(shared_from_this());
  gate_->Identify(call_,
                  [self = shared_from_this()](absl::StatusOr<Caller> caller) { self->Identified(std::move(caller)); });
}

void UnaryHandler::Identified(absl::StatusOr<Caller> caller) {
  const absl::Status room = caller.ok() && HasLargeAnswer(*operation_) ? gate_->CheckRoom(*call_) : caller.status();
  if (caller.ok()) caller_ = *std::move(caller);
  if (room.ok()) return call_->Read(/*is_owed=*/true);
  Audit(room, {});
  Begin();
  Finish(room);
}

void UnaryHandler::OnMessage(InMessage message) {
  if (has_request_) {
    is_refused_ = true;
    return call_->Finish({.code = RpcCode::kUnimplemented, .message = "The call has more than one request"});
  }
  has_request_ = true;
  request_ = std::move(message);
  // For the end of the messages.
  call_->Read(/*is_owed=*/true);
}

void UnaryHandler::OnReadEnd() {
  if (is_refused_) return;
  // The code is that of gRPC's libraries.
  if (!has_request_) return call_->Finish({.code = RpcCode::kUnimplemented, .message = "The call has no request"});
  Begin();
  if (MayWait(*operation_) && call_->IsLate()) return Finish(engine::TooManyWaitError());
  Run();
}

void UnaryHandler::Begin() {
  counted_ = gate_->Count(Front::kGrpc, operation_->name, *call_);
  is_counting_ = true;
  if (counted_.has_id()) request_id_ = store::RandomUuid();
}

void UnaryHandler::Run() {
  auto run = [self = shared_from_this()] {
    const std::string request = std::move(self->request_.bytes);
    auto answer = [self](const absl::Status& status, OutMessage response, const std::string* subject) {
      if (subject != nullptr) self->Audit(status, *subject);
      status.ok() ? self->Finish(std::move(response)) : self->Finish(status);
    };
    RpcCall* const rpc = self->call_.get();
    MessageCall call{*self->caller_, MakeRequestContext(rpc, self->counted_.trace()), MessageAnswer(std::move(answer)),
                     rpc->authority()};
    (*self->run_)(call, request);
  };
  if (!gate_->IsLong(*caller_, request_.bytes.size(), LongRequests::ProjectionOf(operation_->name))) return run();
  if (!gate_->RunLong(std::move(run))) Finish(engine::TooManyWaitError());
}

void UnaryHandler::Audit(const absl::Status& result, std::string_view subject) const {
  gate_->Audit(
      caller_.has_value() ? &*caller_ : nullptr,
      {.principal = {}, .peer = call_->peer().text, .operation = operation_->name, .table = subject, .result = result});
}

void UnaryHandler::Count(const absl::Status& result) {
  is_counting_ = false;
  counted_.Finish(result, request_id_);
}

void UnaryHandler::Finish(const absl::Status& error) {
  request_.memory.Set(0);
  Count(error);
  call_->Finish(WithRequestId(request_id_, ToRpcStatus(error, request_id_)));
}

void UnaryHandler::Finish(OutMessage answer) {
  request_.memory.Set(0);
  const size_t bytes = answer.size();
  if (answer.memory.source().lender == nullptr) answer.memory = HeldMemory(call_->memory());
  if (!answer.memory.Cover(bytes) && engine::OnlyReads(*operation_)) {
    answer.memory.Set(0);
    return Finish(gate_->Refused());
  }
  answer.memory.Set(bytes);
  Count(absl::OkStatus());
  if (request_id_.empty()) return call_->Finish(std::move(answer));
  call_->Write(std::move(answer));
  call_->Finish(WithRequestId(request_id_, RpcStatus()));
}

}  // namespace armature::daemon
