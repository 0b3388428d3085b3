#ifndef ARMATURE_DAEMON_GRPC_PIPELINE_STREAMS_H_
#define ARMATURE_DAEMON_GRPC_PIPELINE_STREAMS_H_

// All Pipeline streams of a server.

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/pipeline_stream.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: must outlive the server; `gate` must outlive it.
class PipelineStreams {
 public:
  explicit PipelineStreams(const CallGate* gate) : gate_(gate) {}

  // A stream for a new call, which owns itself until the call has ended.
  PipelineStream* Open(grpc::CallbackServerContext* context);

  // Streams answer what they have read and end, those to come at once: the server is about to stop.
  void Drain();

 private:
  void Forget(PipelineStream* stream);

  const CallGate* const gate_;
  absl::Mutex mutex_;
  absl::flat_hash_map<PipelineStream*, std::shared_ptr<PipelineStream>> open_ ABSL_GUARDED_BY(mutex_);
  bool is_draining_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_PIPELINE_STREAMS_H_
