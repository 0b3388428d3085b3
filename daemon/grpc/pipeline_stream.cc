#include "daemon/grpc/pipeline_stream.h"

#include <array>
#include <string>
#include <utility>

#include "daemon/api/error_map.h"
#include "daemon/grpc/byte_buffers.h"
#include "daemon/grpc/item_operations.h"
#include "daemon/grpc/request_contexts.h"
#include "storage/base/api_error.h"

namespace armature::daemon {
namespace {

struct OperationRow {
  ItemOperation run;
  size_t room;
};

constexpr size_t kItemRoom = 1;
constexpr size_t kPageRoom = 8;
constexpr size_t kGroupRoom = 32;

// By the number of the field, from kPipelineNumberFirst on.
constexpr std::array<OperationRow, kPipelineNumberLast - kPipelineNumberFirst + 1> kOperations = {{
    {GetItem, kItemRoom},
    {PutItem, kItemRoom},
    {UpdateItem, kItemRoom},
    {DeleteItem, kItemRoom},
    {Query, kPageRoom},
    {Scan, kPageRoom},
    {BatchGetItem, kGroupRoom},
    {BatchWriteItem, kGroupRoom},
    {TransactGetItems, kGroupRoom},
    {TransactWriteItems, kGroupRoom},
}};

}  // namespace

void PipelineStream::Start() {
  gate_->Identify(*context_, [self = shared_from_this()](absl::StatusOr<Caller> caller) {
    self->Identified(std::move(caller), /*has_request=*/false);
  });
}

void PipelineStream::Identified(absl::StatusOr<Caller> caller, bool has_request) {
  const absl::Status identified = caller.status();
  if (identified.ok()) {
    caller_ = *std::move(caller);
    if (has_request) return RunRequest();
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
    has_read_all_ = has_read_all_ || !ok;
    is_handling_ = ok && !is_finished_ && !is_broken_;
    ok = is_handling_;
  }
  if (!ok) return Pump();
  if (gate_->IsCurrent(*caller_)) return RunRequest();
  gate_->Identify(*context_, [self = shared_from_this()](absl::StatusOr<Caller> caller) {
    self->Identified(std::move(caller), /*has_request=*/true);
  });
}

void PipelineStream::RunRequest() {
  {
    const MessageBytes message(request_);
    PipelineOperation operation;
    const absl::Status parsed = ParsePipelineRequest(message.view(), &operation);
    RunOperation(operation, parsed);
  }
  request_.Clear();
  {
    absl::MutexLock lock(&mutex_);
    is_handling_ = false;
  }
  Pump();
}

void PipelineStream::RunOperation(const PipelineOperation& operation, const absl::Status& parsed) {
  const bool is_known = operation.number >= kPipelineNumberFirst && operation.number <= kPipelineNumberLast;
  const OperationRow* const row = is_known ? &kOperations[operation.number - kPipelineNumberFirst] : nullptr;
  const size_t room = row == nullptr ? kItemRoom : row->room;
  {
    absl::MutexLock lock(&mutex_);
    ++operations_;
    room_taken_ += room;
  }
  if (!parsed.ok()) return Send(operation.id, 0, room, parsed, {});
  if (row == nullptr) return Send(operation.id, 0, room, ValidationError("The request names no operation"), {});
  ItemAnswer answer = [self = shared_from_this(), id = operation.id, number = operation.number, room](
                          const absl::Status& status, const grpc::ByteBuffer& response) {
    self->Send(id, number, room, status, response);
  };
  row->run({*caller_, MakeRequestContext(context_), std::move(answer)}, operation.request);
}

void PipelineStream::Send(uint64_t id, uint32_t number, size_t room, const absl::Status& status,
                          grpc::ByteBuffer response) {
  if (!status.ok()) {
    number = kPipelineErrorNumber;
    response = TakeBytes(ToGrpcStatus(status).error_details());
  }
  const size_t bytes = response.Length();
  Answer answer{WithHead(PipelineResponseHead(id, number, bytes), response), room};
  {
    absl::MutexLock lock(&mutex_);
    unsent_bytes_ += answer.message.Length();
    unsent_.push_back(std::move(answer));
    if (is_broken_) Break();
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
  }
  Pump();
}

void PipelineStream::OnCancel() {
  {
    absl::MutexLock lock(&mutex_);
    Break();
  }
  Pump();
}

void PipelineStream::OnDone() {
  // `ended_` must not go while it runs.
  const std::shared_ptr<PipelineStream> self = shared_from_this();
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
    return Step::kWrite;
  }
  if (MayRead()) {
    is_reading_ = true;
    return Step::kRead;
  }
  if (!MayFinish()) return Step::kNothing;
  is_finished_ = true;
  return Step::kFinish;
}

grpc::Status PipelineStream::FinalStatus() const {
  absl::MutexLock lock(&mutex_);
  if (!refused_.ok()) return ToGrpcStatus(refused_);
  if (is_broken_) return ToGrpcStatus(CancelledError("The stream was cancelled"));
  if (is_draining_ && !has_read_all_) return ToGrpcStatus(ServiceUnavailableError("The daemon is stopping"));
  return grpc::Status::OK;
}

void PipelineStream::Pump() {
  // Once gRPC is called, the answer to that may come on another thread and end the stream: nobody finishes it as long
  // as `starting_` counts us, and the pointer keeps it a little longer.
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
        // Answers that wait go out together, behind this one.
        if (more_follow_) options.set_buffer_hint();
        StartWrite(&sent_.message, options);
        break;
      }
      case Step::kFinish:
        Finish(FinalStatus());
        return;
    }
  }
}

}  // namespace armature::daemon
