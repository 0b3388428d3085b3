#ifndef ARMATURE_ENGINE_PARTIQL_CONDITION_PARSER_H_
#define ARMATURE_ENGINE_PARTIQL_CONDITION_PARSER_H_

// Parses the condition of a WHERE clause, by recursive descent.
//
// condition  := and (OR and)*          and := not (AND not)*          not := NOT* comparison
// comparison := term ( comparator term | [NOT] BETWEEN term AND term | [NOT] IN list | IS [NOT] type )?
// term       := '(' condition ')' | function '(' term, ... ')' | literal | path

#include "absl/status/statusor.h"
#include "engine/partiql/literals.h"
#include "engine/partiql/statement.h"

namespace armature::engine::partiql {

// Reads a condition, behind WHERE. Refusals are noted in `context`, and the condition has no meaning then. Errors:
// ValidationException for what is not of the grammar. Recursion is bounded by kDepthMax.
absl::StatusOr<Condition> ReadCondition(TokenReader* tokens, StatementContext* context);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_CONDITION_PARSER_H_
