#ifndef ARMATURE_ENGINE_EXPR_PARSER_H_
#define ARMATURE_ENGINE_EXPR_PARSER_H_

// Parses expressions into trees with unresolved placeholders.

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/expr/ast.h"
#include "engine/expr/fault_log.h"
#include "storage/model/limits.h"

namespace armature::expr {

// Each parses one kind of expression. ParseCondition takes the kind as a parameter.
//
// Faults that allow further parsing go to `faults`: kOperatorCount, kParentheses, kPathLimit, kSection. The binder
// finds the others. Errors: ValidationException for a text that is empty, longer than `bytes_max`, syntactically
// wrong, or nested too deeply. Cost: linear in the text; recursion is bounded by kNestingMax.
absl::StatusOr<Condition> ParseCondition(ExpressionKind kind, std::string_view text, FaultLog* faults,
                                         size_t bytes_max = model::kExpressionMaxBytes);
absl::StatusOr<std::vector<DocumentPath>> ParseProjection(std::string_view text, FaultLog* faults,
                                                          size_t bytes_max = model::kExpressionMaxBytes);
absl::StatusOr<Update> ParseUpdate(std::string_view text, FaultLog* faults,
                                   size_t bytes_max = model::kExpressionMaxBytes);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_PARSER_H_
