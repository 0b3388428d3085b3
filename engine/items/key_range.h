#ifndef ARMATURE_ENGINE_ITEMS_KEY_RANGE_H_
#define ARMATURE_ENGINE_ITEMS_KEY_RANGE_H_

// Conversion of a matched key condition, or of a scan segment, to a range of encoded keys.

#include <cstdint>
#include <string>

#include "engine/expr/key_condition.h"
#include "storage/model/key_schema.h"
#include "storage/store/database.h"

namespace armature::engine {

// The rows of one partition that satisfy `condition`. Every condition that the API allows is one contiguous range,
// because key components are self-delimiting and ordered.
struct PartitionRange {
  std::string partition;  // hash and partition components
  store::KeyRange range;
};
PartitionRange RangeOfCondition(const expr::MatchedKeyCondition& condition, const model::KeySchema& schema);

// The rows of segment `segment` of `total`. Requires segment < total.
store::KeyRange RangeOfSegment(uint32_t segment, uint32_t total);

// Narrows `range` to the rows behind `key` in reading direction.
void StartAfter(std::string_view key, store::Direction direction, store::KeyRange* range);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_KEY_RANGE_H_
