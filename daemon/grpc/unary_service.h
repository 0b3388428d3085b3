#ifndef ARMATURE_DAEMON_GRPC_UNARY_SERVICE_H_
#define ARMATURE_DAEMON_GRPC_UNARY_SERVICE_H_

// A gRPC service for operations over messages (daemon/api/unary_operation.h), all served by one handler, and the open
// streams of a service.

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "daemon/api/unary_operation.h"
#include "daemon/grpc/call_gate.h"
#include "engine/operations.h"
#include "grpcpp/impl/service_type.h"

namespace armature::daemon {

// The path of an operation's method, such as "/armature.api.v1.TableService/TagResource".
std::string MethodPath(const engine::Operation& operation);

// Thread-safety: thread-safe. Lifetime: `gate` must outlive the server.
class UnaryService : public grpc::Service {
 public:
  UnaryService(const CallGate* gate, std::span<const UnaryOperation> operations);

 protected:
  // Serves the operation, whose calls have one request and one answer, by the call that `open` makes.
  void AddGuarded(const engine::Operation& operation, GuardedHandler::Open open);
  // Serves the operation with `handler`, which gRPC takes over. For streams.
  void AddMethod(const engine::Operation& operation, grpc::internal::RpcMethod::RpcType type,
                 grpc::internal::MethodHandler* handler);

  const CallGate* gate() const { return gate_; }

 private:
  void Serve(const UnaryOperation& operation, OpenedCall* opened) const;

  const CallGate* const gate_;
  const std::vector<UnaryOperation> operations_;
  std::deque<std::string> paths_;  // gRPC keeps pointers to them
};

// All open streams of one kind. `Stream`: a reactor with Start(), called once, and Drain(), after which it ends soon.
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

#endif  // ARMATURE_DAEMON_GRPC_UNARY_SERVICE_H_
