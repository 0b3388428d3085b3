#ifndef ARMATURE_STORAGE_STORE_FILES_FILE_ERROR_H_
#define ARMATURE_STORAGE_STORE_FILES_FILE_ERROR_H_

// Errors of the operating system's files as statuses. Inside the store only.

#include <string_view>

#include "absl/status/status.h"

namespace armature::store {

// Status for errno `error` of the action `what` on `path`: ResourceExhausted if space or descriptors are lacking,
// Unavailable otherwise.
absl::Status ErrnoError(std::string_view what, std::string_view path, int error);
// True if `error` means that no more space is available, or that the process or the system has no descriptor left: a
// retry may succeed later.
bool IsShortageError(int error);
// True if `text`, which quotes a system error, is about a lack of descriptors.
bool IsAboutDescriptors(std::string_view text);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_FILES_FILE_ERROR_H_
