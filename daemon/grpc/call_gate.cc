#include "daemon/grpc/call_gate.h"

#include "daemon/grpc/unary_handler.h"
#include "storage/base/held_memory.h"

namespace armature::daemon {

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

const Caller& UnaryCall::caller() const { return *handler_->caller_; }
RpcCall* UnaryCall::rpc() const { return handler_->call_.get(); }
MemorySource UnaryCall::memory() const { return handler_->call_->memory(); }
const std::shared_ptr<engine::RequestTrace>& UnaryCall::trace() const { return handler_->counted_.trace(); }
absl::Status UnaryCall::TakeMemory(size_t bytes, bool may_refuse) const {
  return handler_->TakeMemory(bytes, may_refuse);
}
void UnaryCall::Finish(const absl::Status& error) const { handler_->Finish(error); }
void UnaryCall::Finish(OutMessage answer) const { handler_->Finish(std::move(answer)); }

absl::StatusOr<engine::Engine*> AuditedCall::Allow() const {
  if (call_.trace() != nullptr) call_.trace()->set_table(table_);
  return call_.caller().Allow(operation_, table_);
}

engine::Engine* AuditedCall::ForStatements() const { return call_.caller().engine_; }

absl::Status AuditedCall::AllowAlso(std::string_view table) const {
  return call_.caller().Allow(operation_, table).status();
}

void AuditedCall::Audit(const absl::Status& result) const {
  gate_->Audit(
      &call_.caller(),
      {.principal = {}, .peer = call_.rpc()->peer().text, .operation = operation_, .table = table_, .result = result});
}

void AuditedCall::Finish(const absl::Status& error) const {
  Audit(error);
  call_.Finish(error);
}

void AuditedCall::Finish(OutMessage answer) const {
  Audit(absl::OkStatus());
  call_.Finish(std::move(answer));
}

void CallGate::Audit(const Caller* caller, AuditRecord record) const {
  if (audit_ == nullptr || !engine::FindOperation(record.operation)->is_audited) return;
  if (caller != nullptr && caller->access_ != nullptr) record.principal = caller->access_->principal();
  audit_->Record(record);
}

void CallGate::Identify(const std::shared_ptr<RpcCall>& call, Identified done) const {
  if (authenticator_ == nullptr) return std::move(done)(Caller(engine_, nullptr, 0));
  // Read before authentication: a reload in between then makes the caller outdated, not wrongly current.
  const uint64_t generation = authenticator_->generation();
  auto identified = [engine = engine_, generation, call, done = std::move(done)](Authenticator::Result result) mutable {
    absl::StatusOr<Caller> caller = result.ok() ? absl::StatusOr<Caller>(Caller(engine, *std::move(result), generation))
                                                : absl::StatusOr<Caller>(result.status());
    if (call->IsOwnThread()) return std::move(done)(std::move(caller));
    call->Post([caller = std::move(caller), done = std::move(done)]() mutable { std::move(done)(std::move(caller)); });
  };
  CallerIdentity identity{.authorization = call->authorization(), .certificate_names = {}, .peer = call->peer().text};
  if (!identity.authorization.has_value()) {
    const std::vector<std::string>& names = call->peer().certificate_names;
    identity.certificate_names.assign(names.begin(), names.end());
  }
  authenticator_->AuthenticateCall(identity, std::move(identified));
}

bool CallGate::IsLong(const Caller& caller, size_t bytes, LongRequests::Projection projection) const {
  return long_requests_ != nullptr &&
         LongRequests::IsLong(bytes, projection, caller.access_.get(), engine_->PolicyWeightMax());
}

absl::Status CallGate::CheckRoom(const RpcCall& call) const {
  const bool has_room = budget_ == nullptr || budget_->HasRoomFor(call.memory().client, kLargeAnswerBytes);
  return has_room ? absl::OkStatus() : Refused();
}

absl::Status CallGate::Refused() const {
  refused_.fetch_add(1, std::memory_order_relaxed);
  return NoMemoryForAnswerError();
}

void CallGate::Admit(const std::shared_ptr<RpcCall>& call, const engine::Operation& operation, Work work) const {
  std::make_shared<UnaryHandler>(this, call, operation, std::move(work))->Start();
}

}  // namespace armature::daemon
