#ifndef ARMATURE_DAEMON_HTTP_ENGINE_OPERATIONS_H_
#define ARMATURE_DAEMON_HTTP_ENGINE_OPERATIONS_H_

// What the front serves: the operations over an engine.

#include <string_view>

#include "daemon/http/json_front.h"
#include "daemon/json/json_api.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: `engine` must outlive it.
class EngineOperations final : public JsonOperations {
 public:
  explicit EngineOperations(engine::Engine* engine) : api_(engine) {}

  bool Knows(std::string_view target, std::string_view* operation) const override;
  void Call(JsonCall call, JsonApi::Done done) override;
  JsonAnswer Error(const absl::Status& status, std::string_view request_id) const override;

 private:
  JsonApi api_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_ENGINE_OPERATIONS_H_
