#ifndef ARMATURE_STORAGE_MODEL_ITEM_ERRORS_H_
#define ARMATURE_STORAGE_MODEL_ITEM_ERRORS_H_

// Rules for items that several layers check: names of attributes and of members of maps, nesting depth.

#include <string_view>

#include "absl/status/status.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::model {

// Text of the error for a name without characters, which other texts contain.
inline constexpr std::string_view kEmptyNameText = "Empty attribute name";

inline absl::Status EmptyAttributeNameError() { return ValidationError(kEmptyNameText); }

// Errors: ValidationException for a name that is empty or too long.
inline absl::Status CheckAttributeName(std::string_view name) {
  if (name.size() > kAttributeNameMaxBytes) return AttributeNameTooLongError();
  return name.empty() ? EmptyAttributeNameError() : absl::OkStatus();
}

// Begins the text of NestingError, and those of statements.
inline constexpr std::string_view kNestingRefusal = "Nesting Levels have exceeded supported limits";

// The error for a value below kNestingDepthMax.
inline absl::Status NestingError() {
  return ValidationError(Cat(kNestingRefusal, ": Attributes in the item have nested levels beyond supported limit"));
}

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_ITEM_ERRORS_H_
