#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_ERRORS_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_ERRORS_H_

// Reads the details of a failed call beside its status code.
//
// All functions are thread-safe and never fail: the result is empty if the status has no such detail.

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "armature/api/v1/errors.pb.h"

namespace armature::client {

// The payload of a status that holds a serialised ErrorDetail.
inline constexpr std::string_view kErrorDetailUrl = "type.googleapis.com/armature.api.v1.ErrorDetail";

// The payload of a status that holds a serialised google.rpc.RetryInfo.
inline constexpr std::string_view kRetryInfoUrl = "type.googleapis.com/google.rpc.RetryInfo";

// The name of the exception, such as "ValidationException". Empty if the status is OK or did not come from the daemon,
// because the network failed or the deadline passed.
std::string ErrorName(const absl::Status& status);

// The whole detail: cancellation reasons, the item that failed a condition, the request id. Absent if the status is OK
// or did not come from the daemon.
std::optional<api::v1::ErrorDetail> ErrorDetailOf(const absl::Status& status);

// The client's knowledge about a refused request beside the daemon's text: table and index, the given key and that of
// the table, the place of a number. docs/develop/clients/README.md lists the hints. May be empty. For people only.
std::string HintOf(const absl::Status& status);

// Exception, message and hint in one text for people: "ValidationException: ... (table users)".
std::string Describe(const absl::Status& status);

// `status` with a hint. For implementations of Connection. Must not be OK.
absl::Status WithHint(absl::Status status, std::string_view hint);

// The pause before the next attempt that the daemon advises, counted from the answer: the longer one of RetryInfo and
// ErrorDetail.retry_after_ms, at most a minute. Zero: no advice.
absl::Duration RetryAfter(const absl::Status& status);

// True if the failed call has certainly changed nothing: each of its attempts was never sent, or was refused by the
// daemon. False: the call may have been applied or not. False for OK.
bool CertainlyNotApplied(const absl::Status& status);

// The status of a call with this code, message and content of the trailer grpc-status-details-bin. A trailer that
// cannot be read or holds neither an ErrorDetail nor a RetryInfo is ignored.
absl::Status MakeCallStatus(absl::StatusCode code, std::string_view message, std::string_view details);

// `status` with a detail, as the daemon sends it. For fakes. Must not be OK.
absl::Status WithDetail(absl::Status status, const api::v1::ErrorDetail& detail);

// `status`, marked as that of a call that was never sent, so that CertainlyNotApplied is true. For implementations of
// Connection.
absl::Status NeverSent(absl::Status status);

// `status`, marked as one that a repetition cannot mend, such as a certificate that is not trusted: IsLasting is true.
// For implementations of Connection. Must not be OK.
absl::Status Lasting(absl::Status status);

// True if another attempt would fail in the same way until somebody changes a setting.
bool IsLasting(const absl::Status& status);

// `status`, marked as that of a call with an earlier attempt that may have been applied: CertainlyNotApplied is false
// for it. For implementations of Connection. Must not be OK.
absl::Status MaybeApplied(absl::Status status);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_ERRORS_H_
