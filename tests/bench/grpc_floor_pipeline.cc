#include "tests/bench/grpc_floor_pipeline.h"

#include <utility>

#include "daemon/api/item_messages.h"
#include "daemon/grpc/pipeline_stream.h"
#include "tests/bench/grpc_floor_call.h"

namespace armature::bench {

GrpcFloorPipeline* GrpcFloorPipeline::Open(const FloorServe* serve) {
  const auto stream = std::make_shared<GrpcFloorPipeline>(serve);
  stream->self_ = stream;
  stream->Step();
  return stream.get();
}

void GrpcFloorPipeline::OnReadDone(bool ok) {
  if (!ok) {
    {
      const absl::MutexLock lock(&mutex_);
      is_reading_ = false;
      has_read_all_ = true;
    }
    return Step();
  }
  std::string bytes = MessageBytes(request_);
  request_.Clear();
  daemon::PipelineOperation operation;
  static_cast<void>(daemon::ParsePipelineRequest(bytes, &operation));
  {
    const absl::MutexLock lock(&mutex_);
    is_reading_ = false;
    ++open_;
  }
  (*serve_)(std::move(bytes), [self = shared_from_this(), id = operation.id, number = operation.number](
                                  const std::optional<std::string>&) { self->Answer(id, number); });
  Step();
}

void GrpcFloorPipeline::Answer(uint64_t id, uint32_t number) {
  grpc::ByteBuffer answer = TakeBytes(daemon::PipelineResponseHead(id, number, /*result_bytes=*/0));
  {
    const absl::MutexLock lock(&mutex_);
    unsent_.push_back(std::move(answer));
  }
  Step();
}

void GrpcFloorPipeline::OnWriteDone(bool ok) {
  {
    const absl::MutexLock lock(&mutex_);
    is_writing_ = false;
    has_read_all_ = has_read_all_ || !ok;
    --open_;
  }
  Step();
}

void GrpcFloorPipeline::OnDone() { const std::shared_ptr<GrpcFloorPipeline> self = std::move(self_); }

void GrpcFloorPipeline::Step() {
  const std::shared_ptr<GrpcFloorPipeline> self = shared_from_this();
  const absl::MutexLock lock(&mutex_);
  if (is_finished_) return;
  if (!is_writing_ && !unsent_.empty()) {
    is_writing_ = true;
    sent_ = std::move(unsent_.front());
    unsent_.pop_front();
    grpc::WriteOptions options;
    if (!unsent_.empty()) options.set_buffer_hint();
    StartWrite(&sent_, options);
  }
  if (!is_reading_ && !has_read_all_ && open_ < daemon::PipelineLimits().room) {
    is_reading_ = true;
    StartRead(&request_);
  }
  if (has_read_all_ && open_ == 0 && !is_reading_ && !is_writing_) {
    is_finished_ = true;
    Finish(grpc::Status::OK);
  }
}

}  // namespace armature::bench
