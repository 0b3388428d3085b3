#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_ERRORS_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_ERRORS_H_

// Reads what a failed call carries beside its status code.
//
// All functions are thread-safe, and none of them fails: what is not there is empty.

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "armature/api/v1/errors.pb.h"

namespace armature::client {

// The payload of a status that holds a serialised ErrorDetail.
inline constexpr std::string_view kErrorDetailUrl = "type.googleapis.com/armature.api.v1.ErrorDetail";

// The exception, such as "ValidationException". Empty if the status is OK or did not come from the
// daemon: the network failed, the deadline passed.
std::string ErrorName(const absl::Status& status);

// All the daemon said: cancellation reasons, the item that failed a condition, the request id.
// Nothing if the status is OK or did not come from the daemon.
std::optional<api::v1::ErrorDetail> ErrorDetailOf(const absl::Status& status);

// When the daemon advises to try again, counted from the answer. Zero: no advice.
absl::Duration RetryAfter(const absl::Status& status);

// True if the failed call has certainly changed nothing: it was never sent, or the daemon refused
// it, and so with each attempt if it was repeated. False leaves both possible. OK: false.
bool CertainlyNotApplied(const absl::Status& status);

// The status of a call, made from what gRPC reports: code, message and the content of the trailer
// grpc-status-details-bin. A trailer that cannot be read, or holds no ErrorDetail, is passed over:
// the code is what counts then.
absl::Status MakeCallStatus(absl::StatusCode code, std::string_view message, std::string_view details);

// The same status with a detail, as the daemon would have sent it. For fakes. Must not be OK.
absl::Status WithDetail(absl::Status status, const api::v1::ErrorDetail& detail);

// The same status, marked as never sent, so that CertainlyNotApplied is true. For implementations
// of Connection.
absl::Status NeverSent(absl::Status status);

// The same status, marked as that of a call of which an earlier attempt may have been applied, so that
// CertainlyNotApplied is false whatever the last attempt ended with. For implementations of Connection. Must not be OK.
absl::Status MaybeApplied(absl::Status status);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_ERRORS_H_
