#ifndef ARMATURE_DAEMON_GRPC_ERROR_MAP_H_
#define ARMATURE_DAEMON_GRPC_ERROR_MAP_H_

// Errors as gRPC statuses.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace armature::daemon {

// The gRPC status with an armature.api.v1.ErrorDetail in its details. An error that is not meant for users becomes
// INTERNAL with a request id: `request_id`, or a new one if that is empty. Its text is logged with the id.
grpc::Status ToGrpcStatus(const absl::Status& status, std::string_view request_id = {});

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_ERROR_MAP_H_
