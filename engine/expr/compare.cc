#include "engine/expr/compare.h"

#include "absl/status/statusor.h"
#include "storage/model/number.h"

namespace armature::expr {

std::optional<std::strong_ordering> CompareScalars(model::ValueType type, std::string_view a, std::string_view b) {
  if (!IsOrdered(type)) return std::nullopt;
  if (type != model::ValueType::kNumber) return a.compare(b) <=> 0;
  const absl::StatusOr<model::Number> left = model::Number::Parse(a);
  const absl::StatusOr<model::Number> right = model::Number::Parse(b);
  if (!left.ok() || !right.ok()) return std::nullopt;
  return *left <=> *right;
}

}  // namespace armature::expr
