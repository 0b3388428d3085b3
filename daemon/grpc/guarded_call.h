#ifndef ARMATURE_DAEMON_GRPC_GUARDED_CALL_H_
#define ARMATURE_DAEMON_GRPC_GUARDED_CALL_H_

// One call with one request and one answer. Its request is read only after its caller is known.

#include <cstddef>
#include <functional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "daemon/grpc/answer_relay.h"
#include "daemon/grpc/call_ledger.h"
#include "grpcpp/impl/codegen/call.h"
#include "grpcpp/impl/codegen/call_op_set.h"
#include "grpcpp/impl/codegen/callback_common.h"
#include "grpcpp/impl/codegen/server_callback_handlers.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "grpcpp/support/status.h"

namespace armature::daemon {

// A call as gRPC has handed it over to a GuardedHandler, until a GuardedCall takes it.
class OpenedCall;

// On the wire a unary call. gRPC reads the request of a unary method before it calls anybody, but not that of a method
// with a stream of requests. So GuardedHandler serves a method that is registered as such a stream, and the call reads
// one message.
//
// gRPC is told of the reactor when the work begins, and not before. From then on it waits for the end of the call, and
// looks through all such waits of the process in each step of any call. A call that is parked costs it nothing.
//
// Thread-safety: one thread at a time. Lifetime: ends itself when gRPC is done with it. The ledger outlives it.
class GuardedCall final : public grpc::ServerUnaryReactor, private TrackedCall, private RelayedCall {
 public:
  GuardedCall(CallLedger* ledger, OpenedCall* opened);

  grpc::CallbackServerContext* context() const { return context_; }

  // Reads the request, then calls `done`, with the status to end the call with if the client sends none, or one that is
  // too large.
  using ReadDone = absl::AnyInvocable<void(const grpc::Status& status) &&>;
  void ReadRequest(ReadDone done);
  // See CallLedger.
  absl::Status CheckCalls() { return ledger_->CheckCalls(*this); }
  // OK, or ServiceUnavailable if there is no room for `bytes`.
  absl::Status CheckRoom(size_t bytes) { return ledger_->CheckRoom(Client(), bytes); }
  // The request that was read.
  grpc::ByteBuffer TakeRequest();
  // Counts the request against the budget until the response. ServiceUnavailable if there is no room for it.
  absl::Status HoldRequest(size_t bytes);

  // True if the call, whose request of this size has just been read, is to wait: see LateCalls.
  bool MustWait(size_t bytes) const { return ledger_->MustWait(*this, bytes); }
  // Tells that the call waits from now on, until Begin or End.
  void Park();

  // Tells that the work begins. From now on the client may cancel it.
  void Begin();

  grpc::ByteBuffer* response() { return response_; }
  // Where the memory for the response comes from.
  MemorySource memory() const { return {ledger_->budget(), Client()}; }
  // Takes memory for a response of `bytes`, before it is made. ServiceUnavailable if there is none and `may_refuse`.
  absl::Status TakeMemory(size_t bytes, bool may_refuse);
  // The same with memory that was taken already.
  void HoldMemory(HeldMemory memory) { response_memory_ = std::move(memory); }
  // Counts the response, and the request no longer. ServiceUnavailable, without a response, if there is no room for it
  // and `may_refuse`. Call it once, before End.
  absl::Status HoldResponse(bool may_refuse);
  // Ends the call, now or soon on one of gRPC's threads.
  void End(const grpc::Status& status);

  void OnDone() override;
  void OnCancel() override;
  // OnDone is short enough for gRPC's threads. In a thread of its own, gRPC's usual way, it would cost a quarter of a
  // GetItem.
  bool InternalInlineable() override { return true; }

 private:
  using NoOps = grpc::internal::CallOpSet<>;
  using ReadOps = grpc::internal::CallOpSet<grpc::internal::CallOpRecvMessage<grpc::ByteBuffer>>;

  void OnReadDone(bool ok);
  void WakeForEnd() override;
  void EndNow() override { Finish(end_status_); }

  CallLedger* const ledger_;
  OpenedCall* const opened_;
  grpc::CallbackServerContext* const context_;
  grpc::internal::Call call_;
  bool has_begun_ = false;
  ReadOps read_ops_;
  grpc::internal::CallbackWithSuccessTag read_tag_;
  grpc::ByteBuffer* const response_;
  grpc::ByteBuffer request_;
  ReadDone read_done_;
  HeldMemory share_;  // of the request
  HeldMemory response_memory_;
  // Used if the end is left to the relay.
  grpc::Status end_status_;
  NoOps wake_ops_;
  grpc::internal::CallbackWithSuccessTag wake_tag_;
};

// Serves a method whose calls are GuardedCalls. To be registered as CLIENT_STREAMING.
class GuardedHandler final : public grpc::internal::MethodHandler {
 public:
  // Makes the GuardedCall of a call.
  using Open = std::function<void(OpenedCall* opened)>;
  explicit GuardedHandler(Open open);
  void RunHandler(const HandlerParameter& parameter) override;

 private:
  const Open open_;
  grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer> unary_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_GUARDED_CALL_H_
