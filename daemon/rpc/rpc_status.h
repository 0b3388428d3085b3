#ifndef ARMATURE_DAEMON_RPC_RPC_STATUS_H_
#define ARMATURE_DAEMON_RPC_RPC_STATUS_H_

// How a gRPC call ends (https://grpc.github.io/grpc/core/md_doc_statuscodes.html).

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace armature::daemon {

enum class RpcCode : uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

struct RpcStatus {
  RpcCode code = RpcCode::kOk;
  std::string message = {};
  std::string details = {};  // a serialised google.rpc.Status; empty: none
  // Further trailers: lower-case names; values are printable ASCII, or any bytes if the name ends with "-bin".
  std::vector<std::pair<std::string, std::string>> trailers = {};

  bool ok() const { return code == RpcCode::kOk; }
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_RPC_RPC_STATUS_H_
