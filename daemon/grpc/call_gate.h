#ifndef ARMATURE_DAEMON_GRPC_CALL_GATE_H_
#define ARMATURE_DAEMON_GRPC_CALL_GATE_H_

// The path from a gRPC handler to the engine: a handler gets the engine only after authentication and authorisation.

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
#include "daemon/grpc/guarded_call.h"
#include "daemon/telemetry/request_stats.h"
#include "engine/access/resource_policy.h"
#include "engine/engine.h"
#include "engine/items/access_facts.h"
#include "engine/operations.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"

namespace armature::daemon {

class CallGate;

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

// A unary call with a known caller. Copies are cheap and refer to the same call.
class UnaryCall {
 public:
  const Caller& caller() const { return caller_; }
  grpc::CallbackServerContext* context() const { return guarded_->context(); }
  grpc::ByteBuffer* response() const { return guarded_->response(); }

  // Takes the memory for a response of `bytes` before it is made. `may_refuse`: the request has changed nothing.
  // Errors: ServiceUnavailable, never if it may not be refused.
  absl::Status TakeMemory(size_t bytes, bool may_refuse) const { return guarded_->TakeMemory(bytes, may_refuse); }
  // The same with memory that was taken already.
  void HoldMemory(HeldMemory memory) const { guarded_->HoldMemory(std::move(memory)); }
  // Where the memory for the response comes from.
  MemorySource memory() const { return guarded_->memory(); }

  // Ends the call, with the response if the status is OK. Call it once.
  void Finish(const absl::Status& status) const;

  // Ends a call whose request is no message of its type: SerializationException.
  void FinishUnread() const;

  // Trace of the call's waits, for the engine; may be null.
  const std::shared_ptr<engine::RequestTrace>& trace() const { return counted_.trace(); }

 private:
  friend class CallGate;
  friend class AuditedCall;
  UnaryCall(Caller caller, GuardedCall* guarded, const engine::Operation& operation, RequestStats::Request counted);

  Caller caller_;
  GuardedCall* guarded_;
  const engine::Operation* operation_;
  RequestStats::Request counted_;
  std::shared_ptr<const std::string> request_id_;  // null: the id is made if an internal error occurs
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
  grpc::ByteBuffer* response() const { return call_.response(); }
  absl::Status TakeMemory(size_t bytes, bool may_refuse) const { return call_.TakeMemory(bytes, may_refuse); }
  void Finish(const absl::Status& status) const;

 private:
  friend class CallGate;
  AuditedCall(UnaryCall call, const CallGate* gate, std::string peer, std::string_view operation, std::string table)
      : call_(std::move(call)), gate_(gate), peer_(std::move(peer)), operation_(operation), table_(std::move(table)) {}

  UnaryCall call_;
  const CallGate* gate_;
  std::string peer_;
  std::string_view operation_;  // static storage
  std::string table_;
};

// Thread-safety: thread-safe. Lifetime: must outlive the server. Its arguments must outlive it.
class CallGate {
 public:
  // `authenticator`: null without authentication. `audit`: null without an audit log. `stats`: null without statistics.
  // `long_requests`: null if all requests run on gRPC's threads.
  CallGate(engine::Engine* engine, Authenticator* authenticator, AuditLog* audit, CallLedger* ledger,
           RequestStats* stats, LongRequests* long_requests = nullptr)
      : engine_(engine),
        authenticator_(authenticator),
        audit_(audit),
        ledger_(ledger),
        stats_(stats),
        long_requests_(long_requests) {}

  // Authenticates the caller, then reads the request and runs `work` with it, on this or another thread. Ends the call
  // if that fails, or if there is no memory for the request. Does not block. Refusals of an audited operation are
  // recorded, but for those of a connection with too many calls.
  using Work = absl::AnyInvocable<void(const UnaryCall& call, const grpc::ByteBuffer& request) &&>;
  void Admit(OpenedCall* opened, const engine::Operation& operation, Work work) const;

  // Makes an audited call of an admitted one. Records nothing for an operation that is not audited.
  AuditedCall WithAudit(UnaryCall call, std::string peer, const engine::Operation& operation, std::string table) const {
    return {std::move(call), this, std::move(peer), operation.name, std::move(table)};
  }

  // For long calls that check access repeatedly: calls `done` once, on this or another thread. Does not block. Errors:
  // those of Authenticator::AuthenticateCall.
  using Identified = absl::AnyInvocable<void(absl::StatusOr<Caller>) &&>;
  void Identify(const grpc::CallbackServerContext& context, Identified done) const;

  // Runs `work`, for a request of `bytes`: on this thread if it is short, else on another one. `projection`: of the
  // operation, if it is known. False, with nothing run, if too many long requests wait.
  [[nodiscard]] bool Run(const Caller& caller, size_t bytes, LongRequests::Projection projection, Task work) const;

  // Records the end of a call in the audit log, if there is one and it is about such operations. `caller`: null if it
  // is unknown. The principal of `record` is the caller's.
  void Audit(const Caller* caller, AuditRecord record) const;

  // True if the credentials have not been reloaded since the caller was authenticated.
  bool IsCurrent(const Caller& caller) const {
    return authenticator_ == nullptr || authenticator_->generation() == caller.generation_;
  }

  CallLedger* ledger() const { return ledger_; }

  // Starts to count a request. Does nothing without statistics.
  RequestStats::Request Count(Front front, std::string_view operation) const {
    return RequestStats::Begin(stats_, front, operation);
  }

 private:
  // True for a request that must not run on a thread of gRPC.
  bool IsLong(const Caller& caller, size_t bytes, LongRequests::Projection projection) const;
  // Starts to count a call, and gives it an id if slow requests are logged.
  UnaryCall Begin(GuardedCall* guarded, const engine::Operation& operation, Caller caller) const;
  void AskAuthenticator(const grpc::CallbackServerContext& context, Authenticator::Done done) const;

  engine::Engine* const engine_;
  Authenticator* const authenticator_;
  AuditLog* const audit_;
  CallLedger* const ledger_;
  RequestStats* const stats_;
  LongRequests* const long_requests_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_CALL_GATE_H_
