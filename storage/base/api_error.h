#ifndef ARMATURE_STORAGE_BASE_API_ERROR_H_
#define ARMATURE_STORAGE_BASE_API_ERROR_H_

// Errors that the user of the API sees: one factory for each documented exception.
//
// An API error is an absl::Status with a canonical code, the exact text for the user and a payload that
// holds the exception's type. A status without that payload is an internal error: front ends answer it
// with a request id and log its text.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace armature {

// The documented exceptions. Values travel inside a process only.
enum class ApiErrorType : uint8_t {
  kValidation = 1,
  kSerialization,
  kConditionalCheckFailed,
  kResourceNotFound,
  kResourceInUse,
  kLimitExceeded,
  kTransactionCanceled,
  kTransactionConflict,
  kTransactionInProgress,
  kIdempotentParameterMismatch,
  kProvisionedThroughputExceeded,
  kThrottling,
  kRequestLimitExceeded,
  kItemCollectionSizeLimitExceeded,
  kUnknownOperation,
  kServiceUnavailable,
  kDeadlineExceeded,
  kCancelled,
  kTableNotFound,
  kContinuousBackupsUnavailable,
  kBackupNotFound,
  kBackupInUse,
  kTableAlreadyExists,
  kMissingAuthenticationToken,
  kIncompleteSignature,
  kInvalidSignature,
  kUnrecognizedClient,
  kAccessDenied,
};

// The exception's name on the wire, e.g. "ValidationException". Static storage.
std::string_view ApiErrorName(ApiErrorType type);

// One factory per exception; `message` is the whole text that the user reads.
absl::Status ValidationError(std::string_view message);
// The most frequent family: "One or more parameter values were invalid: " + detail.
absl::Status InvalidParameterError(std::string_view detail);
absl::Status SerializationError(std::string_view message);
// `item` is the stored item in wire form, or empty if it was not asked for or does not exist.
absl::Status ConditionalCheckFailedError(std::string_view item);
absl::Status ResourceNotFoundError(std::string_view message);
absl::Status ResourceInUseError(std::string_view message);
absl::Status LimitExceededError(std::string_view message);
// The server cannot take the request now; the client may repeat it after `retry_after_ms`.
absl::Status ThrottlingError(std::string_view message, int64_t retry_after_ms);
// See throttling_error.h for those about the capacity of tables and indexes, transaction_error.h for those of
// transactions.
absl::Status ItemCollectionSizeLimitExceededError();
// The operation or a member of its request is documented but not available in this version.
absl::Status UnknownOperationError(std::string_view message);
// A table of an operation on backups.
absl::Status TableNotFoundError(std::string_view message);
absl::Status ContinuousBackupsUnavailableError(std::string_view message);
absl::Status BackupNotFoundError(std::string_view message);
absl::Status BackupInUseError(std::string_view message);
// The table that a restore would make.
absl::Status TableAlreadyExistsError(std::string_view message);
absl::Status ServiceUnavailableError(std::string_view message);
absl::Status DeadlineExceededError(std::string_view message);
absl::Status CancelledError(std::string_view message);
// Who calls cannot be told: no credentials, a signature that lacks something, a wrong one, an unknown key or secret.
absl::Status MissingAuthenticationTokenError();
absl::Status IncompleteSignatureError(std::string_view message);
absl::Status InvalidSignatureError(std::string_view message);
absl::Status UnrecognizedClientError();
// `principal` may not run `action` ("dynamodb:GetItem") on `resource` (an ARN, or "*").
absl::Status AccessDeniedError(std::string_view principal, std::string_view action, std::string_view resource);

// What a front end needs to print an error.
struct ApiError {
  ApiErrorType type = ApiErrorType::kValidation;
  std::string message;
  std::string item;            // wire form of the stored item; only with kConditionalCheckFailed
  int64_t retry_after_ms = 0;  // only with kThrottling and kProvisionedThroughputExceeded
};

// The API error in `status`, or nullopt if it is OK or internal.
std::optional<ApiError> GetApiError(const absl::Status& status);

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_API_ERROR_H_
