#ifndef ARMATURE_DAEMON_GRPC_ERROR_MAP_H_
#define ARMATURE_DAEMON_GRPC_ERROR_MAP_H_

// Our errors as gRPC tells them.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace armature::daemon {

// The gRPC status with an armature.api.v1.ErrorDetail in its details. An error that is not meant for users becomes
// INTERNAL with a request id; its text goes to the log under that id, which is `request_id`
// unless that is empty.
grpc::Status ToGrpcStatus(const absl::Status& status, std::string_view request_id = {});

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_ERROR_MAP_H_
