#ifndef ARMATURE_ENGINE_PARTIQL_STATEMENTS_H_
#define ARMATURE_ENGINE_PARTIQL_STATEMENTS_H_

// ExecuteStatement, BatchExecuteStatement and ExecuteTransaction: PartiQL statements, executed by the operations on
// items.
//
// Functions check the shape of a request on the caller's thread. They parse and plan on the pool of plans, and call
// back exactly once, on any thread. Errors are API errors; ThrottlingException if too many requests wait for that pool.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/items/access_facts.h"
#include "engine/items/request.h"

namespace armature::engine {

class Engine;

// Called for each statement that could be parsed, before it is planned, on a thread of the pool of plans. The operation
// of the right is PartiQLSelect, PartiQLInsert, PartiQLUpdate or PartiQLDelete. Its errors are the statement's.
using StatementGate = std::function<absl::Status(const NeededRight& right)>;

// Settings of a front end for all statements of a request.
struct StatementOptions {
  StatementGate gate;                    // empty: all statements are permitted
  bool multi_attribute_indexes = false;  // see partiql::PlanOptions
};

// Limit on the length of a statement. It has fewer parameters: front ends need not keep more than this number.
inline constexpr size_t kStatementMaxChars = 8192;

struct StatementRequest {
  std::optional<std::string> statement;
  std::optional<std::vector<std::string>> parameters;  // wire forms of AttributeValue
  bool consistent_read = false;
  std::string return_values_on_condition_check_failure;
};

struct ExecuteStatementRequest {
  StatementRequest statement;
  std::optional<std::string> next_token;
  std::optional<int64_t> limit;
  std::string return_consumed_capacity;
  uint64_t at_least_sequence = 0;  // see ReadRequest
  bool explain_only = false;       // plan, and execute nothing
};

struct ExecuteStatementResult {
  std::vector<std::string> items;  // as answers show them
  std::optional<std::string> next_token;
  std::optional<std::string> last_evaluated_key;
  std::optional<ConsumedCapacity> capacity;
  uint64_t change_sequence = 0;  // of a write
  std::string plan;              // with explain_only
  HeldMemory memory = {};        // for the items, as bytes and as a message
};

struct BatchStatementRequest {
  std::optional<std::vector<StatementRequest>> statements;
  std::string return_consumed_capacity;
};

struct BatchStatementResult {
  struct Response {
    std::string table_name;  // as written; empty if the statement could not be parsed
    std::optional<std::string> item;
    absl::Status error;
  };
  std::vector<Response> responses;  // in the order of the statements
  std::vector<ConsumedCapacity> capacity;
  uint64_t change_sequence = 0;
  HeldMemory memory = {};  // as above
};

struct TransactStatementsRequest {
  std::optional<std::vector<StatementRequest>> statements;
  std::optional<std::string> client_request_token;
  std::string token_scope;  // see TransactWriteRequest
  std::string return_consumed_capacity;
  size_t message_bytes = 0;
};

struct TransactStatementsResult {
  std::vector<std::optional<std::string>> items;  // of reads, in the order of the statements; empty for writes
  std::vector<ConsumedCapacity> capacity;
  uint64_t change_sequence = 0;
  HeldMemory memory = {};  // as above
};

// `engine` must live until `done` is called, and what `options.gate` refers to.
void ExecuteStatement(Engine* engine, RequestContext context, StatementOptions options, ExecuteStatementRequest request,
                      Callback<ExecuteStatementResult> done);
void BatchExecuteStatement(Engine* engine, RequestContext context, StatementOptions options,
                           BatchStatementRequest request, Callback<BatchStatementResult> done);
void ExecuteTransaction(Engine* engine, RequestContext context, StatementOptions options,
                        TransactStatementsRequest request, Callback<TransactStatementsResult> done);

// The code of a failed statement of a batch, such as "ConditionalCheckFailed", "ValidationError", ...
std::string_view StatementErrorCode(const absl::Status& error);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_PARTIQL_STATEMENTS_H_
