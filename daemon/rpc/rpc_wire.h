#ifndef ARMATURE_DAEMON_RPC_RPC_WIRE_H_
#define ARMATURE_DAEMON_RPC_RPC_WIRE_H_

// Texts of gRPC's wire protocol (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace armature::daemon {

// The five bytes before a message: whether it is compressed, and its size.
inline constexpr size_t kRpcPrefixBytes = 5;

// A grpc-timeout in nanoseconds: 1 to 8 digits and one of H, M, S, m, u, n. Huge ones are cut to what int64_t holds.
// nullopt if malformed.
std::optional<int64_t> ParseRpcTimeoutNs(std::string_view text);
// The form of binary metadata: base64 without padding.
std::string BinaryMetadata(std::string_view bytes);
// True for "application/grpc", also with a suffix or parameters.
bool IsRpcContentType(std::string_view type);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_RPC_RPC_WIRE_H_
