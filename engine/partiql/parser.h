#ifndef ARMATURE_ENGINE_PARTIQL_PARSER_H_
#define ARMATURE_ENGINE_PARTIQL_PARSER_H_

// Parses PartiQL statements, by recursive descent.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/partiql/statement.h"

namespace armature::engine::partiql {

// `parameters`: the values of the question marks from left to right, each the wire form of an AttributeValue.
//
// Errors: ValidationException for a statement that is not of the grammar, for values that break a rule of the data
// model, and for a wrong number of parameters. Cost: linear in the statement; recursion is bounded by kDepthMax.
absl::StatusOr<Statement> ParseStatement(std::string_view text, const std::vector<std::string>& parameters);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_PARSER_H_
