#ifndef ARMATURE_DAEMON_GRPC_STREAM_SET_H_
#define ARMATURE_DAEMON_GRPC_STREAM_SET_H_

// The open streams of one kind.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace armature::daemon {

// `Stream`: the handler of a call, with Start(), called once, which makes it the handler, and Drain(), after which it
// ends soon. Drain may be called on any thread.
//
// Thread-safety: thread-safe.
template <class Stream>
class StreamSet {
 public:
  // Starts the stream of a new call.
  void Open(const std::shared_ptr<Stream>& stream) {
    bool is_draining = false;
    {
      const absl::MutexLock lock(&mutex_);
      if (open_.size() >= sweep_at_) Sweep();
      open_.emplace_back(stream);
      is_draining = is_draining_;
    }
    stream->Start();
    if (is_draining) stream->Drain();
  }

  // Drains all streams, current and future, because the server is stopping.
  void Drain() {
    std::vector<std::weak_ptr<Stream>> streams;
    {
      const absl::MutexLock lock(&mutex_);
      is_draining_ = true;
      streams.swap(open_);
    }
    for (const std::weak_ptr<Stream>& each : streams) {
      if (const std::shared_ptr<Stream> stream = each.lock()) stream->Drain();
    }
  }

 private:
  static constexpr size_t kSweepAtLeast = 64;

  void Sweep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::erase_if(open_, [](const std::weak_ptr<Stream>& each) { return each.expired(); });
    sweep_at_ = std::max(kSweepAtLeast, 2 * open_.size());
  }

  absl::Mutex mutex_;
  std::vector<std::weak_ptr<Stream>> open_ ABSL_GUARDED_BY(mutex_);  // and some that have ended
  size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = kSweepAtLeast;
  bool is_draining_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_STREAM_SET_H_
