#include "storage/files/file_error.h"

#include <cerrno>

#include "storage/base/strings.h"

namespace armature::files {

absl::Status FileError(int error, std::string_view message) {
  switch (error) {
    case ENOENT:
      return absl::NotFoundError(Av(message));
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::ResourceExhaustedError(Av(message));
    default:
      return absl::UnavailableError(Av(message));
  }
}

}  // namespace armature::files
