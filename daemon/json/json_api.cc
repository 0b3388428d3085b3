#include "daemon/json/json_api.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "armature/version.h"
#include "daemon/json/error_json.h"
#include "daemon/json/item_operations.h"
#include "daemon/message_json/message_documents.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kPrefix = "DynamoDB_20120810.";
constexpr std::string_view kStreamPrefix = "DynamoDBStreams_20120810.";

// Reads the request and authorises the caller. `*table`: the name that was checked last, for the audit log.
absl::Status Admit(const engine::Engine& engine, const UnaryOperation& operation, const JsonCall& call,
                   UnaryOperation::Messages* messages, std::string_view* table) {
  ARM_RETURN_IF_ERROR(ReadRequest(call.body, messages->request.get()));
  operation.FindSubject(messages);
  // Each statement is authorised for its table.
  if (operation.facts().plane == engine::Plane::kStatement) return absl::OkStatus();
  access::MatchWork work;
  if (!operation.facts().source.empty()) {
    *table = messages->source;
    ARM_RETURN_IF_ERROR(call.CheckAccess(engine, {call.operation, *table}, &work));
  }
  *table = messages->subject;
  return call.CheckAccess(engine, {call.operation, *table}, &work);
}

}  // namespace

absl::Status JsonCall::CheckAccess(const engine::Engine& engine, const engine::NeededRight& right,
                                   access::MatchWork* work) const {
  if (context.trace != nullptr) context.trace->set_table(right.table);
  if (access == nullptr) return absl::OkStatus();
  const auto facts = [&] { return right.facts(*engine.database()); };
  const auto policy = engine.FindResourcePolicy(right.table);
  return access->Check({right.operation, right.table, right.index, facts, policy.get(), work});
}

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
  const std::string_view name = target.substr(std::min(target.size(), target.find('.') + 1));
  const bool is_known = target == Cat(kPrefix, name)
                            ? FindItemOperation(name) != nullptr || FindTableOperation(name) != nullptr ||
                                  FindStatementOperation(name) != nullptr
                            : target == Cat(kStreamPrefix, name) && FindStreamOperation(name) != nullptr;
  if (is_known) *operation = name;
  return is_known;
}

void JsonApi::Call(JsonCall call, Done done) {
  // The caller's view of the name may not live as long as the call.
  if (const JsonOperation* const on_items = FindItemOperation(call.operation); on_items != nullptr) {
    call.operation = on_items->name;
    return on_items->run(engine_, call, std::move(done));
  }
  const UnaryOperation* on_tables = FindTableOperation(call.operation);
  if (on_tables == nullptr) on_tables = FindStreamOperation(call.operation);
  if (on_tables == nullptr) on_tables = FindStatementOperation(call.operation);
  if (on_tables == nullptr) return std::move(done)(ErrorAnswer(NoSuchOperationError(call.operation), call.request_id));
  call.operation = on_tables->name();
  RunOnTables(*on_tables, std::move(call), std::move(done));
}

void JsonApi::RunOnTables(const UnaryOperation& operation, JsonCall call, Done done) {
  const auto shared_call = std::make_shared<const JsonCall>(std::move(call));
  const std::shared_ptr<UnaryOperation::Messages> messages = operation.NewMessages();
  std::string_view table;
  const absl::Status admitted = Admit(*engine_, operation, *shared_call, messages.get(), &table);
  auto answer = [this, shared_call, messages, table, facts = &operation.facts(),
                 done = std::move(done)](const absl::Status& status) mutable {
    Audit(*shared_call, table, status);
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
  if (!admitted.ok()) return answer(admitted);
  OperationContext context{engine_, shared_call->host, shared_call->context.deadline};
  context.allow = [engine = engine_, shared_call,
                   work = std::make_shared<access::MatchWork>()](const engine::NeededRight& right) {
    return shared_call->CheckAccess(*engine, right, work.get());
  };
  context.may_change_policy = [shared_call](std::string_view arn, const access::ResourcePolicy& policy) {
    return shared_call->access == nullptr ||
           shared_call->access->Permits({"PutResourcePolicy", arn, {}, access::NoFacts, &policy});
  };
  if (shared_call->access != nullptr) context.principal = shared_call->access->principal();
  context.at_least_sequence = shared_call->at_least_sequence;
  context.memory = shared_call->context.memory;
  context.is_original_protocol = true;
  operation.Start(context, *messages, std::move(answer));
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
