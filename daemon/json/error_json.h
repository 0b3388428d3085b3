#ifndef ARMATURE_DAEMON_JSON_ERROR_JSON_H_
#define ARMATURE_DAEMON_JSON_ERROR_JSON_H_

// The table from our errors to those of the wire protocols, and errors in the form of the JSON protocol.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "daemon/json/json_api.h"
#include "storage/base/api_error.h"
#include "storage/base/held_memory.h"

namespace armature::daemon {

// An exception in the wire protocols. Its name is ApiErrorName's.
struct ErrorRow {
  ApiErrorType type = ApiErrorType::kValidation;
  absl::StatusCode grpc_code = absl::StatusCode::kInternal;  // same numbers as gRPC's codes
  unsigned http_status = 500;
  std::string_view json_namespace;    // before the '#' of __type
  std::string_view json_text_member;  // "message", with some "Message"
};

// A type without a row is reported as an internal error.
const ErrorRow& FindErrorRow(ApiErrorType type);

// The public form of an error without API payload: it does not show the text, and says if a retry is worth while.
struct InternalErrorRow {
  std::string_view name;  // "InternalServerError", "ServiceUnavailable"
  absl::StatusCode grpc_code = absl::StatusCode::kInternal;
  unsigned http_status = 500;
  std::string_view json_namespace;
  std::string_view text;
};

// Logs the text of `status` with `request_id`.
const InternalErrorRow& LogInternalError(const absl::Status& status, std::string_view request_id);

// The answer to a failed request: {"__type":"namespace#Exception","message":"text"}. An empty text is left out. An
// error that is not meant for users becomes an internal error; its text is logged with `request_id`. `memory`: of the
// answer, for errors with items; without memory for them the answer is ServiceUnavailable.
JsonAnswer ErrorAnswer(const absl::Status& error, std::string_view request_id, const MemorySource& memory = {});

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_ERROR_JSON_H_
