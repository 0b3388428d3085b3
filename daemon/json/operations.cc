#include "daemon/json/operations.h"

#include <memory>

#include "daemon/json/message_reader.h"
#include "daemon/json/message_writer.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

StringMap<JsonOperation> MakeItemOperations() {
  StringMap<JsonOperation> all;
  for (const auto& topic : {ItemOperations(), GroupOperations()}) {
    for (const JsonOperation& operation : topic) all.emplace(operation.name, operation);
  }
  return all;
}

// Reads the request and authorises the caller.
absl::Status Admit(const UnaryOperation& operation, const JsonCall& call, UnaryOperation::Messages* messages) {
  ARM_RETURN_IF_ERROR(ReadRequest(call.body, messages->request.get()));
  operation.FindSubject(messages);
  if (!operation.facts().source.empty()) ARM_RETURN_IF_ERROR(CheckAccess(call, messages->source));
  // Checked last, because the audit log records the last checked table.
  return CheckAccess(call, messages->subject);
}

// An answer without members has an empty body, not an empty object.
std::string DocumentOf(const google::protobuf::Message& answer) {
  if (answer.GetDescriptor()->field_count() == 0) return {};
  JsonWriter writer;
  WriteAnswer(answer, &writer);
  return writer.Take();
}

}  // namespace

const JsonOperation* FindItemOperation(std::string_view name) {
  static const auto* const kAll = new StringMap<JsonOperation>(MakeItemOperations());
  const auto found = kAll->find(name);
  return found == kAll->end() ? nullptr : &found->second;
}

void RunTableOperation(const UnaryOperation& operation, engine::Engine* engine, const JsonCall& call,
                       JsonApi::Done done) {
  const std::shared_ptr<UnaryOperation::Messages> messages = operation.NewMessages();
  if (const absl::Status status = Admit(operation, call, messages.get()); !status.ok()) {
    return Fail(call, status, std::move(done));
  }
  operation.Start({engine, call.host}, *messages,
                  [messages, request_id = call.request_id, done = std::move(done)](const absl::Status& status) mutable {
                    if (!status.ok()) return std::move(done)(ErrorAnswer(status, request_id));
                    std::move(done)({.body = DocumentOf(*messages->response)});
                  });
}

absl::Status CheckAccess(const JsonCall& call, std::string_view table) {
  return CheckAccess(call, call.operation, table);
}

absl::Status CheckAccess(const JsonCall& call, std::string_view operation, std::string_view table) {
  if (call.context.trace != nullptr) call.context.trace->set_table(table);
  return call.access == nullptr ? absl::OkStatus() : call.access->Check(operation, table);
}

void Fail(const JsonCall& call, const absl::Status& status, JsonApi::Done done) {
  std::move(done)(ErrorAnswer(status, call.request_id));
}

}  // namespace armature::daemon
