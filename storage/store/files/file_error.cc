#include "storage/store/files/file_error.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::store {

bool IsShortageError(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EMFILE || error == ENFILE;
}

// The texts of EMFILE and ENFILE begin alike.
bool IsAboutDescriptors(std::string_view text) { return text.find("Too many open files") != std::string_view::npos; }

absl::Status ErrnoError(std::string_view what, std::string_view path, int error) {
  const std::string message = Cat(what, " ", path, ": ", std::strerror(error));
  return IsShortageError(error) ? absl::ResourceExhaustedError(message) : UnavailableError(message);
}

}  // namespace armature::store
