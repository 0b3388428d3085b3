#ifndef ARMATURE_STORAGE_MODEL_NUMBER_ARITHMETIC_H_
#define ARMATURE_STORAGE_MODEL_NUMBER_ARITHMETIC_H_

// Sums and differences of numbers, exactly as updates compute them.
//
// Results are never rounded: one that a Number cannot hold is refused.

#include "absl/status/statusor.h"
#include "storage/model/number.h"

namespace armature::model {

// a + b and a - b.
//
// Errors: ValidationException, with the one documented text about overflow, for a result that needs more than
// kNumberDigitsMax digits or whose magnitude is outside a Number's range, at either end.
// Thread-safety: pure functions. Cost: no allocation unless they fail; at most some forty steps, whatever the
// exponents.
absl::StatusOr<Number> Add(const Number& a, const Number& b);
absl::StatusOr<Number> Subtract(const Number& a, const Number& b);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_NUMBER_ARITHMETIC_H_
