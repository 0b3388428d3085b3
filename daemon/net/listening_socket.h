#ifndef ARMATURE_DAEMON_NET_LISTENING_SOCKET_H_
#define ARMATURE_DAEMON_NET_LISTENING_SOCKET_H_

// Listening sockets of the front ends.

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace armature::daemon {

// Begins the address of a Unix socket.
inline constexpr std::string_view kUnixPrefix = "unix:";

// The parts of HOST:PORT or [IPV6]:PORT, without brackets. Errors: InvalidArgument.
struct HostAndPort {
  std::string host;
  std::string port;
};
absl::StatusOr<HostAndPort> SplitAddress(const std::string& address);

// Sockets that listen without blocking. Whoever takes them closes them.
struct BoundSockets {
  std::vector<int> sockets;
  std::string address;  // as given, with the actual port
};

// Listens on HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 lets the system choose. A name may have several addresses: all
// that are ours are listened on, and there is at least one. A socket file that a killed process left is replaced.
// Errors: InvalidArgument if the address is malformed; Unavailable if it is in use or not ours.
absl::StatusOr<BoundSockets> Listen(const std::string& address);

// Removes the file of a listening Unix socket, which closing leaves. Does nothing for other sockets.
void RemoveSocketFile(int socket);

// OK if Listen on this address would succeed now; nothing listens meanwhile. Unix sockets are not looked at. Errors:
// those of Listen.
absl::Status CheckFree(const std::string& address);

// Options of an accepted TCP connection: segments are sent at once, and the system takes only about `kUnsentBytesMax`
// beyond what the client has room for. Without that limit it keeps megabytes for each client that does not read, which
// no budget of ours counts; beyond some gigabytes it drops packets of all connections of the machine.
inline constexpr int kUnsentBytesMax = 128 << 10;
void SetTcpOptions(int socket);

// "127.0.0.1:41234", "[::1]:41234", "unix", or "unknown".
std::string PeerText(const sockaddr_storage& peer, socklen_t size);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_NET_LISTENING_SOCKET_H_
