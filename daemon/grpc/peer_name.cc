#include "daemon/grpc/peer_name.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>

#include "storage/base/strings.h"

namespace armature::daemon {

std::string PeerNameOf(const sockaddr_storage& peer) {
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (peer.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(peer);
    inet_ntop(AF_INET, &address.sin_addr, host.data(), host.size());
    return Cat("ipv4:", host.data(), ":", ntohs(address.sin_port));
  }
  if (peer.ss_family != AF_INET6) return kUnixPeer;
  const auto& address = reinterpret_cast<const sockaddr_in6&>(peer);
  if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
    inet_ntop(AF_INET, &address.sin6_addr.s6_addr[12], host.data(), host.size());
    return Cat("ipv4:", host.data(), ":", ntohs(address.sin6_port));
  }
  inet_ntop(AF_INET6, &address.sin6_addr, host.data(), host.size());
  const std::string zone = address.sin6_scope_id == 0 ? "" : Cat("%25", address.sin6_scope_id);
  return Cat("ipv6:%5B", host.data(), zone, "%5D:", ntohs(address.sin6_port));
}

}  // namespace armature::daemon
