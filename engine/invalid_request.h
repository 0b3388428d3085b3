#ifndef ARMATURE_ENGINE_INVALID_REQUEST_H_
#define ARMATURE_ENGINE_INVALID_REQUEST_H_

#include <string_view>

#include "absl/status/status.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::engine {

// A ValidationException as backups, restores, exports and imports have it: "Invalid Request: " and `detail`.
inline absl::Status InvalidRequest(std::string_view detail) {
  return ValidationError(Cat("Invalid Request: ", detail));
}

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_INVALID_REQUEST_H_
