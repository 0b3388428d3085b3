#ifndef ARMATURE_DAEMON_API_UNARY_OPERATION_H_
#define ARMATURE_DAEMON_API_UNARY_OPERATION_H_

// An operation over API messages, independent of its front end: gRPC and JSON provide the request and send the answer.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/api/caller.h"
#include "engine/access/resource_policy.h"
#include "engine/engine.h"
#include "engine/operations.h"
#include "engine/partiql/statements.h"
#include "google/protobuf/message.h"
#include "storage/base/held_memory.h"

namespace armature::daemon {

struct OperationContext {
  engine::Engine* engine = nullptr;
  std::string_view authority = {};  // address that the client has used, "host:port"; valid during the call only
  Deadline deadline = {};           // the client's
  // Authorises each statement of an operation on statements. Empty: everything is permitted.
  engine::StatementGate allow = nullptr;
  // True if the caller might change the policy of the resource (an ARN) under the given one. Empty: everything is
  // permitted.
  std::function<bool(std::string_view arn, const access::ResourcePolicy& policy)> may_change_policy = nullptr;
  uint64_t at_least_sequence = 0;     // from the headers of the request; see QueryRequest
  std::string principal = {};         // of the caller; empty without authentication
  bool is_original_protocol = false;  // the JSON protocol, which refuses what the original API refuses
  MemorySource memory = {};           // of the answer
};

// Called once, on any thread, when the answer is filled or the operation has failed.
using Finished = absl::AnyInvocable<void(const absl::Status& status) &&>;

// Thread-safety: immutable.
class UnaryOperation {
 public:
  // Runs the operation. Does not block. Request and response live until `done` is called.
  template <class Request, class Response>
  using Run =
      std::function<void(const OperationContext& context, const Request& request, Response* response, Finished done)>;

  // Takes the operation's name from its request message: "TagResource" from TagResourceRequest.
  template <class Request, class Response>
  explicit UnaryOperation(void (*run)(const OperationContext&, const Request&, Response*, Finished))
      : UnaryOperation(Run<Request, Response>(run)) {}
  template <class Request, class Response>
  explicit UnaryOperation(Run<Request, Response> run)
      : facts_(FactsOf(*Request::descriptor())),
        request_(Request::default_instance()),
        response_(Response::default_instance()),
        run_([run = std::move(run)](const OperationContext& context, const google::protobuf::Message& request,
                                    google::protobuf::Message* response, Finished done) {
          run(context, static_cast<const Request&>(request), static_cast<Response*>(response), std::move(done));
        }) {}

  const engine::Operation& facts() const { return *facts_; }
  std::string_view name() const { return facts_->name; }

  // The messages of one call. Lifetime: they live until `done` is called.
  struct Messages {
    std::unique_ptr<google::protobuf::Message> request;
    std::unique_ptr<google::protobuf::Message> response;
    // The values of the fields Operation::subject and Operation::source, for access rights and the audit log.
    std::string subject;
    std::string source;
    std::string_view checked = {};  // of the two, the one whose rights were checked last
  };
  // Empty messages.
  std::shared_ptr<Messages> NewMessages() const;
  // Fills subject and source from the request.
  void FindSubject(Messages* messages) const;

  // Authorises the caller for what the request names, and runs. `context`: without the members about engine and caller.
  // `trace` may be null. Errors: AccessDeniedException, and those of the operation.
  void Serve(const Caller& caller, const std::shared_ptr<engine::RequestTrace>& trace, OperationContext context,
             Messages* messages, Finished done) const;
  // Runs with a complete context.
  void Start(const OperationContext& context, const Messages& messages, Finished done) const {
    run_(context, *messages.request, messages.response.get(), std::move(done));
  }

 private:
  absl::StatusOr<engine::Engine*> Admit(const Caller& caller, engine::RequestTrace* trace, Messages* messages) const;
  static const engine::Operation* FactsOf(const google::protobuf::Descriptor& request);

  const engine::Operation* facts_;
  const google::protobuf::Message& request_;
  const google::protobuf::Message& response_;
  std::function<void(const OperationContext&, const google::protobuf::Message&, google::protobuf::Message*, Finished)>
      run_;
};

// Adds the operations of these functions.
template <class... Runs>
void AddOperations(std::vector<UnaryOperation>* operations, Runs... runs) {
  (operations->push_back(UnaryOperation(runs)), ...);
}

// Each adds its operations: on tables, their settings and their backups; on exports, imports and bulk operations; on
// streams of changes; on statements.
void AddTableOperations(std::vector<UnaryOperation>* operations);
void AddTransferOperations(std::vector<UnaryOperation>* operations);
void AddStreamOperations(std::vector<UnaryOperation>* operations);
void AddStatementOperations(std::vector<UnaryOperation>* operations);

// All of them, which both front ends serve. FindUnaryOperation returns the one with `name`, or null.
std::span<const UnaryOperation> UnaryOperations();
const UnaryOperation* FindUnaryOperation(std::string_view name);

// Answers with the engine's result, which `fill` writes into the message.
template <class Result, class Message>
engine::Callback<Result> AnswerIn(Message* to, Finished done,
                                  void (*fill)(const Result&, std::type_identity_t<Message>*)) {
  return [to, fill, done = std::move(done)](absl::StatusOr<Result> result) mutable {
    const absl::Status status = result.status();
    // Memory of the items in the message, until the answer is written.
    HeldMemory memory;
    if (status.ok()) {
      fill(*result, to);
      if constexpr (requires { result->memory; }) memory = std::move(result->memory);
      result = absl::CancelledError();
    }
    std::move(done)(status);
  };
}

// The position of the writes in a response. 0: none.
uint64_t ChangeSequenceOf(const google::protobuf::Message& response);

// True if an operation has changed nothing, so that it may be refused for lack of memory for its answer.
inline bool OnlyRead(const engine::Operation& operation, uint64_t change_sequence) {
  return OnlyReads(operation) || (operation.plane == engine::Plane::kStatement && change_sequence == 0);
}

// Takes the position of the writes out of a response, if it has one. In the original protocol it is no member. 0: none.
uint64_t TakeChangeSequence(google::protobuf::Message* response);

// Answers for an operation without a result.
inline engine::Callback<engine::Nothing> AnswerNothing(Finished done) {
  return [done = std::move(done)](const absl::StatusOr<engine::Nothing>& result) mutable {
    std::move(done)(result.status());
  };
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_UNARY_OPERATION_H_
