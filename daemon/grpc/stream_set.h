#ifndef ARMATURE_DAEMON_GRPC_STREAM_SET_H_
#define ARMATURE_DAEMON_GRPC_STREAM_SET_H_

// All open streams of one kind.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace armature::daemon {

// `Stream`: a reactor with Start(), called once, and Drain(), after which it ends soon.
//
// Thread-safety: thread-safe. Lifetime: must outlive the server.
template <class Stream>
class StreamSet {
 public:
  // Called by a stream as its last action.
  using Ended = std::function<void(Stream*)>;

  // Starts a stream for a new call, created by `make(Ended)` as a shared pointer. The set holds it until the call has
  // ended.
  template <class Make>
  Stream* Open(Make make) {
    const std::shared_ptr<Stream> stream = make(Ended([this](Stream* ended) { Forget(ended); }));
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

  // Drains all streams, current and future, because the server is stopping.
  void Drain() {
    std::vector<std::shared_ptr<Stream>> streams;
    {
      absl::MutexLock lock(&mutex_);
      is_draining_ = true;
      for (const auto& [key, stream] : open_) streams.push_back(stream);
    }
    for (const std::shared_ptr<Stream>& stream : streams) stream->Drain();
  }

 private:
  void Forget(Stream* stream) {
    std::shared_ptr<Stream> last;
    absl::MutexLock lock(&mutex_);
    const auto found = open_.find(stream);
    if (found == open_.end()) return;
    last = std::move(found->second);
    open_.erase(found);
  }

  absl::Mutex mutex_;
  absl::flat_hash_map<Stream*, std::shared_ptr<Stream>> open_ ABSL_GUARDED_BY(mutex_);
  bool is_draining_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_STREAM_SET_H_
