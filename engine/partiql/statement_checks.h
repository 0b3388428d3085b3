#ifndef ARMATURE_ENGINE_PARTIQL_STATEMENT_CHECKS_H_
#define ARMATURE_ENGINE_PARTIQL_STATEMENT_CHECKS_H_

// Checks of statements that need no table, in the order of the service: the shape of the request, the values of the
// parameters, the grammar and the literals, the operands of the condition, clauses that do not go together.
//
// Errors: ValidationException.

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/partiql/statement.h"
#include "engine/partiql/statements.h"

namespace armature::engine::partiql {

// The error of a statement that writes to an index.
inline constexpr char kIndexInWrite[] = "This operation is not supported on an index";

absl::Status CheckExecuteStatement(const ExecuteStatementRequest& request);
absl::Status CheckBatch(const BatchStatementRequest& request);
absl::Status CheckTransaction(const TransactStatementsRequest& request);

// Checks the values of all parameters, also of those that the statement does not use.
absl::Status CheckParameters(const StatementRequest& request);
// Parses a statement whose parameters are checked.
absl::StatusOr<Statement> ParseChecked(const StatementRequest& request);
// Checks the parameters of a statement and parses it: CheckParameters and ParseChecked.
absl::StatusOr<Statement> ParseRequest(const StatementRequest& request);

// Refuses EXISTS, which only transactions have, and clauses that do not go with the verb.
absl::Status CheckForm(const Statement& statement);

// The error of a statement of a transaction, at position `i`.
absl::Status RefusedMember(size_t i, std::string_view why);
// `error` of a statement of a transaction. Only what is wrong with the statement itself names its position.
absl::Status MemberError(size_t i, const absl::Status& error);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_STATEMENT_CHECKS_H_
