#ifndef ARMATURE_CLIENT_SRC_CONNECTING_H_
#define ARMATURE_CLIENT_SRC_CONNECTING_H_

// The reasons why a daemon cannot be reached, in words of this library instead of those of gRPC and TLS.
// docs/develop/clients/README.md lists them.

#include <chrono>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "grpcpp/channel.h"

namespace armature::client {

// Keeps gRPC from writing lines about connections and TLS to standard error, unless the environment variable
// GRPC_VERBOSITY asks for them. Cost: nothing after the first call. Thread-safe.
void QuietLibrary();

// The error of a call over a channel that has failed to connect to the target: UNAVAILABLE, marked as never sent. Makes
// a health check on the channel, because only a call tells gRPC's reason; if the channel has recovered meanwhile, the
// error says that it could not be connected. Thread-safe.
absl::Status WhyNotConnected(const std::shared_ptr<grpc::Channel>& channel, std::string_view target, bool is_secure,
                             std::chrono::system_clock::time_point deadline);

// The error for gRPC's text about a failed connection. For tests and WhyNotConnected.
absl::Status ConnectionError(std::string_view text, std::string_view target, bool is_secure);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_CONNECTING_H_
