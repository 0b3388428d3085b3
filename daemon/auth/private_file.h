#ifndef ARMATURE_DAEMON_AUTH_PRIVATE_FILE_H_
#define ARMATURE_DAEMON_AUTH_PRIVATE_FILE_H_

// Files with secrets, read only if no users but ours and root can read them.

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace armature::daemon {

// The content of a regular file that belongs to this process's user or to root, and that neither group nor others may
// read or write. The group may read a file of root if this process runs as another user. Symbolic links are followed;
// the checks apply to their target. Errors: InvalidArgument or Unavailable with one line that names the file and the
// remedy.
absl::StatusOr<std::string> ReadPrivateFile(const std::string& path, size_t bytes_max);

// The content of a regular file without secrets, which any user may read. Errors: those of ReadPrivateFile.
absl::StatusOr<std::string> ReadPublicFile(const std::string& path, size_t bytes_max);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_PRIVATE_FILE_H_
