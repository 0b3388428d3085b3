#ifndef ARMATURE_ENGINE_ITEMS_LEGACY_PARAMETERS_H_
#define ARMATURE_ENGINE_ITEMS_LEGACY_PARAMETERS_H_

// Binds the legacy parameters, which predate expressions, to expression trees.
//
// expr/legacy_binder.h defines their meaning. This file checks shapes, values, and the order of errors.
//
// Thread-safety: free functions without state.
// Errors: ValidationException; SerializationException for malformed values.

#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/expr/binder.h"
#include "engine/expr/legacy_binder.h"
#include "engine/items/request.h"
#include "storage/model/constraint_list.h"

namespace armature::engine {

// Adds violations of shapes: unknown enumeration values, missing operators, the length of AttributesToGet.
void CheckLegacyShapes(const LegacyParameters& legacy, model::ConstraintList* list);

// Checks and binds all parameters except KeyConditions, in the documented order: ConditionalOperator, AttributeUpdates,
// Expected, QueryFilter or ScanFilter, AttributesToGet. Requires shapes without violations.
//
// Lifetime: appends canonical values to `literals`. Values in `bound` point into them.
absl::Status BindLegacy(const LegacyParameters& legacy, std::deque<std::string>* literals,
                        expr::BoundExpressions* bound);

// Checks KeyConditions in two steps: the rules of its arguments are checked before expressions are parsed, and the
// operators allowed on keys after that. Both do nothing without KeyConditions.
absl::Status TakeLegacyKeyConditions(const LegacyParameters& legacy, std::deque<std::string>* literals,
                                     std::vector<expr::LegacyCondition>* conditions);
absl::Status BindLegacyKeyConditions(const std::vector<expr::LegacyCondition>& conditions,
                                     expr::BoundExpressions* bound);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_LEGACY_PARAMETERS_H_
