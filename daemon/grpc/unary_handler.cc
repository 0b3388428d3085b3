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
  gate_->Audit(
      caller_.has_value() ? &*caller_ : nullptr,
      {.principal = {}, .peer = call_->peer().text, .operation = operation_->name, .table = {}, .result = room});
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
  auto run = [self = shared_from_this()] { std::move(self->work_)(UnaryCall(self), std::move(self->request_.bytes)); };
  if (!gate_->IsLong(*caller_, request_.bytes.size(), LongRequests::ProjectionOf(operation_->name))) return run();
  if (!gate_->RunLong(std::move(run))) Finish(engine::TooManyWaitError());
}

absl::Status UnaryHandler::TakeMemory(size_t bytes, bool may_refuse) {
  if (answer_memory_.source().lender == nullptr) answer_memory_ = HeldMemory(call_->memory());
  if (answer_memory_.Cover(bytes)) return absl::OkStatus();
  if (may_refuse) return gate_->Refused();
  answer_memory_.Set(bytes);
  return absl::OkStatus();
}

void UnaryHandler::Count(const absl::Status& result) {
  is_counting_ = false;
  counted_.Finish(result, request_id_);
}

void UnaryHandler::Finish(const absl::Status& error) {
  request_.memory.Set(0);
  answer_memory_.Set(0);
  Count(error);
  call_->Finish(WithRequestId(request_id_, ToRpcStatus(error, request_id_)));
}

void UnaryHandler::Finish(OutMessage answer) {
  request_.memory.Set(0);
  if (answer.memory.source().lender != nullptr) answer_memory_ = std::move(answer.memory);
  const size_t bytes = answer.size();
  if (const absl::Status taken = TakeMemory(bytes, engine::OnlyReads(*operation_)); !taken.ok()) return Finish(taken);
  answer_memory_.Set(bytes);
  answer.memory = std::move(answer_memory_);
  Count(absl::OkStatus());
  if (request_id_.empty()) return call_->Finish(std::move(answer));
  call_->Write(std::move(answer));
  call_->Finish(WithRequestId(request_id_, RpcStatus()));
}

}  // namespace armature::daemon
