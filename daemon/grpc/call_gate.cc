#include "daemon/grpc/call_gate.h"

#include <optional>
#include <vector>

#include "daemon/grpc/error_map.h"
#include "grpc/grpc_security_constants.h"
#include "grpcpp/security/auth_context.h"
#include "storage/store/data_directory.h"

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

UnaryCall::UnaryCall(Caller caller, grpc::CallbackServerContext* context, grpc::ServerUnaryReactor* reactor,
                     RequestStats::Request counted)
    : caller_(std::move(caller)), reactor_(reactor), counted_(std::move(counted)) {
  if (counted_.trace() == nullptr) return;
  // The client gets an id of the call, to ask the operator about a slow one.
  request_id_ = std::make_shared<const std::string>(store::RandomUuid());
  context->AddTrailingMetadata("x-armature-request-id", *request_id_);
}

void UnaryCall::Finish(const absl::Status& status) const {
  const std::string_view request_id = request_id_ == nullptr ? std::string_view() : *request_id_;
  counted_.Finish(status, request_id);
  reactor_->Finish(ToGrpcStatus(status, request_id));
}

absl::StatusOr<engine::Engine*> AuditedCall::Allow() const {
  if (call_.trace() != nullptr) call_.trace()->set_table(table_);
  return call_.caller().Allow(operation_, table_);
}

absl::Status AuditedCall::AllowAlso(std::string_view table) const {
  return call_.caller().Allow(operation_, table).status();
}

void AuditedCall::Finish(const absl::Status& status) const {
  gate_->Audit(&call_.caller_,
               {.principal = {}, .peer = peer_, .operation = operation_, .table = table_, .result = status});
  call_.Finish(status);
}

void CallGate::Audit(const Caller* caller, AuditRecord record) const {
  if (audit_ == nullptr || !engine::FindOperation(record.operation)->is_audited) return;
  if (caller != nullptr && caller->access_ != nullptr) record.principal = caller->access_->principal();
  audit_->Record(record);
}

void CallGate::AskAuthenticator(const grpc::CallbackServerContext& context, Authenticator::Done done) const {
  const auto [first, last] = context.client_metadata().equal_range("authorization");
  std::optional<std::string_view> authorization;
  // Repeated metadata authenticates nobody.
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

void CallGate::Identify(const grpc::CallbackServerContext& context, Identified done) const {
  if (authenticator_ == nullptr) return std::move(done)(Caller(engine_, nullptr, 0));
  // Read before authentication: a reload in between then makes the caller outdated, not wrongly current.
  const uint64_t generation = authenticator_->generation();
  AskAuthenticator(context,
                   [engine = engine_, generation, done = std::move(done)](Authenticator::Result result) mutable {
                     if (!result.ok()) return std::move(done)(result.status());
                     std::move(done)(Caller(engine, *std::move(result), generation));
                   });
}

grpc::ServerUnaryReactor* CallGate::AdmitAudited(grpc::CallbackServerContext* context,
                                                 const engine::Operation& operation, std::string table,
                                                 AuditedWork work) const {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  AuditedCall call(Begin(context, reactor, operation.name), this, context->peer(), operation.name, std::move(table));
  if (authenticator_ == nullptr) {
    std::move(work)(call);
    return reactor;
  }
  AskAuthenticator(*context, [call = std::move(call), work = std::move(work)](Authenticator::Result result) mutable {
    if (!result.ok()) return call.Finish(result.status());
    call.call_.caller_.access_ = *std::move(result);
    std::move(work)(call);
  });
  return reactor;
}

}  // namespace armature::daemon
