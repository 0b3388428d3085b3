#ifndef ARMATURE_TESTS_BENCH_GRPC_FLOOR_CALL_H_
#define ARMATURE_TESTS_BENCH_GRPC_FLOOR_CALL_H_

// Calls of grpc_floor with one request and one answer, on gRPC's server library.

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/impl/codegen/call.h"
#include "grpcpp/impl/codegen/call_op_set.h"
#include "grpcpp/impl/codegen/callback_common.h"
#include "grpcpp/impl/codegen/server_callback_handlers.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "grpcpp/support/status.h"
#include "tests/bench/floor_methods.h"

namespace armature::bench {

// The bytes of a message, which has one slice or more.
std::string MessageBytes(const grpc::ByteBuffer& message);
// A message with one slice that takes over `bytes` without copying.
grpc::ByteBuffer TakeBytes(std::string bytes);

class GrpcFloorCall;

// A thread that ends a call has gRPC write the answer, and then wakes gRPC's threads for each of the call's last
// events. The thread that answers writes has many calls to end at once: here it wakes one thread of gRPC, which ends
// them all and takes up the events itself.
//
// Thread-safety: thread-safe. Lifetime: outlives the calls.
class GrpcFloorRelay {
 public:
  // With fewer open calls than this, a call is better ended where it is: that is one wake less for its client.
  static constexpr size_t kCallsMin = 4;

  void Opened() { open_.fetch_add(1, std::memory_order_relaxed); }
  void Closed() { open_.fetch_sub(1, std::memory_order_relaxed); }

  // Takes over the end of `call`, which is not asked for on one of gRPC's threads. False if the caller should end it
  // itself, because few calls are open.
  [[nodiscard]] bool Take(GrpcFloorCall* call);
  // Ends the calls taken so far, and `woken`, the one whose WakeForEnd led here.
  void Run(GrpcFloorCall* woken);

 private:
  std::atomic<size_t> open_ = 0;
  absl::Mutex mutex_;
  bool is_waking_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<GrpcFloorCall*> calls_ ABSL_GUARDED_BY(mutex_);  // without the one that wakes
};

// A call as gRPC has handed it over.
class GrpcFloorOpened;

// On the wire a unary call. As in a server that must know the caller before it reads the request, the method is
// registered as one with a stream of requests, and the call reads one message: gRPC reads the request of a unary method
// before it calls anybody.
//
// Thread-safety: one thread at a time. Lifetime: ends itself when gRPC is done with it.
class GrpcFloorCall final : public grpc::ServerUnaryReactor {
 public:
  GrpcFloorCall(GrpcFloorRelay* relay, const FloorServe* serve, GrpcFloorOpened* opened);

  // Reads the request and serves it.
  void Start();

  void OnDone() override;
  // OnDone is short enough for gRPC's threads.
  bool InternalInlineable() override { return true; }

 private:
  friend class GrpcFloorRelay;
  using NoOps = grpc::internal::CallOpSet<>;
  using ReadOps = grpc::internal::CallOpSet<grpc::internal::CallOpRecvMessage<grpc::ByteBuffer>>;

  void OnReadDone(bool ok);
  void Reply(std::optional<std::string> answer);
  // Ends the call, now or soon on one of gRPC's threads.
  void End(const grpc::Status& status);
  // Has gRPC call the relay's Run for this call, on one of its threads.
  void WakeForEnd();
  void EndNow() { Finish(end_status_); }

  GrpcFloorRelay* const relay_;
  const FloorServe* const serve_;
  GrpcFloorOpened* const opened_;
  grpc::internal::Call call_;
  ReadOps read_ops_;
  grpc::internal::CallbackWithSuccessTag read_tag_;
  grpc::ByteBuffer request_;
  grpc::Status end_status_;
  NoOps wake_ops_;
  grpc::internal::CallbackWithSuccessTag wake_tag_;
};

// Serves a method whose calls are GrpcFloorCalls. To be registered as CLIENT_STREAMING.
class GrpcFloorHandler final : public grpc::internal::MethodHandler {
 public:
  // Both outlive the calls.
  GrpcFloorHandler(GrpcFloorRelay* relay, const FloorServe* serve);
  void RunHandler(const HandlerParameter& parameter) override;

 private:
  GrpcFloorRelay* const relay_;
  const FloorServe* const serve_;
  grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer> unary_;
};

}  // namespace armature::bench

#endif  // ARMATURE_TESTS_BENCH_GRPC_FLOOR_CALL_H_
