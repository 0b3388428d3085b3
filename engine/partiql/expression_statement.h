#ifndef ARMATURE_ENGINE_PARTIQL_EXPRESSION_STATEMENT_H_
#define ARMATURE_ENGINE_PARTIQL_EXPRESSION_STATEMENT_H_

// Statements that begin with no verb: PartiQL reads them as expressions, which the service refuses by what they are.

#include "absl/status/status.h"
#include "engine/partiql/literals.h"

namespace armature::engine::partiql {

// Why the statement that begins here is refused. Never OK. Cost: linear in the statement; recursion is bounded by
// kDepthMax.
absl::Status ExpressionStatementError(TokenReader* tokens);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_EXPRESSION_STATEMENT_H_
