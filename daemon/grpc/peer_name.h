#ifndef ARMATURE_DAEMON_GRPC_PEER_NAME_H_
#define ARMATURE_DAEMON_GRPC_PEER_NAME_H_

// Names of the peers of connections.

#include <sys/socket.h>

#include <string>

namespace armature::daemon {

// The name of all peers on Unix sockets.
inline constexpr char kUnixPeer[] = "unix:";

// The address of a peer as ServerContext::peer() writes it: "ipv4:127.0.0.1:80", "ipv6:%5B::1%5D:80", with the number
// of the zone if the address has one "ipv6:%5Bfe80::1%252%5D:80"; kUnixPeer for other families. An IPv4 address that is
// mapped into IPv6 is written as one of IPv4.
std::string PeerNameOf(const sockaddr_storage& peer);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_PEER_NAME_H_
