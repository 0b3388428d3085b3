#include "engine/items/validation_layer.h"

#include <optional>

#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::engine {
namespace {

bool HasText(const absl::Status& status, std::string_view text) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() && error->type == ApiErrorType::kValidation &&
         error->message.find(text) != std::string::npos;
}

}  // namespace

absl::Status Enveloped(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  if (!error.has_value() || error->type != ApiErrorType::kValidation) return status;
  return error->message.starts_with(kEnvelope) ? status : ValidationError(Cat(kEnvelope, error->message));
}

bool IsNestingError(const absl::Status& status) {
  return HasText(status, "Nesting Levels have exceeded supported limits");
}

}  // namespace armature::engine
