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
#include "daemon/grpc/message_operations.h"
#include "daemon/rpc/rpc_call.h"
#include "daemon/telemetry/request_stats.h"
#include "engine/operations.h"
#include "storage/base/held_memory.h"

namespace armature::daemon {

// Reads the request once the caller is known, and runs the operation when the client has ended its messages: only then
// it is known that there is one.
//
// Thread-safety: Finish is called by the operation, on any thread; the rest belongs to the thread of the call's loop.
// Lifetime: the call holds it, and so does its running operation.
class UnaryHandler final : public RpcHandler, public std::enable_shared_from_this<UnaryHandler> {
 public:
  // `operation` must outlive the call.
  UnaryHandler(const CallGate* gate, std::shared_ptr<RpcCall> call, const MessageOperation* operation)
      : gate_(gate), call_(std::move(call)), operation_(operation->facts), run_(&operation->run) {}
  ~UnaryHandler() override;

  // Call it once, before anything else.
  void Start();

  void OnMessage(InMessage message) override;
  void OnReadEnd() override;

 private:
  void Identified(absl::StatusOr<Caller> caller);
  // Starts to count the call, and gives it an id if slow requests are logged.
  void Begin();
  void Run();

  // End the call, with an error or with its answer, and count it. The memory of `answer` is its own, or else taken now.
  // The answer of a request that only reads becomes ServiceUnavailable if there is none.
  void Finish(const absl::Status& error);
  void Finish(OutMessage answer);
  void Audit(const absl::Status& result, std::string_view subject) const;
  // Counts the end of the call.
  void Count(const absl::Status& result);

  const CallGate* const gate_;
  const std::shared_ptr<RpcCall> call_;
  const engine::Operation* const operation_;
  const decltype(MessageOperation::run)* const run_;
  std::optional<Caller> caller_;
  InMessage request_;
  bool has_request_ = false;
  bool is_refused_ = false;  // by this class
  RequestStats::Request counted_;
  bool is_counting_ = false;  // its end is to be counted
  std::string request_id_;    // empty: the id is made if an internal error occurs
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_UNARY_HANDLER_H_
