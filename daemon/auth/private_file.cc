#include "daemon/auth/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_format.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

absl::Status Refused(const std::string& path, std::string_view why) {
  return absl::InvalidArgumentError(Cat(path, ": ", why));
}

absl::Status CheckPrivate(const std::string& path, const struct stat& file) {
  if (file.st_uid != geteuid() && file.st_uid != 0) {
    return Refused(path,
                   Cat("belongs to user ", file.st_uid, ", who could change it; run: chown ", geteuid(), " ", path));
  }
  // Only by its group does this process read a file of root, as secrets that an orchestrator mounts.
  const bool is_by_group = file.st_uid == 0 && geteuid() != 0;
  const mode_t refused = is_by_group ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
  if ((file.st_mode & refused) != 0) {
    const std::string mode = absl::StrFormat("%04o", file.st_mode & 07777);
    return Refused(path, Cat("others may use it (mode ", mode, "); run: chmod ", is_by_group ? "640 " : "600 ", path));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Read(const std::string& path, size_t bytes_max, bool is_private) {
  // Non-blocking, because opening a FIFO would block the start for ever.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return UnavailableError(Cat("cannot read ", path, ": ", std::strerror(errno)));
  const absl::Cleanup close_it = [fd] { close(fd); };
  struct stat file {};
  if (fstat(fd, &file) != 0) return UnavailableError(Cat("cannot read ", path, ": ", std::strerror(errno)));
  if (!S_ISREG(file.st_mode)) return Refused(path, "is not a file");
  if (is_private) ARM_RETURN_IF_ERROR(CheckPrivate(path, file));

  std::string content(bytes_max + 1, '\0');
  size_t size = 0;
  while (size < content.size()) {
    const ssize_t got = read(fd, content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return UnavailableError(Cat("cannot read ", path, ": ", std::strerror(errno)));
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size > bytes_max) return Refused(path, Cat("is larger than ", bytes_max, " bytes"));
  content.resize(size);
  return content;
}

}  // namespace

absl::StatusOr<std::string> ReadPrivateFile(const std::string& path, size_t bytes_max) {
  return Read(path, bytes_max, /*is_private=*/true);
}

absl::StatusOr<std::string> ReadPublicFile(const std::string& path, size_t bytes_max) {
  return Read(path, bytes_max, /*is_private=*/false);
}

}  // namespace armature::daemon
