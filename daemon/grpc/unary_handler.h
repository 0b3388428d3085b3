#ifndef ARMATURE_DAEMON_GRPC_UNARY_HANDLER_H_
#define ARMATURE_DAEMON_GRPC_UNARY_HANDLER_H_

// A call with one request and one answer, from its head to its end.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/rpc/rpc_call.h"
#include "daemon/telemetry/request_stats.h"
#include "engine/operations.h"
#include "storage/base/held_memory.h"

namespace armature::daemon {

// Reads the request once the caller is known, and runs the work when the client has ended its messages: only then it is
// known that there is one.
//
// Thread-safety: TakeMemory and Finish are called by the work, on one thread at a time; the rest belongs to the thread
// of the call's loop. Lifetime: the call holds it, and so does each UnaryCall.
class UnaryHandler final : public RpcHandler, public std::enable_shared_from_this<UnaryHandler> {
 public:
  UnaryHandler(const CallGate* gate, std::shared_ptr<RpcCall> call, const engine::Operation& operation,
               CallGate::Work work)
      : gate_(gate), call_(std::move(call)), operation_(&operation), work_(std::move(work)) {}
  ~UnaryHandler() override;

  // Call it once, before anything else.
  void Start();

  void OnMessage(InMessage message) override;
  void OnReadEnd() override;

 private:
  friend class UnaryCall;

  void Identified(absl::StatusOr<Caller> caller);
  // Starts to count the call, and gives it an id if slow requests are logged.
  void Begin();
  void Run();

  // See UnaryCall.
  absl::Status TakeMemory(size_t bytes, bool may_refuse);
  void Finish(const absl::Status& error);
  void Finish(OutMessage answer);
  // Counts the end of the call.
  void Count(const absl::Status& result);

  const CallGate* const gate_;
  const std::shared_ptr<RpcCall> call_;
  const engine::Operation* const operation_;
  CallGate::Work work_;
  std::optional<Caller> caller_;
  InMessage request_;
  bool has_request_ = false;
  bool is_refused_ = false;  // by this class
  HeldMemory answer_memory_;
  RequestStats::Request counted_;
  bool is_counting_ = false;  // its end is to be counted
  std::string request_id_;    // empty: the id is made if an internal error occurs
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_UNARY_HANDLER_H_
