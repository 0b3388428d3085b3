#include "engine/expr/compare.h"

#include "storage/model/number.h"

namespace armature::expr {

std::optional<std::strong_ordering> CompareScalars(model::ValueType type, std::string_view a, std::string_view b) {
  if (!IsOrdered(type)) return std::nullopt;
  if (type != model::ValueType::kNumber) return a.compare(b) <=> 0;
  return model::CompareCanonicalNumbers(a, b);
}

}  // namespace armature::expr
