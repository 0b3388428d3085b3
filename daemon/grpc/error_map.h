#ifndef ARMATURE_DAEMON_GRPC_ERROR_MAP_H_
#define ARMATURE_DAEMON_GRPC_ERROR_MAP_H_

// Errors as gRPC statuses.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "daemon/rpc/rpc_status.h"

namespace armature::daemon {

// Follows the text about an attribute value without a type. A JSON document of the original protocol, loaded into a
// message by a program that ignores unknown names, makes such a value.
inline constexpr std::string_view kTypeHint =
    "; over gRPC the types are the fields s, n, b, bool, null, ss, ns, bs, l and m in lower case: {\"s\": \"x\"}, not "
    "{\"S\": \"x\"}";

// The gRPC status with an armature.api.v1.ErrorDetail and the standard details of google.rpc in its details: ErrorInfo
// always, RetryInfo if a repeat makes sense, BadRequest for an invalid request. A trailer has the exception's name. An
// error that is not meant for users becomes INTERNAL with a request id: `request_id`, or a new one if that is empty.
// Its text is logged with the id.
RpcStatus ToRpcStatus(const absl::Status& status, std::string_view request_id = {});

// `status` with a trailer for the id, if there is one.
RpcStatus WithRequestId(std::string_view request_id, RpcStatus status);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_ERROR_MAP_H_
