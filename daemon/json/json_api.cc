#include "daemon/json/json_api.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "armature/version.h"
#include "daemon/api/caller.h"
#include "daemon/json/error_json.h"
#include "daemon/json/item_operations.h"
#include "daemon/message_json/message_documents.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kPrefix = "DynamoDB_20120810.";
constexpr std::string_view kStreamPrefix = "DynamoDBStreams_20120810.";

// The operation that a target names, or null.
const engine::Operation* OperationOf(std::string_view target) {
  const bool is_on_streams = target.starts_with(kStreamPrefix);
  if (!is_on_streams && !target.starts_with(kPrefix)) return nullptr;
  const engine::Operation* const found =
      engine::FindOperation(target.substr(is_on_streams ? kStreamPrefix.size() : kPrefix.size()));
  if (found == nullptr || found->is_whole_stream() || found->plane == engine::Plane::kAdmin) return nullptr;
  return is_on_streams == (found->plane == engine::Plane::kStream) ? found : nullptr;
}

}  // namespace

absl::Status NotSupportedError(std::string_view operation) {
  const bool is_ascii =
      std::all_of(operation.begin(), operation.end(), [](unsigned char c) { return absl::ascii_isprint(c); });
  return UnknownOperationError(
      Cat(is_ascii ? model::Shown(operation) : "The operation", " is not supported by Armature ", kVersion));
}

absl::Status NoSuchOperationError(std::string_view target) {
  if (target.empty()) return UnknownOperationError("The request has no X-Amz-Target header, which names the operation");
  for (const std::string_view prefix : {kPrefix, kStreamPrefix}) {
    const std::string_view name = target.starts_with(prefix) ? target.substr(prefix.size()) : std::string_view();
    // An operation of the other service is not supported under this prefix.
    if (!name.empty()) return NotSupportedError(engine::FindOperation(name) == nullptr ? name : target);
  }
  return NotSupportedError(Cat("The target ", target));
}

bool JsonApi::Knows(std::string_view target, std::string_view* operation) const {
  const engine::Operation* const found = OperationOf(target);
  if (found != nullptr) *operation = target.substr(target.size() - found->name.size());
  return found != nullptr;
}

void JsonApi::Call(JsonCall call, Done done) {
  if (RunItemOperation(engine_, call, done)) return;
  const UnaryOperation* const on_messages = FindUnaryOperation(call.operation);
  if (on_messages == nullptr) {
    return std::move(done)(ErrorAnswer(NoSuchOperationError(call.operation), call.request_id));
  }
  // The caller's view of the name may not live as long as the call.
  call.operation = on_messages->name();
  RunOnMessages(*on_messages, std::move(call), std::move(done));
}

void JsonApi::RunOnMessages(const UnaryOperation& operation, JsonCall call, Done done) {
  const auto shared_call = std::make_shared<const JsonCall>(std::move(call));
  const std::shared_ptr<UnaryOperation::Messages> messages = operation.NewMessages();
  auto answer = [this, shared_call, messages, facts = &operation.facts(),
                 done = std::move(done)](const absl::Status& status) mutable {
    Audit(*shared_call, messages->checked, status);
    const MemorySource& memory = shared_call->context.memory;
    if (!status.ok()) return std::move(done)(ErrorAnswer(status, shared_call->request_id, memory));
    const uint64_t sequence = TakeChangeSequence(messages->response.get());
    const bool may_refuse = OnlyRead(*facts, sequence);
    JsonWriter writer(HeldMemory(memory), 0, may_refuse);
    // An answer without members has an empty body, not an empty object.
    if (messages->response->GetDescriptor()->field_count() > 0) WriteAnswer(*messages->response, &writer);
    JsonAnswer made = AnswerOf(&writer, may_refuse, shared_call->request_id);
    made.change_sequence = sequence;
    std::move(done)(std::move(made));
  };
  const absl::Status read = ReadRequest(shared_call->body, messages->request.get());
  if (!read.ok()) return answer(read);
  OperationContext context{.authority = shared_call->host, .deadline = shared_call->context.deadline};
  context.at_least_sequence = shared_call->at_least_sequence;
  context.memory = shared_call->context.memory;
  context.is_original_protocol = true;
  operation.Serve(Caller(engine_, shared_call->access), shared_call->context.trace, std::move(context), messages.get(),
                  std::move(answer));
}

JsonAnswer AnswerOf(JsonWriter* writer, bool may_refuse, std::string_view request_id) {
  if (writer->is_refused()) return ErrorAnswer(NoMemoryForAnswerError(), request_id);
  JsonAnswer answer;
  answer.body = writer->Take();
  answer.memory = writer->TakeMemory();
  answer.may_refuse = may_refuse;
  return answer;
}

JsonAnswer JsonApi::Refuse(const JsonCall& call, const absl::Status& status) const {
  Audit(call, "", status);
  return ErrorAnswer(status, call.request_id);
}

void JsonApi::Audit(const JsonCall& call, std::string_view table, const absl::Status& result) const {
  const engine::Operation* const known = engine::FindOperation(call.operation);
  if (audit_ == nullptr || known == nullptr || !known->is_audited) return;
  audit_->Record({.principal = call.access == nullptr ? std::string_view() : call.access->principal(),
                  .peer = call.peer,
                  .operation = call.operation,
                  .table = table,
                  .result = result});
}

}  // namespace armature::daemon
