#ifndef ARMATURE_TESTS_UNIT_ENGINE_RANDOM_CONDITION_H_
#define ARMATURE_TESTS_UNIT_ENGINE_RANDOM_CONDITION_H_

// Random conditions of queries, and how a request says them.

#include <vector>

#include "engine/items/request.h"
#include "tests/unit/engine/item_model.h"
#include "tests/unit/engine/random_values.h"

namespace armature::engine {

// One that finds something of `entries` often.
ModelCondition RandomCondition(const ModelKeyspace& keyspace, const std::vector<ModelItem>& entries,
                               RandomValues* values);

// Fills key condition, names and values of `request`.
void Express(const ModelKeyspace& keyspace, const ModelCondition& condition, ReadRequest* request);

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_RANDOM_CONDITION_H_
