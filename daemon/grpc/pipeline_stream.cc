#include "daemon/grpc/pipeline_stream.h"

#include "daemon/api/item_messages.h"
#include "daemon/grpc/error_map.h"
#include "daemon/grpc/message_operations.h"
#include "engine/request_queue.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"

namespace armature::daemon {

void PipelineStream::Start() {
  call_->set_handler(shared_from_this());
  counted_ = gate_->Count(Front::kGrpc, "Pipeline", *call_);
  // The id of a slow operation in the log: this id, a slash, and the operation's id.
  if (counted_.has_id()) request_id_ = store::RandomUuid();
  gate_->Identify(call_,
                  [self = shared_from_this()](absl::StatusOr<Caller> caller) { self->Identified(std::move(caller)); });
}

void PipelineStream::Identified(absl::StatusOr<Caller> caller) {
  if (!caller.ok()) {
    refused_ = caller.status();
    return Handled();
  }
  caller_ = *std::move(caller);
  message_.has_value() ? StartRequest() : Handled();
}

void PipelineStream::Drain() {
  call_->Post([self = shared_from_this()] {
    self->is_draining_ = true;
    self->GoOn();
  });
}

void PipelineStream::OnMessage(InMessage message) {
  is_reading_ = false;
  if (is_over_) return;
  is_handling_ = true;
  message_ = std::move(message);
  if (gate_->IsCurrent(*caller_)) return StartRequest();
  gate_->Identify(call_,
                  [self = shared_from_this()](absl::StatusOr<Caller> caller) { self->Identified(std::move(caller)); });
}

void PipelineStream::OnReadEnd() {
  is_reading_ = false;
  has_read_all_ = true;
  GoOn();
}

void PipelineStream::StartRequest() {
  // The operation is not known before the message is read.
  if (!gate_->IsLong(*caller_, message_->bytes.size(), LongRequests::Projection::kOfEachKey)) {
    RunRequest(absl::OkStatus());
    return Handled();
  }
  const bool runs = gate_->RunLong([self = shared_from_this()] {
    self->RunRequest(absl::OkStatus());
    self->call_->Post([self] { self->Handled(); });
  });
  if (runs) return;
  RunRequest(engine::TooManyWaitError());
  Handled();
}

void PipelineStream::Handled() {
  message_.reset();
  is_handling_ = false;
  GoOn();
}

void PipelineStream::RunRequest(const absl::Status& admitted) {
  PipelineOperation asked;
  absl::Status parsed = ParsePipelineRequest(message_->bytes, &asked);
  if (parsed.ok()) parsed = admitted;
  const bool is_known = asked.number >= kPipelineNumberFirst && asked.number <= kPipelineNumberLast;
  const MessageOperation* const known =
      is_known ? &ItemMessageOperations()[asked.number - kPipelineNumberFirst] : nullptr;
  const Operation operation{.id = asked.id,
                            .number = asked.number,
                            .room = is_known ? known->weight : 1,
                            .only_reads = is_known && engine::OnlyReads(*known->facts),
                            .counted = gate_->Count(Front::kPipeline, is_known ? known->facts->name : "", *call_)};
  room_taken_.fetch_add(operation.room, std::memory_order_relaxed);
  if (!parsed.ok()) return Send(operation, parsed, {});
  if (!is_known) return Send(operation, ValidationError("The request names no operation"), {});
  auto answer = [self = shared_from_this(), operation](const absl::Status& status, OutMessage response,
                                                       const std::string* /*subject*/) {
    self->Send(operation, status, std::move(response));
  };
  MessageCall call{*caller_, MakeRequestContext(call_.get(), operation.counted.trace()),
                   MessageAnswer(std::move(answer))};
  known->run(call, asked.request);
}

void PipelineStream::Send(const Operation& operation, const absl::Status& result, OutMessage response) {
  absl::Status status = result;
  HeldMemory memory = std::move(response.memory);
  if (memory.source().lender == nullptr) memory = HeldMemory(call_->memory());
  if (status.ok() && operation.only_reads && !memory.Cover(response.size())) status = gate_->Refused();
  const std::string request_id = request_id_.empty() ? "" : Cat(request_id_, "/", operation.id);
  operation.counted.Finish(status, request_id);
  if (!status.ok()) response = {.head = {}, .bytes = ToRpcStatus(status, request_id).details};
  const uint32_t number = status.ok() ? operation.number : kPipelineErrorNumber;
  response.head.insert(0, PipelineResponseHead(operation.id, number, response.size()));
  memory.Set(response.size());
  response.memory = std::move(memory);
  response.weight = operation.room;
  call_->Write(std::move(response));
}

void PipelineStream::OnSent(uint32_t weight) {
  room_taken_.fetch_sub(weight, std::memory_order_relaxed);
  GoOn();
}

void PipelineStream::OnCancel() {
  if (!is_over_) End(CancelledError("The stream was cancelled"));
}

bool PipelineStream::MayRead() const {
  if (is_reading_ || is_handling_ || has_read_all_ || is_draining_ || !refused_.ok()) return false;
  return room_taken_.load(std::memory_order_relaxed) < limits_.room && call_->unsent_bytes() < limits_.unsent_bytes;
}

bool PipelineStream::MayFinish() const {
  if (is_handling_ || room_taken_.load(std::memory_order_relaxed) > 0) return false;
  return has_read_all_ || is_draining_ || !refused_.ok();
}

absl::Status PipelineStream::FinalStatus() const {
  if (!refused_.ok()) return refused_;
  return has_read_all_ ? absl::OkStatus() : ServiceUnavailableError("The daemon is stopping");
}

void PipelineStream::End(const absl::Status& status) {
  is_over_ = true;
  counted_.Finish(status, request_id_);
  call_->Finish(WithRequestId(request_id_, ToRpcStatus(status, request_id_)));
}

void PipelineStream::GoOn() {
  if (is_over_) return;
  if (MayRead()) {
    is_reading_ = true;
    return call_->Read();
  }
  if (MayFinish()) End(FinalStatus());
}

}  // namespace armature::daemon
