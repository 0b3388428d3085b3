#include "daemon/grpc/pipeline_stream.h"

#include <string>
#include <utility>

#include "daemon/grpc/byte_buffers.h"
#include "daemon/grpc/error_map.h"
#include "daemon/grpc/item_operations.h"
#include "engine/request_queue.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"

namespace armature::daemon {

void PipelineStream::Start() {
  gate_->ledger()->Add(this);
  counted_ = gate_->Count(Front::kGrpc, "Pipeline");
  if (counted_.trace() != nullptr) {
    // The id of a slow operation in the log: this id, a slash, and the operation's id.
    request_id_ = store::RandomUuid();
    context_->AddTrailingMetadata("x-armature-request-id", request_id_);
  }
  if (absl::Status surplus = gate_->ledger()->CheckCalls(*this); !surplus.ok()) return Identified(surplus, false);
  gate_->Identify(*context_, [self = shared_from_this()](absl::StatusOr<Caller> caller) {
    self->Identified(std::move(caller), /*has_request=*/false);
  });
}

void PipelineStream::Identified(absl::StatusOr<Caller> caller, bool has_request) {
  const absl::Status identified = caller.status();
  if (identified.ok()) {
    caller_ = *std::move(caller);
    if (has_request) return StartRequest();
  }
  {
    absl::MutexLock lock(&mutex_);
    is_handling_ = false;
    refused_ = identified;
  }
  Pump();
}

void PipelineStream::Drain() {
  {
    absl::MutexLock lock(&mutex_);
    is_draining_ = true;
  }
  Pump();
}

void PipelineStream::OnReadDone(bool ok) {
  {
    absl::MutexLock lock(&mutex_);
    is_reading_ = false;
    if (unsent_bytes_ == 0) Set(CallPhase::kRunning);
    has_read_all_ = has_read_all_ || !ok;
    is_handling_ = ok && !is_finished_ && !is_broken_;
    ok = is_handling_;
  }
  if (!ok) return Pump();
  if (absl::Status fits = gate_->ledger()->Received(*this, request_.Length()); !fits.ok()) {
    request_.Clear();
    return Identified(fits, /*has_request=*/false);
  }
  if (gate_->IsCurrent(*caller_)) return StartRequest();
  gate_->Identify(*context_, [self = shared_from_this()](absl::StatusOr<Caller> caller) {
    self->Identified(std::move(caller), /*has_request=*/true);
  });
}

void PipelineStream::StartRequest() {
  // The operation is not known before the message is read.
  const bool runs = gate_->Run(*caller_, request_.Length(), LongRequests::Projection::kOfEachKey,
                               [self = shared_from_this()] { self->RunRequest(absl::OkStatus()); });
  if (!runs) RunRequest(engine::TooManyWaitError());
}

void PipelineStream::RunRequest(const absl::Status& admitted) {
  {
    const MessageBytes message(request_);
    PipelineOperation operation;
    const absl::Status parsed = ParsePipelineRequest(message.view(), &operation);
    RunOperation(operation, parsed.ok() ? admitted : parsed);
  }
  request_.Clear();
  {
    absl::MutexLock lock(&mutex_);
    is_handling_ = false;
  }
  Pump();
}

void PipelineStream::RunOperation(const PipelineOperation& asked, const absl::Status& parsed) {
  const bool is_known = asked.number >= kPipelineNumberFirst && asked.number <= kPipelineNumberLast;
  const ItemOperation* const known = is_known ? &ItemOperations()[asked.number - kPipelineNumberFirst] : nullptr;
  const Operation operation{.id = asked.id,
                            .number = asked.number,
                            .room = is_known ? known->weight : 1,
                            .only_reads = is_known && engine::OnlyReads(*engine::FindOperation(known->name)),
                            .counted = gate_->Count(Front::kPipeline, is_known ? known->name : "")};
  {
    absl::MutexLock lock(&mutex_);
    ++operations_;
    room_taken_ += operation.room;
  }
  if (!parsed.ok()) return Send(operation, parsed, {}, {});
  if (!is_known) return Send(operation, ValidationError("The request names no operation"), {}, {});
  ItemAnswer answer = [self = shared_from_this(), operation](const absl::Status& status,
                                                             const grpc::ByteBuffer& response, HeldMemory memory) {
    self->Send(operation, status, response, std::move(memory));
  };
  const MemorySource memory{gate_->ledger()->budget(), client_};
  known->run(known->name,
             {*caller_, MakeRequestContext(context_, operation.counted.trace(), memory), std::move(answer)},
             asked.request);
}

void PipelineStream::Send(const Operation& operation, const absl::Status& result, grpc::ByteBuffer response,
                          HeldMemory memory) {
  absl::Status status = result;
  if (memory.source().lender == nullptr) memory = HeldMemory({gate_->ledger()->budget(), client_});
  if (status.ok() && operation.only_reads && !memory.Cover(response.Length())) status = gate_->ledger()->Refused();
  const std::string request_id = request_id_.empty() ? "" : Cat(request_id_, "/", operation.id);
  operation.counted.Finish(status, request_id);
  if (!status.ok()) response = TakeBytes(ToGrpcStatus(status, request_id).error_details());
  const uint32_t number = status.ok() ? operation.number : kPipelineErrorNumber;
  const size_t bytes = response.Length();
  Answer answer{WithHead(PipelineResponseHead(operation.id, number, bytes), response), operation.room};
  {
    absl::MutexLock lock(&mutex_);
    unsent_bytes_ += answer.message.Length();
    unsent_.push_back(std::move(answer));
    if (is_broken_) Break();
    // The stream counts all its answers together.
    memory.Set(0);
    share_.Set(unsent_bytes_);
  }
  Pump();
}

void PipelineStream::OnWriteDone(bool ok) {
  {
    absl::MutexLock lock(&mutex_);
    is_writing_ = false;
    unsent_bytes_ -= sent_.message.Length();
    room_taken_ -= sent_.room;
    --operations_;
    sent_.message.Clear();
    if (!ok) Break();
    CountUnsent();
  }
  Pump();
}

void PipelineStream::OnCancel() {
  {
    absl::MutexLock lock(&mutex_);
    Break();
    CountUnsent();
  }
  Pump();
}

void PipelineStream::OnDone() {
  // Keeps the stream alive while `ended_` runs.
  const std::shared_ptr<PipelineStream> self = shared_from_this();
  gate_->ledger()->Remove(this);
  ended_(this);
}

void PipelineStream::Break() {
  is_broken_ = true;
  for (const Answer& answer : unsent_) {
    unsent_bytes_ -= answer.message.Length();
    room_taken_ -= answer.room;
    --operations_;
  }
  unsent_.clear();
}

void PipelineStream::CountUnsent() {
  share_.Set(unsent_bytes_);
  // The client has made progress: its time begins anew.
  const CallPhase waiting = is_reading_ ? CallPhase::kListening : CallPhase::kRunning;
  Set(unsent_bytes_ > 0 ? CallPhase::kSending : waiting, unsent_bytes_);
}

bool PipelineStream::MayRead() const {
  if (is_reading_ || is_handling_ || has_read_all_ || is_draining_ || is_broken_ || !refused_.ok()) return false;
  return room_taken_ < limits_.room && unsent_bytes_ < limits_.unsent_bytes;
}

bool PipelineStream::MayFinish() const {
  if (starting_ > 0 || is_handling_ || is_writing_ || operations_ > 0) return false;
  return has_read_all_ || is_draining_ || is_broken_ || !refused_.ok();
}

PipelineStream::Step PipelineStream::NextStep() {
  if (is_finished_) return Step::kNothing;
  if (!is_writing_ && !unsent_.empty()) {
    is_writing_ = true;
    sent_ = std::move(unsent_.front());
    unsent_.pop_front();
    more_follow_ = !unsent_.empty();
    CountUnsent();
    return Step::kWrite;
  }
  if (MayRead()) {
    is_reading_ = true;
    if (unsent_bytes_ == 0) Set(CallPhase::kListening);
    return Step::kRead;
  }
  if (!MayFinish()) return Step::kNothing;
  is_finished_ = true;
  return Step::kFinish;
}

absl::Status PipelineStream::FinalStatus() const {
  absl::MutexLock lock(&mutex_);
  if (!refused_.ok()) return refused_;
  if (is_broken_) return CancelledError("The stream was cancelled");
  if (is_draining_ && !has_read_all_) return ServiceUnavailableError("The daemon is stopping");
  return absl::OkStatus();
}

void PipelineStream::End(const absl::Status& status) {
  counted_.Finish(status, request_id_);
  Finish(EndOf(context_, status, request_id_));
}

void PipelineStream::Pump() {
  // Once gRPC is called, its reaction on another thread may end the stream. `starting_` prevents the end while it
  // counts this thread, and the pointer keeps the stream alive a little longer.
  const std::shared_ptr<PipelineStream> self = shared_from_this();
  bool was_starting = false;
  while (true) {
    Step step;
    {
      absl::MutexLock lock(&mutex_);
      if (was_starting) --starting_;
      step = NextStep();
      was_starting = step == Step::kRead || step == Step::kWrite;
      if (was_starting) ++starting_;
    }
    switch (step) {
      case Step::kNothing:
        return;
      case Step::kRead:
        StartRead(&request_);
        break;
      case Step::kWrite: {
        grpc::WriteOptions options;
        // Buffers this answer, so that it is sent together with the next ones.
        if (more_follow_) options.set_buffer_hint();
        StartWrite(&sent_.message, options);
        break;
      }
      case Step::kFinish:
        End(FinalStatus());
        return;
    }
  }
}

}  // namespace armature::daemon
