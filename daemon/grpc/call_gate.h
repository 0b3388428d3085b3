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
#include "daemon/auth/audit_log.h"
#include "daemon/auth/authenticator.h"
#include "daemon/auth/long_requests.h"
#include "daemon/http/h2_stream.h"
#include "daemon/net/memory_budget.h"
#include "daemon/rpc/rpc_call.h"
#include "daemon/telemetry/request_stats.h"
#include "engine/access/resource_policy.h"
#include "engine/engine.h"
#include "engine/items/access_facts.h"
#include "engine/operations.h"

namespace armature::daemon {

class CallGate;
class UnaryHandler;

// An authenticated caller. Copies are cheap.
class Caller {
 public:
  // The engine, if the caller has the right (see Access). Handlers have no other access to the engine. Batches and
  // transactions check each element. `work`: of all rights of a request, or null. Errors: AccessDeniedException.
  absl::StatusOr<engine::Engine*> Allow(const engine::NeededRight& right, access::MatchWork* work = nullptr) const;
  // The same for an operation that is not about items. `table`: name or ARN; empty for none.
  absl::StatusOr<engine::Engine*> Allow(std::string_view operation, std::string_view table) const {
    return Allow({operation, table});
  }

  // True if the caller could change the policy of a resource if `policy` were its policy.
  bool MayChangePolicy(std::string_view arn, const access::ResourcePolicy& policy) const;

  // See Access::principal.
  std::string principal() const { return access_ == nullptr ? std::string() : access_->principal(); }

 private:
  friend class CallGate;
  friend class AuditedCall;
  Caller(engine::Engine* engine, std::shared_ptr<const Access> access, uint64_t generation)
      : engine_(engine), access_(std::move(access)), generation_(generation) {}

  engine::Engine* engine_;
  std::shared_ptr<const Access> access_;  // null: all operations are permitted
  uint64_t generation_;                   // generation of the credentials
};

// A unary call with a known caller and its request. Copies are cheap and refer to the same call.
class UnaryCall {
 public:
  const Caller& caller() const;
  // Exists as long as the call.
  RpcCall* rpc() const;

  // Takes the memory for an answer of `bytes` before it is made. `may_refuse`: the request has changed nothing.
  // Errors: ServiceUnavailable, never if it may not be refused.
  absl::Status TakeMemory(size_t bytes, bool may_refuse) const;
  // Where the memory for the answer comes from.
  MemorySource memory() const;

  // Ends the call, with an error or with its answer. Call one of them, once, on any thread. The memory of `answer` is
  // its own, or else that of TakeMemory, or else taken now. The answer of a request that only reads becomes
  // ServiceUnavailable if there is none.
  void Finish(const absl::Status& error) const;
  void Finish(OutMessage answer) const;

  // Trace of the call's waits, for the engine; may be null.
  const std::shared_ptr<engine::RequestTrace>& trace() const;

 private:
  friend class UnaryHandler;
  friend class AuditedCall;
  explicit UnaryCall(std::shared_ptr<UnaryHandler> handler) : handler_(std::move(handler)) {}

  std::shared_ptr<UnaryHandler> handler_;
};

// A call on a table or on the daemon. Its result is recorded in the audit log, if there is one.
class AuditedCall {
 public:
  // As in Caller and UnaryCall.
  absl::StatusOr<engine::Engine*> Allow() const;
  // The engine, for an operation whose statements are authorised one by one (OperationContext::allow).
  engine::Engine* ForStatements() const;
  // OK if the caller may run the same operation on `table`, too. Errors: AccessDeniedException.
  absl::Status AllowAlso(std::string_view table) const;
  absl::Status TakeMemory(size_t bytes, bool may_refuse) const { return call_.TakeMemory(bytes, may_refuse); }
  void Finish(const absl::Status& error) const;
  void Finish(OutMessage answer) const;

 private:
  friend class CallGate;
  AuditedCall(UnaryCall call, const CallGate* gate, std::string_view operation, std::string table)
      : call_(std::move(call)), gate_(gate), operation_(operation), table_(std::move(table)) {}

  void Audit(const absl::Status& result) const;

  UnaryCall call_;
  const CallGate* gate_;
  std::string_view operation_;  // static storage
  std::string table_;
};

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

  // Handles a call with one request and one answer: authenticates the caller, then reads the request and runs `work`
  // with it in its turn, on this or another thread. Ends the call if that fails, or if there is no memory for a large
  // answer. Refusals of an audited operation are recorded. Call it within OpenCall.
  using Work = absl::AnyInvocable<void(const UnaryCall& call, std::string request) &&>;
  void Admit(const std::shared_ptr<RpcCall>& call, const engine::Operation& operation, Work work) const;

  // Makes an audited call of an admitted one. Records nothing for an operation that is not audited.
  AuditedCall WithAudit(UnaryCall call, const engine::Operation& operation, std::string table) const {
    return {std::move(call), this, operation.name, std::move(table)};
  }

  // For calls that Admit does not handle: calls `done` once, now or later on this thread, which is the one of the
  // call's loop; not if the loop has ended before. Errors: those of Authenticator::AuthenticateCall.
  using Identified = absl::AnyInvocable<void(absl::StatusOr<Caller>) &&>;
  void Identify(const std::shared_ptr<RpcCall>& call, Identified done) const;

  // True if the credentials have not been reloaded since the caller was authenticated.
  bool IsCurrent(const Caller& caller) const {
    return authenticator_ == nullptr || authenticator_->generation() == caller.generation_;
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
