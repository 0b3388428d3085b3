#include "daemon/json_front/engine_operations.h"

#include <memory>
#include <string>
#include <utility>

#include "daemon/json/error_json.h"
#include "engine/operations.h"

namespace armature::daemon {
namespace {

// Records the table of one call, which the front end learns only from the access check. The check comes before the
// engine, and the record is read after it.
class RememberingAccess final : public Access {
 public:
  explicit RememberingAccess(std::shared_ptr<const Access> access) : access_(std::move(access)) {}

  const std::string& principal() const override { return access_ == nullptr ? nobody_ : access_->principal(); }
  absl::Status Check(std::string_view operation, std::string_view table) const override {
    table_ = table;
    return access_ == nullptr ? absl::OkStatus() : access_->Check(operation, table);
  }
  const std::string& table() const { return table_; }

 private:
  const std::shared_ptr<const Access> access_;
  const std::string nobody_;
  mutable std::string table_;
};

}  // namespace

bool EngineOperations::Knows(std::string_view target, std::string_view* operation) const {
  return JsonApi::Knows(target, operation);
}

bool EngineOperations::IsAudited(std::string_view operation) const {
  const engine::Operation* const known = engine::FindOperation(operation);
  return audit_ != nullptr && known != nullptr && known->is_audited;
}

void EngineOperations::Call(JsonCall call, JsonApi::Done done) {
  if (!IsAudited(call.operation)) return api_.Call(std::move(call), std::move(done));
  const auto access = std::make_shared<const RememberingAccess>(std::move(call.access));
  call.access = access;
  auto audited = [this, access, peer = call.peer, operation = std::string(call.operation),
                  done = std::move(done)](JsonAnswer answer) mutable {
    audit_->Record({.principal = access->principal(),
                    .peer = peer,
                    .operation = operation,
                    .table = access->table(),
                    .result = answer.error});
    std::move(done)(std::move(answer));
  };
  api_.Call(std::move(call), std::move(audited));
}

JsonAnswer EngineOperations::Refuse(const JsonCall& call, const absl::Status& status) const {
  if (IsAudited(call.operation)) {
    audit_->Record({.principal = {}, .peer = call.peer, .operation = call.operation, .table = {}, .result = status});
  }
  return ErrorAnswer(status, call.request_id);
}

}  // namespace armature::daemon
