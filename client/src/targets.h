#ifndef ARMATURE_CLIENT_SRC_TARGETS_H_
#define ARMATURE_CLIENT_SRC_TARGETS_H_

// The addresses of a daemon and of its standbys, as programs give them.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace armature::client {

// The addresses in "host:port,host:port": names of gRPC, in their order. A name with a scheme that has lists of its
// own, "ipv4:" or "ipv6:", is one address.
std::vector<std::string> SplitTargets(std::string_view targets);

// Refuses addresses that could never be reached. Errors: InvalidArgument.
absl::Status CheckTargets(std::string_view targets);

// True if all addresses are Unix sockets.
bool AreUnixSockets(std::string_view targets);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_TARGETS_H_
