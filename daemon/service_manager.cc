#include "daemon/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "glog/logging.h"

namespace armature::daemon {

void NotifyServiceManager(std::string_view state) {
  const char* const name = std::getenv("NOTIFY_SOCKET");
  if (name == nullptr) return;
  const std::string_view path = name;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() > sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) {
    LOG(WARNING) << "server: NOTIFY_SOCKET is not a socket address";
    return;
  }
  path.copy(address.sun_path, path.size());
  // In an abstract name the first byte is zero for the kernel, '@' for systemd.
  if (path[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (fd < 0 ||
      sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length) < 0) {
    LOG(WARNING) << "server: cannot notify the service manager: " << std::strerror(errno);
  }
  if (fd >= 0) close(fd);
}

}  // namespace armature::daemon
