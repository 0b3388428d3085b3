#ifndef ARMATURE_DAEMON_JSON_ERROR_TABLE_H_
#define ARMATURE_DAEMON_JSON_ERROR_TABLE_H_

// The one table from our errors to those of the wire protocols.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/base/api_error.h"

namespace armature::daemon {

// How the protocols tell an exception. Its name is ApiErrorName's.
struct ErrorRow {
  ApiErrorType type = ApiErrorType::kValidation;
  absl::StatusCode grpc_code = absl::StatusCode::kInternal;  // the numbers are those of gRPC
  unsigned http_status = 500;
  std::string_view json_namespace;    // before the '#' of __type
  std::string_view json_text_member;  // "message", with some "Message"
};

// An exception without a row is told as an internal error.
const ErrorRow& FindErrorRow(ApiErrorType type);

// What is told of an error without an API payload, which is not for users: only that, and whether another try is worth
// it.
struct InternalErrorRow {
  std::string_view name;  // "InternalServerError", "ServiceUnavailable"
  absl::StatusCode grpc_code = absl::StatusCode::kInternal;
  unsigned http_status = 500;
  std::string_view json_namespace;
  std::string_view text;
};

// Logs the text of `status` under `request_id`.
const InternalErrorRow& LogInternalError(const absl::Status& status, std::string_view request_id);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_ERROR_TABLE_H_
