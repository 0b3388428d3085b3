#ifndef ARMATURE_ENGINE_EXPR_TREE_BINDER_H_
#define ARMATURE_ENGINE_EXPR_TREE_BINDER_H_

// Binding and static checks of conditions (condition, filter and key condition) and of updates.

#include "absl/status/status.h"
#include "engine/expr/ast.h"
#include "engine/expr/fault_log.h"
#include "engine/expr/placeholders.h"

namespace armature::expr {

// Binds `condition` in place. `faults` contains the parser's faults.
//
// Errors: ValidationException for the fault that is first in the documented order: parentheses, unknown function,
// misused function, reserved word, then per comparison or function: undefined placeholder, number of operands, equal
// operands, types of operands.
absl::Status BindCondition(ExpressionKind kind, PlaceholderTable* table, FaultLog* faults, Condition* condition);

// Binds `update` in place. `faults` contains the parser's faults.
//
// Errors: ValidationException for the fault that is first in the documented order: reserved word, unknown function,
// repeated section, undefined name, undefined value, overlapping paths, conflicting paths, operand types of ADD and
// DELETE, operands of functions.
absl::Status BindUpdate(PlaceholderTable* table, FaultLog* faults, Update* update);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_TREE_BINDER_H_
