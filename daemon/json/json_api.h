#ifndef ARMATURE_DAEMON_JSON_JSON_API_H_
#define ARMATURE_DAEMON_JSON_JSON_API_H_

// The operations of the original JSON protocol: a JSON document in, a JSON document out, the engine between.
//
// Knows nothing of HTTP but the status codes that errors carry.

#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "daemon/auth/access.h"
#include "engine/engine.h"

namespace armature::daemon {

struct JsonAnswer {
  unsigned status = 200;
  std::string body;
  uint64_t change_sequence = 0;  // of a write; 0: none
};

// What comes beside the document.
struct JsonCall {
  std::string_view operation;  // one that Knows() knows
  std::string body;
  engine::RequestContext context;
  std::string request_id;  // of the answer; what is wrong inside is logged under it
  std::shared_ptr<const Access> access;
  uint64_t at_least_sequence = 0;  // Query and Scan of a global index
  std::string host;                // where the client has found us: the header Host; for DescribeEndpoints
};

// Thread-safety: thread-safe. Lifetime: `engine` must outlive it.
class JsonApi {
 public:
  using Done = absl::AnyInvocable<void(JsonAnswer) &&>;

  explicit JsonApi(engine::Engine* engine) : engine_(engine) {}

  // Whether `target`, the value of X-Amz-Target ("DynamoDB_20120810.GetItem"), names an operation that is served. Then
  // `*operation` is a part of `target`.
  static bool Knows(std::string_view target, std::string_view* operation);

  // Does not block. `done` is called exactly once, on this or another thread.
  void Call(JsonCall call, Done done);

 private:
  engine::Engine* const engine_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_JSON_API_H_
