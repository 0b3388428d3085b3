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
#include "daemon/api/unary_operation.h"
#include "daemon/auth/audit_log.h"
#include "daemon/auth/policy.h"
#include "daemon/message_json/json_writer.h"
#include "engine/engine.h"
#include "engine/operations.h"

namespace armature::daemon {

struct JsonAnswer {
  unsigned status = 200;
  std::string body;
  uint64_t change_sequence = 0;  // of a write; 0: none
  absl::Status error = {};       // the error in the body, for logs
  HeldMemory memory = {};        // of the body, taken before it was written
  bool may_refuse = false;  // nothing was changed, so the request may be refused if there is no memory for the body
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

// UnknownOperationException for an operation that this version does not have. The text names both.
absl::Status NotSupportedError(std::string_view operation);

// UnknownOperationException for a target, or the operation in it, that is not known to Knows(). Empty: there is no
// target.
absl::Status NoSuchOperationError(std::string_view target);

// The document as the answer, or ServiceUnavailable if there was no memory for it. `may_refuse`: see JsonAnswer.
JsonAnswer AnswerOf(JsonWriter* writer, bool may_refuse, std::string_view request_id);

// The operations behind the front end: JsonApi, or a fake in tests.
//
// Thread-safety: thread-safe. Lifetime: must outlive the front end that uses it.
class JsonOperations {
 public:
  using Done = absl::AnyInvocable<void(JsonAnswer) &&>;

  virtual ~JsonOperations() = default;

  // True if `target`, the value of X-Amz-Target ("DynamoDB_20120810.GetItem"), names a supported operation. Then
  // `*operation` is a part of `target`.
  virtual bool Knows(std::string_view target, std::string_view* operation) const = 0;
  // Does not block. `done` is called exactly once, on this or another thread.
  virtual void Call(JsonCall call, Done done) = 0;
  // The answer to `call` if it fails with `status` before it starts. The operation is known; body and access are not
  // set.
  virtual JsonAnswer Refuse(const JsonCall& call, const absl::Status& status) const = 0;
};

// The operations of the engine. Operations on tables are recorded in the audit log.
//
// Lifetime: its arguments must outlive it.
class JsonApi final : public JsonOperations {
 public:
  // `audit`: null without an audit log.
  explicit JsonApi(engine::Engine* engine, AuditLog* audit = nullptr) : engine_(engine), audit_(audit) {}

  bool Knows(std::string_view target, std::string_view* operation) const override;
  void Call(JsonCall call, Done done) override;
  JsonAnswer Refuse(const JsonCall& call, const absl::Status& status) const override;

 private:
  void RunOnMessages(const UnaryOperation& operation, JsonCall call, Done done);
  void Audit(const JsonCall& call, std::string_view table, const absl::Status& result) const;

  engine::Engine* const engine_;
  AuditLog* const audit_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_JSON_API_H_
