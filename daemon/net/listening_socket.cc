#include "daemon/net/listening_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr int kBacklog = 4096;

absl::Status CannotListen(const std::string& address, const char* why) {
  return absl::UnavailableError(Cat("cannot listen on ", address, ": ", why));
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

// Returns a socket that is bound and, with `listens`, listens; or -1 with errno set.
int Bind(const sockaddr* address, socklen_t size, bool listens = true) {
  const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int on = 1;
  // Not SO_REUSEPORT: a second process on the same port must fail, not share the port.
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(fd, address, size) == 0 && (!listens || listen(fd, kBacklog) == 0)) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

in_port_t* PortOf(sockaddr* address) {
  return address->sa_family == AF_INET6 ? &reinterpret_cast<sockaddr_in6*>(address)->sin6_port
                                        : &reinterpret_cast<sockaddr_in*>(address)->sin_port;
}

in_port_t BoundPort(int fd) {
  sockaddr_storage bound = {};
  socklen_t size = sizeof(bound);
  getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size);
  return *PortOf(reinterpret_cast<sockaddr*>(&bound));
}

absl::StatusOr<BoundSockets> ListenOnFile(const std::string& address) {
  const std::string path = address.substr(kUnixPrefix.size());
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(name.sun_path)) {
    return CannotListen(address, "the path is empty or too long for a socket");
  }
  std::memcpy(name.sun_path, path.data(), path.size());
  struct stat found = {};
  if (stat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) unlink(path.c_str());
  const int fd = Bind(reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  if (fd < 0) return CannotListen(address, std::strerror(errno));
  return BoundSockets{.sockets = {fd}, .address = address};
}

using AddressList = std::unique_ptr<addrinfo, FreeAddresses>;

// The addresses of HOST:PORT.
absl::StatusOr<AddressList> LookUp(const std::string& address) {
  ARM_ASSIGN_OR_RETURN(const HostAndPort split, SplitAddress(address));
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(split.host.c_str(), split.port.c_str(), &hints, &found);
  if (failed != 0) return CannotListen(address, gai_strerror(failed));
  return AddressList(found);
}

}  // namespace

absl::StatusOr<HostAndPort> SplitAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  HostAndPort split;
  if (colon != std::string::npos) {
    split = {.host = address.substr(0, colon), .port = address.substr(colon + 1)};
    if (split.host.starts_with('[') && split.host.ends_with(']')) {
      split.host = split.host.substr(1, split.host.size() - 2);
    } else if (split.host.find(':') != std::string::npos) {
      split.host.clear();
    }
  }
  if (split.host.empty() || split.port.empty() || split.port.size() > 5 ||
      split.port.find_first_not_of("0123456789") != std::string::npos || std::stoi(split.port) > 65535) {
    return absl::InvalidArgumentError(Cat("'", address, "' is not an address; write HOST:PORT or [IPV6]:PORT"));
  }
  return split;
}

absl::Status CheckFree(const std::string& address) {
  if (address.starts_with(kUnixPrefix)) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(const AddressList list, LookUp(address));
  int error = 0;
  for (const addrinfo* info = list.get(); info != nullptr; info = info->ai_next) {
    if (const int fd = Bind(info->ai_addr, info->ai_addrlen, /*listens=*/false); fd >= 0) {
      close(fd);
      return absl::OkStatus();
    }
    error = errno;
  }
  return CannotListen(address, std::strerror(error));
}

absl::StatusOr<BoundSockets> Listen(const std::string& address) {
  if (address.starts_with(kUnixPrefix)) return ListenOnFile(address);
  ARM_ASSIGN_OR_RETURN(const AddressList list, LookUp(address));
  BoundSockets bound;
  in_port_t port = 0;
  int error = 0;
  for (const addrinfo* info = list.get(); info != nullptr; info = info->ai_next) {
    // All addresses of a name get the port of the first one.
    if (port != 0) *PortOf(info->ai_addr) = port;
    const int fd = Bind(info->ai_addr, info->ai_addrlen);
    if (fd < 0) {
      error = errno;
      continue;
    }
    bound.sockets.push_back(fd);
    port = BoundPort(fd);
  }
  if (bound.sockets.empty()) return CannotListen(address, std::strerror(error));
  bound.address = Cat(address.substr(0, address.rfind(':')), ":", ntohs(port));
  return bound;
}

void RemoveSocketFile(int socket) {
  sockaddr_storage bound = {};
  socklen_t size = sizeof(bound);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0 || bound.ss_family != AF_UNIX) return;
  // The path ends with a NUL: ListenOnFile takes no longer ones.
  unlink(reinterpret_cast<const sockaddr_un&>(bound).sun_path);
}

void SetTcpOptions(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytesMax, sizeof(kUnsentBytesMax));
}

std::string PeerText(const sockaddr_storage& peer, socklen_t size) {
  if (peer.ss_family == AF_UNIX) return "unix";
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&peer), size, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "unknown";
  }
  return peer.ss_family == AF_INET6 ? Cat("[", host.data(), "]:", port.data()) : Cat(host.data(), ":", port.data());
}

}  // namespace armature::daemon
