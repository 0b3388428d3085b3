#ifndef ARMATURE_DAEMON_GRPC_ERROR_MAP_H_
#define ARMATURE_DAEMON_GRPC_ERROR_MAP_H_

// Errors as gRPC statuses.

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/status.h"

namespace armature::daemon {

// Follows the text about an attribute value without a type. A JSON document of the original protocol, loaded into a
// message by a program that ignores unknown names, makes such a value.
inline constexpr std::string_view kTypeHint =
    "; over gRPC the types are the fields s, n, b, bool, null, ss, ns, bs, l and m in lower case: {\"s\": \"x\"}, not "
    "{\"S\": \"x\"}";

// The gRPC status with an armature.api.v1.ErrorDetail and the standard details of google.rpc in its details: ErrorInfo
// always, RetryInfo if a repeat makes sense, BadRequest for an invalid request. An error that is not meant for users
// becomes INTERNAL with a request id: `request_id`, or a new one if that is empty. Its text is logged with the id.
grpc::Status ToGrpcStatus(const absl::Status& status, std::string_view request_id = {});

// A message of more than `bytes_max` bytes. No error of the API: its gRPC status is RESOURCE_EXHAUSTED, with the text
// that gRPC has for it, which clients know, and without details.
absl::Status MessageTooLargeError(size_t bytes, size_t bytes_max);

// The same at the end of a call: also adds the trailer with the exception's name to the call.
grpc::Status EndOf(grpc::CallbackServerContext* context, const absl::Status& status, std::string_view request_id = {});

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_ERROR_MAP_H_
