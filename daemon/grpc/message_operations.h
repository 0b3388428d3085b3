#ifndef ARMATURE_DAEMON_GRPC_MESSAGE_OPERATIONS_H_
#define ARMATURE_DAEMON_GRPC_MESSAGE_OPERATIONS_H_

// Operations as functions from the bytes of a request message to those of the answer, independent of their transport: a
// call of their own, or a message in a stream.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "daemon/api/answer_page.h"
#include "daemon/api/caller.h"
#include "daemon/api/unary_operation.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/http/h2_stream.h"
#include "daemon/rpc/rpc_call.h"
#include "engine/items/request.h"
#include "engine/operations.h"

namespace armature::daemon {

// Deadline, cancellation and memory of a call for the engine. `call` must live until the request is done. `trace` may
// be null.
engine::RequestContext MakeRequestContext(const RpcCall* call, std::shared_ptr<engine::RequestTrace> trace);

// Receives the end of an operation, once, on any thread.
class MessageAnswer {
 public:
  // An error, or the encoded response with memory that was taken for it. `subject`: the resource that the audit log
  // shows; null for operations that are not audited, and if the request cannot be read. It lives during the call.
  using Done = absl::AnyInvocable<void(const absl::Status& status, OutMessage response, const std::string* subject) &&>;

  explicit MessageAnswer(Done done) : done_(std::move(done)) {}

  void Fail(const absl::Status& error, const std::string* subject = nullptr) && {
    std::move(done_)(error, {}, subject);
  }
  void Send(OutMessage response, const std::string* subject = nullptr) && {
    std::move(done_)(absl::OkStatus(), std::move(response), subject);
  }
  // For operations on items.
  template <class Result>
  void Send(Result* result) &&;
  void SendPage(AnswerPage* page, const engine::ReadResult& result) &&;

 private:
  Done done_;
};

// One running operation. The call of `context` must live until `answer` is called.
struct MessageCall {
  Caller caller;
  engine::RequestContext context;
  MessageAnswer answer;
  std::string_view authority = {};  // see OperationContext
  uint64_t at_least_sequence = 0;   // messages have a field
};

struct MessageOperation {
  const engine::Operation* facts;
  // Starts. Does not block. The call is moved from; `request` is used during the call only. Errors, through the answer:
  // SerializationException, AccessDeniedException, and those of the operation.
  std::function<void(MessageCall& call, std::string_view request)> run;
  uint32_t weight = 1;  // see ItemOperation
};

// The operations on items, in the order of their fields in PipelineRequest.
std::span<const MessageOperation> ItemMessageOperations();

// The operation on the bytes of its messages. `gate` and `operation` must outlive it.
MessageOperation MessageOperationOf(const CallGate* gate, const UnaryOperation& operation);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_MESSAGE_OPERATIONS_H_
