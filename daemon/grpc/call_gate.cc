#include "daemon/grpc/call_gate.h"

#include <optional>
#include <vector>

#include "daemon/api/error_map.h"
#include "grpc/grpc_security_constants.h"
#include "grpcpp/security/auth_context.h"

namespace armature::daemon {
namespace {

std::string_view ViewOf(const grpc::string_ref& text) { return {text.data(), text.size()}; }

void AppendNames(const grpc::AuthContext& context, const char* property, std::vector<std::string>* names) {
  for (const grpc::string_ref& value : context.FindPropertyValues(property)) names->emplace_back(ViewOf(value));
}

}  // namespace

absl::StatusOr<engine::Engine*> Caller::Allow(std::string_view operation, std::string_view table) const {
  if (access_ != nullptr) {
    if (absl::Status status = access_->Check(operation, table); !status.ok()) return status;
  }
  return engine_;
}

void Caller::Finish(const absl::Status& status) const { reactor_->Finish(ToGrpcStatus(status)); }

void AuditedCall::Finish(const absl::Status& status) const {
  if (log_ != nullptr) {
    log_->Record({.principal = caller_.access_ == nullptr ? std::string_view() : caller_.access_->principal(),
                  .peer = peer_,
                  .operation = operation_,
                  .table = table_,
                  .result = status});
  }
  caller_.Finish(status);
}

void CallGate::AskAuthenticator(const grpc::CallbackServerContext& context, Authenticator::Done done) const {
  const auto [first, last] = context.client_metadata().equal_range("authorization");
  std::optional<std::string_view> authorization;
  // Several of them authenticate nobody.
  if (first != last) authorization = std::next(first) == last ? ViewOf(first->second) : std::string_view();
  std::vector<std::string> names;
  if (!authorization.has_value()) {
    const std::shared_ptr<const grpc::AuthContext> transport = context.auth_context();
    AppendNames(*transport, GRPC_X509_SAN_PROPERTY_NAME, &names);
    AppendNames(*transport, GRPC_X509_CN_PROPERTY_NAME, &names);
  }
  const std::string peer = context.peer();
  authenticator_->AuthenticateCall(
      {.authorization = authorization, .certificate_names = {names.begin(), names.end()}, .peer = peer},
      std::move(done));
}

void CallGate::Authenticate(const grpc::CallbackServerContext& context, grpc::ServerUnaryReactor* reactor,
                            Work work) const {
  AskAuthenticator(context, [engine = engine_, reactor, work = std::move(work)](Authenticator::Result result) mutable {
    if (!result.ok()) return reactor->Finish(ToGrpcStatus(result.status()));
    std::move(work)(Caller(engine, reactor, *std::move(result)));
  });
}

grpc::ServerUnaryReactor* CallGate::AdmitAudited(grpc::CallbackServerContext* context, std::string_view operation,
                                                 std::string table, AuditedWork work) const {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  AuditedCall call(Caller(engine_, reactor, nullptr), audit_, context->peer(), operation, std::move(table));
  if (authenticator_ == nullptr) {
    std::move(work)(call);
    return reactor;
  }
  AskAuthenticator(*context, [call = std::move(call), work = std::move(work)](Authenticator::Result result) mutable {
    if (!result.ok()) return call.Finish(result.status());
    call.caller_.access_ = *std::move(result);
    std::move(work)(call);
  });
  return reactor;
}

}  // namespace armature::daemon
