#ifndef ARMATURE_DAEMON_JSON_OPERATIONS_H_
#define ARMATURE_DAEMON_JSON_OPERATIONS_H_

// Operations in the JSON protocol. Operations on items are functions of their own, in tables by topic. Operations on
// tables are those of daemon/api, with documents derived from their messages.
//
// An operation on items parses its document, authorises the caller, calls the engine and writes the answer:
//
//   void GetItem(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
//     absl::StatusOr<engine::GetItemRequest> request = ParseGetItem(call.body);
//     if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
//     engine->GetItem(call.context, *std::move(request), AnswerWith<engine::GetItemResult>(call, std::move(done),
//     Write));
//   }

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/api/unary_operation.h"
#include "daemon/json/error_json.h"
#include "daemon/json/json_api.h"
#include "daemon/json/json_writer.h"
#include "engine/engine.h"

namespace armature::daemon {

struct JsonOperation {
  std::string_view name;
  // Calls `done` exactly once, on this or another thread; does not block.
  void (*run)(engine::Engine* engine, const JsonCall& call, JsonApi::Done done);
};

// The operation on items with `name`, or null.
const JsonOperation* FindItemOperation(std::string_view name);

// The tables of item operations.
std::span<const JsonOperation> ItemOperations();
std::span<const JsonOperation> GroupOperations();  // batches and transactions

// Runs an operation on tables, like JsonOperation::run.
void RunTableOperation(const UnaryOperation& operation, engine::Engine* engine, const JsonCall& call,
                       JsonApi::Done done);

// OK if the caller may run the operation on `table`, a name as sent; empty for no table.
absl::Status CheckAccess(const JsonCall& call, std::string_view table);
// The same for another `operation` than the call's.
absl::Status CheckAccess(const JsonCall& call, std::string_view operation, std::string_view table);

// The table's name in a request, empty if it is missing.
inline std::string_view TableOf(const std::string& name) { return name; }
inline std::string_view TableOf(const std::optional<std::string>& name) {
  return name.has_value() ? std::string_view(*name) : std::string_view();
}

// The error of a parsed request: a fault of the document, or missing access rights.
template <class Request>
absl::Status Admit(const JsonCall& call, const absl::StatusOr<Request>& request) {
  return request.ok() ? CheckAccess(call, TableOf(request->table_name)) : request.status();
}

// Answers with the error.
void Fail(const JsonCall& call, const absl::Status& status, JsonApi::Done done);

// Answers with the document that `write(const Result&, JsonWriter*)` writes, or with the error.
template <class Result, class Write>
engine::Callback<Result> AnswerWith(const JsonCall& call, JsonApi::Done done, Write write) {
  return [request_id = call.request_id, done = std::move(done),
          write = std::move(write)](const absl::StatusOr<Result>& result) mutable {
    if (!result.ok()) return std::move(done)(ErrorAnswer(result.status(), request_id));
    JsonWriter writer;
    write(*result, &writer);
    JsonAnswer answer;
    answer.body = writer.Take();
    std::move(done)(std::move(answer));
  };
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_OPERATIONS_H_
