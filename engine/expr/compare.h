#ifndef ARMATURE_ENGINE_EXPR_COMPARE_H_
#define ARMATURE_ENGINE_EXPR_COMPARE_H_

// The order of scalar values.

#include <compare>
#include <optional>
#include <string_view>

#include "storage/model/item_view.h"

namespace armature::expr {

// True for the types with an order: S, N and B.
constexpr bool IsOrdered(model::ValueType type) {
  return type == model::ValueType::kString || type == model::ValueType::kNumber || type == model::ValueType::kBinary;
}

// Compares two scalars of one type: numbers, in canonical text, by value; strings and binaries by unsigned bytes.
// Nullopt if `type` has no order.
std::optional<std::strong_ordering> CompareScalars(model::ValueType type, std::string_view a, std::string_view b);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_COMPARE_H_
