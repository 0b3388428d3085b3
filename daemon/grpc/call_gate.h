#ifndef ARMATURE_DAEMON_GRPC_CALL_GATE_H_
#define ARMATURE_DAEMON_GRPC_CALL_GATE_H_

// The way from a gRPC handler to the engine: only through the question who calls and whether they may.

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

// A unary call whose sender is known. Copies are cheap and refer to the same call.
class Caller {
 public:
  // The engine, if the caller may run `operation` on `table` (see Access::Check); a handler has no other way to it.
  // Batches and transactions ask for each member. Errors: AccessDeniedException.
  absl::StatusOr<engine::Engine*> Allow(std::string_view operation, std::string_view table) const;

  // Ends the call. Once.
  void Finish(const absl::Status& status) const;

 private:
  friend class CallGate;
  friend class AuditedCall;
  Caller(engine::Engine* engine, grpc::ServerUnaryReactor* reactor, std::shared_ptr<const Access> access)
      : engine_(engine), reactor_(reactor), access_(std::move(access)) {}

  engine::Engine* engine_;
  grpc::ServerUnaryReactor* reactor_;
  std::shared_ptr<const Access> access_;  // null: everything is allowed
};

// A call about a table or the daemon itself: how it ended goes to the audit log, if there is one.
class AuditedCall {
 public:
  // As those of Caller.
  absl::StatusOr<engine::Engine*> Allow() const { return caller_.Allow(operation_, table_); }
  void Finish(const absl::Status& status) const;

 private:
  friend class CallGate;
  AuditedCall(Caller caller, AuditLog* log, std::string peer, std::string_view operation, std::string table)
      : caller_(std::move(caller)),
        log_(log),
        peer_(std::move(peer)),
        operation_(operation),
        table_(std::move(table)) {}

  Caller caller_;
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

  // Runs `work(const Caller&)` when the sender is known, on this or another thread; otherwise ends the call. Does not
  // block.
  template <class Work>
  grpc::ServerUnaryReactor* Admit(grpc::CallbackServerContext* context, Work work) const {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    if (authenticator_ == nullptr) {
      work(Caller(engine_, reactor, nullptr));
    } else {
      Authenticate(*context, reactor, std::move(work));
    }
    return reactor;
  }

  // The same for calls that are audited, refused ones included: runs `work(const AuditedCall&)`. `operation`: static
  // storage.
  using AuditedWork = absl::AnyInvocable<void(const AuditedCall&) &&>;
  grpc::ServerUnaryReactor* AdmitAudited(grpc::CallbackServerContext* context, std::string_view operation,
                                         std::string table, AuditedWork work) const;

 private:
  using Work = absl::AnyInvocable<void(const Caller&) &&>;
  void Authenticate(const grpc::CallbackServerContext& context, grpc::ServerUnaryReactor* reactor, Work work) const;
  void AskAuthenticator(const grpc::CallbackServerContext& context, Authenticator::Done done) const;

  engine::Engine* const engine_;
  Authenticator* const authenticator_;
  AuditLog* const audit_;
};

// For handlers of items: `run(engine, request)` with what was parsed, if the caller may.
template <class Request, class Run>
void RunAllowed(const Caller& caller, std::string_view operation, absl::StatusOr<Request> parsed, Run run) {
  if (!parsed.ok()) return caller.Finish(parsed.status());
  const absl::StatusOr<engine::Engine*> engine = caller.Allow(operation, parsed->table_name.value_or(""));
  if (!engine.ok()) return caller.Finish(engine.status());
  run(**engine, *std::move(parsed));
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_CALL_GATE_H_
