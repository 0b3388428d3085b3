#ifndef ARMATURE_TESTS_UNIT_ENGINE_RANDOM_CONDITION_H_
#define ARMATURE_TESTS_UNIT_ENGINE_RANDOM_CONDITION_H_

// Random key conditions, and their form in a request.

#include <vector>

#include "engine/items/request.h"
#include "tests/unit/engine/item_model.h"
#include "tests/unit/engine/random_values.h"

namespace armature::engine {

// A condition that often matches some of `entries`.
ModelCondition RandomCondition(const ModelKeyspace& keyspace, const std::vector<ModelItem>& entries,
                               RandomValues* values);

// Sets key condition, names and values of `request`.
void Express(const ModelKeyspace& keyspace, const ModelCondition& condition, ReadRequest* request);

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_RANDOM_CONDITION_H_
