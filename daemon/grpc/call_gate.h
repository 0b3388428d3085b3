#ifndef ARMATURE_DAEMON_GRPC_CALL_GATE_H_
#define ARMATURE_DAEMON_GRPC_CALL_GATE_H_

// The way from a gRPC handler to the engine: only through the question who calls and whether they may.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "daemon/auth/audit_log.h"
#include "daemon/auth/authenticator.h"
#include "daemon/telemetry/request_stats.h"
#include "engine/engine.h"
#include "engine/operations.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"

namespace armature::daemon {

// Who calls. Copies are cheap.
class Caller {
 public:
  // The engine, if the caller may run `operation` on `table` (see Access::Check); a handler has no other way to it.
  // Batches and transactions ask for each member. Errors: AccessDeniedException.
  absl::StatusOr<engine::Engine*> Allow(std::string_view operation, std::string_view table) const;

 private:
  friend class CallGate;
  friend class AuditedCall;
  Caller(engine::Engine* engine, std::shared_ptr<const Access> access, uint64_t generation)
      : engine_(engine), access_(std::move(access)), generation_(generation) {}

  engine::Engine* engine_;
  std::shared_ptr<const Access> access_;  // null: everything is allowed
  uint64_t generation_;                   // of the credentials
};

// A unary call whose sender is known. Copies are cheap and refer to the same call.
class UnaryCall {
 public:
  const Caller& caller() const { return caller_; }

  // Ends the call. Once.
  void Finish(const absl::Status& status) const;

  // For the engine: where the time of the call goes; may be null.
  const std::shared_ptr<engine::RequestTrace>& trace() const { return counted_.trace(); }

 private:
  friend class CallGate;
  friend class AuditedCall;
  UnaryCall(Caller caller, grpc::CallbackServerContext* context, grpc::ServerUnaryReactor* reactor,
            RequestStats::Request counted);

  Caller caller_;
  grpc::ServerUnaryReactor* reactor_;
  RequestStats::Request counted_;
  std::shared_ptr<const std::string> request_id_;  // null: it gets one if it fails inside
};

// A call about a table or the daemon itself: how it ended goes to the audit log, if there is one.
class AuditedCall {
 public:
  // As those of Caller and UnaryCall.
  absl::StatusOr<engine::Engine*> Allow() const;
  // Whether the caller may run the same operation on `table`, too. Errors: AccessDeniedException.
  absl::Status AllowAlso(std::string_view table) const;
  void Finish(const absl::Status& status) const;

 private:
  friend class CallGate;
  AuditedCall(UnaryCall call, AuditLog* log, std::string peer, std::string_view operation, std::string table)
      : call_(std::move(call)), log_(log), peer_(std::move(peer)), operation_(operation), table_(std::move(table)) {}

  UnaryCall call_;
  AuditLog* log_;
  std::string peer_;
  std::string_view operation_;  // static storage
  std::string table_;
};

// Thread-safety: thread-safe. Lifetime: must outlive the server, and what it is made of must outlive the gate.
class CallGate {
 public:
  // `authenticator`: null if everybody may do everything. `audit`: null if nothing is written. `stats`: null if nothing
  // is counted.
  CallGate(engine::Engine* engine, Authenticator* authenticator, AuditLog* audit, RequestStats* stats = nullptr)
      : engine_(engine), authenticator_(authenticator), audit_(audit), stats_(stats) {}

  // Runs `work(const UnaryCall&)` when the sender is known, on this or another thread; otherwise ends the call. Does
  // not block. `operation`: what is counted.
  template <class Work>
  grpc::ServerUnaryReactor* Admit(grpc::CallbackServerContext* context, std::string_view operation, Work work) const {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    UnaryCall call = Begin(context, reactor, operation);
    if (authenticator_ == nullptr) {
      work(call);
    } else {
      Identify(*context, [call = std::move(call), work = std::move(work)](absl::StatusOr<Caller> caller) mutable {
        if (!caller.ok()) return call.Finish(caller.status());
        call.caller_ = *std::move(caller);
        work(call);
      });
    }
    return reactor;
  }

  // The same for calls that are audited, refused ones included: runs `work(const AuditedCall&)`. Writes nothing about
  // an operation that is not audited. `operation`: one of engine::kOperations.
  using AuditedWork = absl::AnyInvocable<void(const AuditedCall&) &&>;
  grpc::ServerUnaryReactor* AdmitAudited(grpc::CallbackServerContext* context, const engine::Operation& operation,
                                         std::string table, AuditedWork work) const;

  // For calls that outlive one question: calls `done` once, on this or another thread. Does not block. Errors: those of
  // Authenticator::AuthenticateCall.
  using Identified = absl::AnyInvocable<void(absl::StatusOr<Caller>) &&>;
  void Identify(const grpc::CallbackServerContext& context, Identified done) const;

  // A line of the audit log, if there is one: how such a call ended.
  struct Ended {
    const Caller* caller = nullptr;  // null: it is not known who that was
    std::string peer;
    std::string_view operation;
    std::string_view table;
    absl::Status result;
  };
  void Audit(const Ended& ended) const;

  // Whether the credentials are still those that the caller was identified by.
  bool IsCurrent(const Caller& caller) const {
    return authenticator_ == nullptr || authenticator_->generation() == caller.generation_;
  }

  // Begins to count a request. Does nothing if nothing is counted.
  RequestStats::Request Count(Front front, std::string_view operation) const {
    return RequestStats::Begin(stats_, front, operation);
  }

 private:
  UnaryCall Begin(grpc::CallbackServerContext* context, grpc::ServerUnaryReactor* reactor,
                  std::string_view operation) const {
    return {Caller(engine_, nullptr, 0), context, reactor, Count(Front::kGrpc, operation)};
  }
  void AskAuthenticator(const grpc::CallbackServerContext& context, Authenticator::Done done) const;

  engine::Engine* const engine_;
  Authenticator* const authenticator_;
  AuditLog* const audit_;
  RequestStats* const stats_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_CALL_GATE_H_
