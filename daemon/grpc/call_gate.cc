#include "daemon/grpc/call_gate.h"

#include "engine/operations.h"
#include "storage/base/held_memory.h"

namespace armature::daemon {

void CallGate::Audit(const Caller* caller, AuditRecord record) const {
  if (audit_ == nullptr || !engine::FindOperation(record.operation)->is_audited) return;
  if (caller != nullptr && caller->access() != nullptr) record.principal = caller->access()->principal();
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
         LongRequests::IsLong(bytes, projection, caller.access(), engine_->PolicyWeightMax());
}

absl::Status CallGate::CheckRoom(const RpcCall& call) const {
  const bool has_room = budget_ == nullptr || budget_->HasRoomFor(call.memory().client, kLargeAnswerBytes);
  return has_room ? absl::OkStatus() : Refused();
}

absl::Status CallGate::Refused() const {
  refused_.fetch_add(1, std::memory_order_relaxed);
  return NoMemoryForAnswerError();
}

}  // namespace armature::daemon
