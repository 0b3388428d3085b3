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
#include "engine/engine.h"
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

 private:
  friend class CallGate;
  friend class AuditedCall;
  UnaryCall(Caller caller, grpc::ServerUnaryReactor* reactor) : caller_(std::move(caller)), reactor_(reactor) {}

  Caller caller_;
  grpc::ServerUnaryReactor* reactor_;
};

// A call about a table or the daemon itself: how it ended goes to the audit log, if there is one.
class AuditedCall {
 public:
  // As those of Caller and UnaryCall.
  absl::StatusOr<engine::Engine*> Allow() const { return call_.caller().Allow(operation_, table_); }
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
  // `authenticator`: null if everybody may do everything. `audit`: null if nothing is written.
  CallGate(engine::Engine* engine, Authenticator* authenticator, AuditLog* audit)
      : engine_(engine), authenticator_(authenticator), audit_(audit) {}

  // Runs `work(const UnaryCall&)` when the sender is known, on this or another thread; otherwise ends the call. Does
  // not block.
  template <class Work>
  grpc::ServerUnaryReactor* Admit(grpc::CallbackServerContext* context, Work work) const {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    if (authenticator_ == nullptr) {
      work(UnaryCall(Caller(engine_, nullptr, 0), reactor));
    } else {
      Identify(*context, [reactor, work = std::move(work)](absl::StatusOr<Caller> caller) mutable {
        if (!caller.ok()) return FinishRefused(reactor, caller.status());
        work(UnaryCall(*std::move(caller), reactor));
      });
    }
    return reactor;
  }

  // The same for calls that are audited, refused ones included: runs `work(const AuditedCall&)`. `operation`: static
  // storage.
  using AuditedWork = absl::AnyInvocable<void(const AuditedCall&) &&>;
  grpc::ServerUnaryReactor* AdmitAudited(grpc::CallbackServerContext* context, std::string_view operation,
                                         std::string table, AuditedWork work) const;

  // For calls that outlive one question: calls `done` once, on this or another thread. Does not block. Errors: those of
  // Authenticator::AuthenticateCall.
  using Identified = absl::AnyInvocable<void(absl::StatusOr<Caller>) &&>;
  void Identify(const grpc::CallbackServerContext& context, Identified done) const;

  // Whether the credentials are still those that the caller was identified by.
  bool IsCurrent(const Caller& caller) const {
    return authenticator_ == nullptr || authenticator_->generation() == caller.generation_;
  }

 private:
  static void FinishRefused(grpc::ServerUnaryReactor* reactor, const absl::Status& status);
  void AskAuthenticator(const grpc::CallbackServerContext& context, Authenticator::Done done) const;

  engine::Engine* const engine_;
  Authenticator* const authenticator_;
  AuditLog* const audit_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_CALL_GATE_H_
