#ifndef ARMATURE_ENGINE_PARTIQL_SELECT_RUN_H_
#define ARMATURE_ENGINE_PARTIQL_SELECT_RUN_H_

// Execution of a planned SELECT: one page, from one or several queries.
//
//   next token := base64(hash read key)
//   hash := of the statement, its parameters, read and key
//   read := varint                                 position in Plan::queries
//   key := byte*                                   start key as canonical item bytes; empty: none

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/partiql/plan.h"
#include "engine/partiql/statements.h"
#include "storage/model/limits.h"

namespace armature::engine::partiql {

// The text of the error of an INSERT whose key exists.
inline constexpr char kDuplicateItemText[] = "Duplicate primary key exists in table";

// Limit on the items of an answer as sent. A value may be in several columns, once for each level of a path to it.
inline constexpr size_t kStatementAnswerMaxBytes = model::kTransactMaxWireBytes;
// The error of an answer beyond kStatementAnswerMaxBytes: ValidationException.
absl::Status TooLargeAnswerError();

// The place where the next page begins.
struct PageStart {
  size_t read = 0;                 // position in Plan::queries
  std::optional<std::string> key;  // start key; nullopt: at its first item
};

// The text of a place, bound to the statement and its parameters, and back. Errors: ValidationException for a text that
// EncodeToken has not made for this statement.
std::string EncodeToken(const StatementRequest& request, const PageStart& start);
absl::StatusOr<PageStart> DecodeToken(const StatementRequest& request, std::string_view token);

// Reads one page of `plan`, a kGet, kQuery or kScan, and calls `done` with it.
void RunSelect(Engine* engine, const RequestContext& context, const ExecuteStatementRequest& request, Plan plan,
               const PageStart& start, Callback<ExecuteStatementResult> done);

// Adds capacity of the same table.
void AddCapacity(const ConsumedCapacity& more, std::optional<ConsumedCapacity>* sum);

// `error` of an operation on items as the error of a statement.
absl::Status StatementError(const absl::Status& error, PlanKind kind);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_SELECT_RUN_H_
