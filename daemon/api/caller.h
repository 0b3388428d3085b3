#ifndef ARMATURE_DAEMON_API_CALLER_H_
#define ARMATURE_DAEMON_API_CALLER_H_

// A caller and its rights: the only way from an operation to the engine, for both front ends.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "daemon/auth/policy.h"
#include "engine/access/resource_policy.h"
#include "engine/engine.h"
#include "engine/items/access_facts.h"
#include "engine/request_trace.h"

namespace armature::daemon {

// An authenticated caller. Copies are cheap.
//
// Thread-safety: immutable. Lifetime: the engine must outlive it.
class Caller {
 public:
  // `access`: null if all operations are permitted. `generation`: of the credentials, see Authenticator::generation.
  Caller(engine::Engine* engine, std::shared_ptr<const Access> access, uint64_t generation = 0)
      : engine_(engine), access_(std::move(access)), generation_(generation) {}

  // The engine, if the caller has the right (see Access). Operations have no other access to the engine. Batches and
  // transactions check each element. `work`: of all rights of a request, or null. The table is noted in `trace`, which
  // may be null. Errors: AccessDeniedException.
  absl::StatusOr<engine::Engine*> Allow(const engine::NeededRight& right, access::MatchWork* work = nullptr,
                                        engine::RequestTrace* trace = nullptr) const {
    if (trace != nullptr) trace->set_table(right.table);
    if (access_ == nullptr) return engine_;
    return Check(right, work);
  }
  // The engine, for an operation whose statements are authorised one by one (OperationContext::allow).
  engine::Engine* ForStatements() const { return engine_; }

  // True if the caller could change the policy of a resource if `policy` were its policy.
  bool MayChangePolicy(std::string_view arn, const access::ResourcePolicy& policy) const;

  // See Access::principal; empty without authentication.
  std::string principal() const { return access_ == nullptr ? std::string() : access_->principal(); }
  uint64_t generation() const { return generation_; }
  const Access* access() const { return access_.get(); }

 private:
  absl::StatusOr<engine::Engine*> Check(const engine::NeededRight& right, access::MatchWork* work) const;

  engine::Engine* engine_;
  std::shared_ptr<const Access> access_;
  uint64_t generation_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_CALLER_H_
