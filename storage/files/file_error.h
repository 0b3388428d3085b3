#ifndef ARMATURE_STORAGE_FILES_FILE_ERROR_H_
#define ARMATURE_STORAGE_FILES_FILE_ERROR_H_

// Errors of the system about files.

#include <string_view>

#include "absl/status/status.h"

namespace armature::files {

// NOT_FOUND for a missing file, RESOURCE_EXHAUSTED if space, memory or descriptors are lacking, UNAVAILABLE otherwise.
// `error`: errno.
absl::Status FileError(int error, std::string_view message);

}  // namespace armature::files

#endif  // ARMATURE_STORAGE_FILES_FILE_ERROR_H_
