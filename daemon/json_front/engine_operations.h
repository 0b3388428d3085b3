#ifndef ARMATURE_DAEMON_JSON_FRONT_ENGINE_OPERATIONS_H_
#define ARMATURE_DAEMON_JSON_FRONT_ENGINE_OPERATIONS_H_

// The engine's operations behind the JSON front end. Operations on tables are recorded in the audit log.

#include <string_view>

#include "daemon/auth/audit_log.h"
#include "daemon/json/json_api.h"
#include "daemon/json_front/json_front.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: its arguments must outlive it.
class EngineOperations final : public JsonOperations {
 public:
  // `audit`: null without an audit log.
  EngineOperations(engine::Engine* engine, AuditLog* audit) : api_(engine), audit_(audit) {}

  bool Knows(std::string_view target, std::string_view* operation) const override;
  void Call(JsonCall call, JsonApi::Done done) override;
  JsonAnswer Refuse(const JsonCall& call, const absl::Status& status) const override;

 private:
  bool IsAudited(std::string_view operation) const;

  JsonApi api_;
  AuditLog* const audit_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_FRONT_ENGINE_OPERATIONS_H_
