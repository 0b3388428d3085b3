#ifndef ARMATURE_ENGINE_EXPR_UPDATE_BINDER_H_
#define ARMATURE_ENGINE_EXPR_UPDATE_BINDER_H_

// Binding and static checks of update expressions.

#include "absl/status/status.h"
#include "engine/expr/ast.h"
#include "engine/expr/fault_log.h"
#include "engine/expr/placeholders.h"

namespace armature::expr {

// Binds `update` in place. `faults` contains the parser's faults.
//
// Errors: ValidationException for the fault that is first in the documented order: reserved word, unknown function,
// repeated section, undefined name, undefined value, overlapping paths, conflicting paths, operand types of ADD and
// DELETE, operands of functions.
absl::Status BindUpdate(PlaceholderTable* table, FaultLog* faults, Update* update);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_UPDATE_BINDER_H_
