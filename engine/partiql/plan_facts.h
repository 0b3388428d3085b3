#ifndef ARMATURE_ENGINE_PARTIQL_PLAN_FACTS_H_
#define ARMATURE_ENGINE_PARTIQL_PLAN_FACTS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "engine/access/facts.h"
#include "engine/partiql/plan.h"
#include "storage/store/database.h"

namespace armature::engine::partiql {

// The facts of all requests of a plan. `transaction`: the enclosing operation, if it is one. Only the first of several
// reads is bound: the others have the same attributes, as far as the WHERE clause names them, and values that are
// checked when they are executed.
absl::StatusOr<access::Facts> FactsOfPlan(const store::Database& database, const Plan& plan,
                                          std::string_view transaction);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_PLAN_FACTS_H_
