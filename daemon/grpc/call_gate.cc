#include "daemon/grpc/call_gate.h"

#include <optional>
#include <vector>

#include "daemon/grpc/error_map.h"
#include "engine/request_queue.h"
#include "grpc/grpc_security_constants.h"
#include "grpcpp/security/auth_context.h"
#include "storage/base/api_error.h"
#include "storage/store/data_directory.h"

namespace armature::daemon {
namespace {

std::string_view ViewOf(const grpc::string_ref& text) { return {text.data(), text.size()}; }

// An operator gets through an overload.
bool MayWait(const engine::Operation& operation) {
  return operation.plane != engine::Plane::kTable && operation.plane != engine::Plane::kAdmin;
}

void AppendNames(const grpc::AuthContext& context, const char* property, std::vector<std::string>* names) {
  for (const grpc::string_ref& value : context.FindPropertyValues(property)) names->emplace_back(ViewOf(value));
}

}  // namespace

absl::StatusOr<engine::Engine*> Caller::Allow(const engine::NeededRight& right, access::MatchWork* work) const {
  if (access_ != nullptr) {
    const auto facts = [&] { return right.facts(*engine_->database()); };
    const auto policy = engine_->FindResourcePolicy(right.table);
    absl::Status status = access_->Check({right.operation, right.table, right.index, facts, policy.get(), work});
    if (!status.ok()) return status;
  }
  return engine_;
}

bool Caller::MayChangePolicy(std::string_view arn, const access::ResourcePolicy& policy) const {
  return access_ == nullptr || access_->Permits({"PutResourcePolicy", arn, {}, access::NoFacts, &policy});
}

UnaryCall::UnaryCall(Caller caller, GuardedCall* guarded, const engine::Operation& operation,
                     RequestStats::Request counted)
    : caller_(std::move(caller)), guarded_(guarded), operation_(&operation), counted_(std::move(counted)) {
  if (counted_.trace() == nullptr) return;
  // The client gets an id of the call, to ask the operator about a slow one.
  request_id_ = std::make_shared<const std::string>(store::RandomUuid());
  guarded->context()->AddTrailingMetadata("x-armature-request-id", *request_id_);
}

void UnaryCall::Finish(const absl::Status& status) const {
  absl::Status held = status;
  if (status.ok()) held = guarded_->HoldResponse(engine::OnlyReads(*operation_));
  const std::string_view request_id = request_id_ == nullptr ? std::string_view() : *request_id_;
  counted_.Finish(held, request_id);
  guarded_->End(EndOf(context(), held, request_id));
}

void UnaryCall::FinishUnread() const {
  const absl::Status error = SerializationError("The request cannot be read");
  counted_.Finish(error, {});
  guarded_->End(EndOf(context(), error));
}

absl::StatusOr<engine::Engine*> AuditedCall::Allow() const {
  if (call_.trace() != nullptr) call_.trace()->set_table(table_);
  return call_.caller().Allow(operation_, table_);
}

engine::Engine* AuditedCall::ForStatements() const { return call_.caller().engine_; }

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
    if (names.empty()) AppendNames(*transport, GRPC_X509_CN_PROPERTY_NAME, &names);
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

UnaryCall CallGate::Begin(GuardedCall* guarded, const engine::Operation& operation, Caller caller) const {
  return {std::move(caller), guarded, operation, Count(Front::kGrpc, operation.name)};
}

bool CallGate::IsLong(const Caller& caller, size_t bytes, LongRequests::Projection projection) const {
  return long_requests_ != nullptr &&
         LongRequests::IsLong(bytes, projection, caller.access_.get(), engine_->PolicyWeightMax());
}

bool CallGate::Run(const Caller& caller, size_t bytes, LongRequests::Projection projection, Task work) const {
  if (IsLong(caller, bytes, projection)) return long_requests_->TryRun(work);
  std::move(work)();
  return true;
}

void CallGate::Admit(OpenedCall* opened, const engine::Operation& operation, Work work) const {
  auto* const guarded = new GuardedCall(ledger_, opened);  // ends itself
  if (absl::Status surplus = guarded->CheckCalls(); !surplus.ok()) {
    return Begin(guarded, operation, Caller(engine_, nullptr, 0)).Finish(surplus);
  }
  auto run = [this, &operation, guarded, work = std::move(work)](absl::StatusOr<Caller> caller) mutable {
    if (absl::Status room =
            caller.ok() && HasLargeAnswer(operation) ? guarded->CheckRoom(kLargeAnswerBytes) : caller.status();
        !room.ok()) {
      Audit(caller.ok() ? &*caller : nullptr, {.principal = {},
                                               .peer = guarded->context()->peer(),
                                               .operation = operation.name,
                                               .table = {},
                                               .result = room});
      return Begin(guarded, operation, Caller(engine_, nullptr, 0)).Finish(room);
    }
    guarded->ReadRequest([this, &operation, guarded, caller = *std::move(caller),
                          work = std::move(work)](const grpc::Status& read) mutable {
      if (!read.ok()) return guarded->End(read);
      const grpc::ByteBuffer request = guarded->TakeRequest();
      const UnaryCall call = Begin(guarded, operation, std::move(caller));
      if (absl::Status room = guarded->HoldRequest(request.Length()); !room.ok()) return call.Finish(room);
      const bool is_parked = MayWait(operation) && guarded->MustWait(request.Length());
      const LongRequests::Projection projection = LongRequests::ProjectionOf(operation.name);
      if (!is_parked && !IsLong(call.caller(), request.Length(), projection)) {
        guarded->Begin();
        return std::move(work)(call, request);
      }
      auto begin = [this, guarded, call, request, projection, work = std::move(work)]() mutable {
        guarded->Begin();
        const bool runs = Run(call.caller(), request.Length(), projection,
                              [call, request, work = std::move(work)]() mutable { std::move(work)(call, request); });
        if (!runs) call.Finish(engine::TooManyWaitError());
      };
      if (!is_parked) return begin();
      guarded->Park();
      ledger_->late()->Park(std::move(begin), [call](const absl::Status& status) { call.Finish(status); });
    });
  };
  if (authenticator_ == nullptr) {
    run(Caller(engine_, nullptr, 0));
  } else {
    Identify(*guarded->context(), std::move(run));
  }
}

}  // namespace armature::daemon
