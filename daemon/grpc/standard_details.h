#ifndef ARMATURE_DAEMON_GRPC_STANDARD_DETAILS_H_
#define ARMATURE_DAEMON_GRPC_STANDARD_DETAILS_H_

// Details of google.rpc in the status of a failed call: ErrorInfo, RetryInfo and BadRequest, which the helpers of every
// gRPC library unpack. They are encoded here: a copy of their protos would collide with that of a program which links
// both. Source: google/rpc/error_details.proto.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "armature/api/v1/errors.pb.h"
#include "storage/base/api_error.h"

namespace armature::daemon {

// Domain of the reasons in ErrorInfo.
inline constexpr std::string_view kErrorDomain = "armaturedb.github.io";

// Adds an ErrorInfo with the exception's name as its reason.
void AddErrorInfo(std::string_view exception, api::v1::RpcStatus* status);

// Adds a RetryInfo.
void AddRetryInfo(int64_t delay_ms, api::v1::RpcStatus* status);

// Adds a BadRequest with the fields that `message`, the text of a ValidationException or a SerializationException, is
// about. A text that names no field makes one violation without a field. Descriptions are shortened, and the last
// fields left out if there is no room.
void AddBadRequest(std::string_view message, api::v1::RpcStatus* status);

// Pause before the request may be repeated, if an error of this type says nothing of it; 0: a repeat makes no sense. It
// is the least pause of a client that backs off exponentially.
int64_t RetryDelayMs(ApiErrorType type);
// The same for an error that is not meant for users and has the code UNAVAILABLE.
inline constexpr int64_t kUnavailableRetryDelayMs = 100;

struct FieldViolation {
  // Path of names of protobuf fields, as in google.rpc.BadRequest: "transact_items[1].update.update_expression", where
  // 1 is the first element. Empty: unknown.
  std::string field;
  std::string_view description;  // part of the text
};
// At most kViolationsMax.
std::vector<FieldViolation> FieldViolations(std::string_view message);
inline constexpr size_t kViolationsMax = 8;

// The beginning of `text`, cut at a UTF-8 character boundary and marked with "..." if it is longer than `bytes_max`.
std::string Shortened(std::string_view text, size_t bytes_max);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_STANDARD_DETAILS_H_
