#ifndef ARMATURE_ENGINE_ITEMS_LEGACY_PARAMETERS_H_
#define ARMATURE_ENGINE_ITEMS_LEGACY_PARAMETERS_H_

// From the parameters from before expressions, as they came, to bound trees.
//
// What they mean is expr/legacy.h's; here are their shapes, their values, and the order of the checks.
//
// Thread-safety: free functions without state.
// Errors: ValidationException; SerializationException for bytes that are no value.

#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/expr/binder.h"
#include "engine/expr/legacy.h"
#include "engine/items/request.h"
#include "storage/model/constraint_list.h"

namespace armature::engine {

// Adds what is wrong with the shapes: enumerations with unknown values, operators that are missing, the length of
// AttributesToGet.
void CheckLegacyShapes(const LegacyParameters& legacy, model::ConstraintList* list);

// All rules of the parameters but KeyConditions, in the documented order: ConditionalOperator, AttributeUpdates,
// Expected, QueryFilter or ScanFilter, AttributesToGet. Requires shapes without violations.
//
// Lifetime: values in `bound` point into `literals`, to which canonical values are appended.
absl::Status BindLegacy(const LegacyParameters& legacy, std::deque<std::string>* literals,
                        expr::BoundExpressions* bound);

// KeyConditions, in two steps, since the rules of their arguments come before the parsing of expressions, and what is
// not allowed on keys after it. Does nothing if there are none.
absl::Status TakeLegacyKeyConditions(const LegacyParameters& legacy, std::deque<std::string>* literals,
                                     std::vector<expr::LegacyCondition>* conditions);
absl::Status BindLegacyKeyConditions(const std::vector<expr::LegacyCondition>& conditions,
                                     expr::BoundExpressions* bound);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_LEGACY_PARAMETERS_H_
