#include "daemon/api/caller.h"

namespace armature::daemon {

absl::StatusOr<engine::Engine*> Caller::Check(const engine::NeededRight& right, access::MatchWork* work) const {
  const auto facts = [&] { return right.facts(*engine_->database()); };
  const auto policy = engine_->FindResourcePolicy(right.table);
  absl::Status status = access_->Check({right.operation, right.table, right.index, facts, policy.get(), work});
  if (!status.ok()) return status;
  return engine_;
}

bool Caller::MayChangePolicy(std::string_view arn, const access::ResourcePolicy& policy) const {
  return access_ == nullptr || access_->Permits({"PutResourcePolicy", arn, {}, access::NoFacts, &policy});
}

}  // namespace armature::daemon
