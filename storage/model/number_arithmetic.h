#ifndef ARMATURE_STORAGE_MODEL_NUMBER_ARITHMETIC_H_
#define ARMATURE_STORAGE_MODEL_NUMBER_ARITHMETIC_H_

// Sums and differences of numbers, as updates compute them.
//
// Results are never rounded. A result that does not fit a Number is refused.

#include "absl/status/statusor.h"
#include "storage/model/number.h"

namespace armature::model {

// a + b and a - b.
//
// Errors: ValidationException, with the documented overflow text, for a result with more than kNumberDigitsMax digits
// or a magnitude above or below the range of Number.
// Thread-safety: pure functions. Cost: about forty steps at most, whatever the exponents; allocates only for errors.
absl::StatusOr<Number> Add(const Number& a, const Number& b);
absl::StatusOr<Number> Subtract(const Number& a, const Number& b);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_NUMBER_ARITHMETIC_H_
