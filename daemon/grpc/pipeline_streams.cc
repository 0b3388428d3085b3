#include "daemon/grpc/pipeline_streams.h"

#include <utility>
#include <vector>

namespace armature::daemon {

PipelineStream* PipelineStreams::Open(grpc::CallbackServerContext* context) {
  auto stream = std::make_shared<PipelineStream>(gate_, context, PipelineLimits{},
                                                 [this](PipelineStream* ended) { Forget(ended); });
  bool is_draining = false;
  {
    absl::MutexLock lock(&mutex_);
    open_.emplace(stream.get(), stream);
    is_draining = is_draining_;
  }
  if (is_draining) stream->Drain();
  stream->Start();
  return stream.get();
}

void PipelineStreams::Forget(PipelineStream* stream) {
  std::shared_ptr<PipelineStream> last;
  absl::MutexLock lock(&mutex_);
  const auto found = open_.find(stream);
  if (found == open_.end()) return;
  last = std::move(found->second);
  open_.erase(found);
}

void PipelineStreams::Drain() {
  std::vector<std::shared_ptr<PipelineStream>> streams;
  {
    absl::MutexLock lock(&mutex_);
    is_draining_ = true;
    for (const auto& [key, stream] : open_) streams.push_back(stream);
  }
  for (const std::shared_ptr<PipelineStream>& stream : streams) stream->Drain();
}

}  // namespace armature::daemon
