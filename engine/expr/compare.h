#ifndef ARMATURE_ENGINE_EXPR_COMPARE_H_
#define ARMATURE_ENGINE_EXPR_COMPARE_H_

// The order of scalar values.

#include <compare>
#include <optional>
#include <string_view>

#include "storage/model/value.h"

namespace armature::expr {

// Whether values of `type` have an order at all: S, N and B do.
constexpr bool IsOrdered(model::ValueType type) {
  return type == model::ValueType::kString || type == model::ValueType::kNumber || type == model::ValueType::kBinary;
}

// The order of two scalars of one ordered type: numbers, in canonical text, by value; strings and binaries by unsigned
// bytes. Nullopt if `type` has no order.
std::optional<std::strong_ordering> CompareScalars(model::ValueType type, std::string_view a, std::string_view b);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_COMPARE_H_
