#ifndef ARMATURE_DAEMON_GRPC_CALL_GATE_H_
#define ARMATURE_DAEMON_GRPC_CALL_GATE_H_

// The path from a gRPC handler to the engine: a handler gets the engine only after authentication and authorisation.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "daemon/api/caller.h"
#include "daemon/auth/audit_log.h"
#include "daemon/auth/authenticator.h"
#include "daemon/auth/long_requests.h"
#include "daemon/http/h2_stream.h"
#include "daemon/net/memory_budget.h"
#include "daemon/rpc/rpc_call.h"
#include "daemon/telemetry/request_stats.h"
#include "engine/engine.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: must outlive the server. Its arguments must outlive it.
class CallGate {
 public:
  // `authenticator`: null without authentication. `audit`: null without an audit log. `budget`: null without a bound.
  // `stats`: null without statistics. `long_requests`: null if all requests run on the loops' threads.
  CallGate(engine::Engine* engine, Authenticator* authenticator, AuditLog* audit, const MemoryBudget* budget,
           RequestStats* stats, LongRequests* long_requests = nullptr)
      : engine_(engine),
        authenticator_(authenticator),
        audit_(audit),
        budget_(budget),
        stats_(stats),
        long_requests_(long_requests) {}

  // Authenticates the caller: calls `done` once, now or later on this thread, which is the one of the call's loop; not
  // if the loop has ended before. Errors: those of Authenticator::AuthenticateCall.
  using Identified = absl::AnyInvocable<void(absl::StatusOr<Caller>) &&>;
  void Identify(const std::shared_ptr<RpcCall>& call, Identified done) const;

  // True if the credentials have not been reloaded since the caller was authenticated.
  bool IsCurrent(const Caller& caller) const {
    return authenticator_ == nullptr || authenticator_->generation() == caller.generation();
  }

  // True for a request of `bytes` that must not run on a loop's thread, but by RunLong. `projection`: of the operation,
  // if it is known.
  bool IsLong(const Caller& caller, size_t bytes, LongRequests::Projection projection) const;
  // Runs `work` on another thread. False, with nothing run, if too many long requests wait.
  [[nodiscard]] bool RunLong(Task work) const { return long_requests_->TryRun(work); }

  // OK, or ServiceUnavailable if there is no room for a large answer.
  absl::Status CheckRoom(const RpcCall& call) const;
  // Counts a call that is refused for lack of memory. Returns the error.
  absl::Status Refused() const;
  // Number of these calls.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

  // Records the end of a call in the audit log, if there is one and it is about such operations. `caller`: null if it
  // is unknown. The principal of `record` is the caller's.
  void Audit(const Caller* caller, AuditRecord record) const;

  // Starts to count a request. Does nothing without statistics.
  RequestStats::Request Count(Front front, std::string_view operation, const RpcCall& call) const {
    return RequestStats::Begin(stats_, front, operation, call.peer().text);
  }

 private:
  engine::Engine* const engine_;
  Authenticator* const authenticator_;
  AuditLog* const audit_;
  const MemoryBudget* const budget_;
  RequestStats* const stats_;
  LongRequests* const long_requests_;
  mutable std::atomic<uint64_t> refused_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_CALL_GATE_H_
