#ifndef ARMATURE_DAEMON_JSON_JSON_API_H_
#define ARMATURE_DAEMON_JSON_JSON_API_H_

// The operations of the original JSON protocol, from document to document, over the engine.
//
// Independent of HTTP, except for the status codes of errors.

#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "daemon/auth/access.h"
#include "engine/engine.h"

namespace armature::daemon {

struct JsonAnswer {
  unsigned status = 200;
  std::string body;
  uint64_t change_sequence = 0;  // of a write; 0: none
  absl::Status error = {};       // the error in the body, for logs
};

// A request with its context.
struct JsonCall {
  std::string_view operation;  // known to Knows()
  std::string body;
  engine::RequestContext context;
  std::string peer;        // "127.0.0.1:41234", for logs
  std::string request_id;  // of the answer; internal errors are logged with it
  std::shared_ptr<const Access> access;
  uint64_t at_least_sequence = 0;  // Query and Scan of a global index
  std::string host;                // header Host, for DescribeEndpoints
};

// Thread-safety: thread-safe. Lifetime: `engine` must outlive it.
class JsonApi {
 public:
  using Done = absl::AnyInvocable<void(JsonAnswer) &&>;

  explicit JsonApi(engine::Engine* engine) : engine_(engine) {}

  // True if `target`, the value of X-Amz-Target ("DynamoDB_20120810.GetItem"), names a supported operation. Then
  // `*operation` is a part of `target`.
  static bool Knows(std::string_view target, std::string_view* operation);

  // Does not block. `done` is called exactly once, on this or another thread.
  void Call(JsonCall call, Done done);

 private:
  engine::Engine* const engine_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_JSON_API_H_
