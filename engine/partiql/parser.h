#ifndef ARMATURE_ENGINE_PARTIQL_PARSER_H_
#define ARMATURE_ENGINE_PARTIQL_PARSER_H_

// Parses PartiQL statements, by recursive descent.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/partiql/statement.h"

namespace armature::engine::partiql {

// `parameters`: the values of the question marks from left to right, each the wire form of a valid AttributeValue.
//
// Errors: ValidationException for a statement that is not of the grammar, for what the service refuses in one that is,
// and for too few parameters. Cost: linear in the statement, but for conditions that are compared, whose work is
// bounded; recursion is bounded by kDepthMax.
absl::StatusOr<Statement> ParseStatement(std::string_view text, const std::vector<std::string>& parameters);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_PARSER_H_
