#ifndef ARMATURE_STORAGE_BASE_API_ERROR_H_
#define ARMATURE_STORAGE_BASE_API_ERROR_H_

// Errors visible to API clients: one factory per documented exception.
//
// An API error is an absl::Status with a canonical code, the exact text for the client, and a payload with the
// exception's type. A status without that payload is an internal error: front ends log its text and answer with a
// request id.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace armature {

// The documented exceptions. The values are not stored or sent.
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
  kTrimmedDataAccess,
  kExpiredIterator,
  kDuplicateItem,
  kMissingAuthenticationToken,
  kIncompleteSignature,
  kInvalidSignature,
  kUnrecognizedClient,
  kAccessDenied,
  kPolicyNotFound,
  kExportNotFound,
  kExportConflict,
  kInvalidExportTime,
  kPointInTimeRecoveryUnavailable,
  kInvalidRestoreTime,
  kTableInUse,
  kImportNotFound,
  kImportConflict,
  kDataLoss,
};
// The types are numbered from 1 to this one.
inline constexpr ApiErrorType kLastApiErrorType = ApiErrorType::kDataLoss;

// The exception's name on the wire, e.g. "ValidationException". Static storage.
std::string_view ApiErrorName(ApiErrorType type);

// An error of any type, without the parts that are particular to it.
absl::Status MakeApiError(ApiErrorType type, std::string_view text);

// One factory per exception; `text` is the complete text shown to the client.
inline absl::Status ValidationError(std::string_view text) { return MakeApiError(ApiErrorType::kValidation, text); }
// Begins the texts of errors that are found in the request alone, by most operations.
inline constexpr std::string_view kEnvelope = "1 validation error detected: ";
// The most frequent prefix: "One or more parameter values were invalid: " + detail.
absl::Status InvalidParameterError(std::string_view detail);
// The prefix of backups, restores, exports and imports: "Invalid Request: " + detail.
absl::Status InvalidRequestError(std::string_view detail);
absl::Status AttributeNameTooLongError();
inline absl::Status SerializationError(std::string_view text) {
  return MakeApiError(ApiErrorType::kSerialization, text);
}
// `item` is the stored item in wire form, or empty if not requested or if no item exists.
absl::Status ConditionalCheckFailedError(std::string_view item);
inline absl::Status ResourceNotFoundError(std::string_view text) {
  return MakeApiError(ApiErrorType::kResourceNotFound, text);
}
inline absl::Status ResourceInUseError(std::string_view text) {
  return MakeApiError(ApiErrorType::kResourceInUse, text);
}
// The most frequent prefix: "Attempt to change a resource which is still in use: " + detail.
absl::Status StillInUseError(std::string_view detail);
inline absl::Status LimitExceededError(std::string_view text) {
  return MakeApiError(ApiErrorType::kLimitExceeded, text);
}
// The server cannot accept the request now; the client may retry after `retry_after_ms`.
absl::Status ThrottlingError(std::string_view message, int64_t retry_after_ms);
// The operation or a member of its request is documented but not available in this version.
inline absl::Status UnknownOperationError(std::string_view text) {
  return MakeApiError(ApiErrorType::kUnknownOperation, text);
}
// A missing table in a backup operation.
inline absl::Status TableNotFoundError(std::string_view text) {
  return MakeApiError(ApiErrorType::kTableNotFound, text);
}
inline absl::Status ContinuousBackupsUnavailableError(std::string_view text) {
  return MakeApiError(ApiErrorType::kContinuousBackupsUnavailable, text);
}
inline absl::Status BackupNotFoundError(std::string_view text) {
  return MakeApiError(ApiErrorType::kBackupNotFound, text);
}
inline absl::Status BackupInUseError(std::string_view text) { return MakeApiError(ApiErrorType::kBackupInUse, text); }
// The target table of a restore exists already.
inline absl::Status TableAlreadyExistsError(std::string_view text) {
  return MakeApiError(ApiErrorType::kTableAlreadyExists, text);
}
// The records of a stream at this position are no longer kept.
inline absl::Status TrimmedDataAccessError(std::string_view text) {
  return MakeApiError(ApiErrorType::kTrimmedDataAccess, text);
}
inline absl::Status ExpiredIteratorError(std::string_view text) {
  return MakeApiError(ApiErrorType::kExpiredIterator, text);
}
// A resource has no policy, or none with the expected revision.
inline absl::Status PolicyNotFoundError(std::string_view text) {
  return MakeApiError(ApiErrorType::kPolicyNotFound, text);
}
inline absl::Status ExportNotFoundError(std::string_view text) {
  return MakeApiError(ApiErrorType::kExportNotFound, text);
}
// The token of an export belongs to another export.
inline absl::Status ExportConflictError(std::string_view text) {
  return MakeApiError(ApiErrorType::kExportConflict, text);
}
inline absl::Status InvalidExportTimeError(std::string_view text) {
  return MakeApiError(ApiErrorType::kInvalidExportTime, text);
}
// Point-in-time recovery of the table is off.
inline absl::Status PointInTimeRecoveryUnavailableError(std::string_view text) {
  return MakeApiError(ApiErrorType::kPointInTimeRecoveryUnavailable, text);
}
// A table cannot be restored to that time.
inline absl::Status InvalidRestoreTimeError(std::string_view text) {
  return MakeApiError(ApiErrorType::kInvalidRestoreTime, text);
}
// The target table of a restore is being restored already.
inline absl::Status TableInUseError(std::string_view text) { return MakeApiError(ApiErrorType::kTableInUse, text); }
inline absl::Status ImportNotFoundError(std::string_view text) {
  return MakeApiError(ApiErrorType::kImportNotFound, text);
}
// The token of an import belongs to another import.
inline absl::Status ImportConflictError(std::string_view text) {
  return MakeApiError(ApiErrorType::kImportConflict, text);
}
// INSERT of an item that exists.
inline absl::Status DuplicateItemError(std::string_view text) {
  return MakeApiError(ApiErrorType::kDuplicateItem, text);
}
inline absl::Status ServiceUnavailableError(std::string_view text) {
  return MakeApiError(ApiErrorType::kServiceUnavailable, text);
}
// Files of a table or an index are damaged, so it is set apart. The text names both.
inline absl::Status DamagedError(std::string_view text) { return MakeApiError(ApiErrorType::kDataLoss, text); }
inline absl::Status DeadlineExceededError(std::string_view text) {
  return MakeApiError(ApiErrorType::kDeadlineExceeded, text);
}
inline absl::Status CancelledError(std::string_view text) { return MakeApiError(ApiErrorType::kCancelled, text); }
// Authentication errors: no credentials, an incomplete signature, a wrong signature, an unknown access key or secret.
absl::Status MissingAuthenticationTokenError();
inline absl::Status IncompleteSignatureError(std::string_view text) {
  return MakeApiError(ApiErrorType::kIncompleteSignature, text);
}
inline absl::Status InvalidSignatureError(std::string_view text) {
  return MakeApiError(ApiErrorType::kInvalidSignature, text);
}
absl::Status UnrecognizedClientError();
// A session token beside a key that needs none. Source: captures of September 2026, without the full stop.
inline absl::Status InvalidSessionTokenError() {
  return MakeApiError(ApiErrorType::kUnrecognizedClient, "The security token included in the request is invalid");
}
// `principal` is not allowed to run `action` ("dynamodb:GetItem") on `resource` (an ARN, or "*").
absl::Status AccessDeniedError(std::string_view principal, std::string_view action, std::string_view resource);

// The parts of an API error, for front ends.
struct ApiError {
  ApiErrorType type = ApiErrorType::kValidation;
  std::string message;
  std::string item;            // wire form of the stored item; only with kConditionalCheckFailed
  int64_t retry_after_ms = 0;  // only with kThrottling and kProvisionedThroughputExceeded
};

// The API error in `status`, or nullopt if it is OK or internal.
std::optional<ApiError> GetApiError(const absl::Status& status);

// Location of a collection's size counter. Collections of two tables may have the same key.
struct CollectionName {
  std::string keyspace;
  std::string key;

  auto operator<=>(const CollectionName&) const = default;
};

// ItemCollectionSizeLimitExceededException for all of `collections`.
absl::Status ItemCollectionSizeLimitExceededError(const std::vector<CollectionName>& collections = {});
// The collections in `status`; empty if it has none.
std::vector<CollectionName> ExceededCollections(const absl::Status& status);

// The exhausted capacity.
struct ThrottlingReason {
  std::string reason;    // as documented, such as "IndexWriteProvisionedThroughputExceeded"
  std::string resource;  // ARN of the table or index
};

// ProvisionedThroughputExceededException. The client may repeat the request after `retry_after_ms`.
absl::Status ProvisionedThroughputExceededError(std::string_view message, const ThrottlingReason& reason,
                                                int64_t retry_after_ms);
// Adds a reason to `status`, a ThrottlingException.
absl::Status WithThrottlingReason(absl::Status status, const ThrottlingReason& reason);
// The reasons in `status`; empty if it has none.
std::vector<ThrottlingReason> GetThrottlingReasons(const absl::Status& status);

// Result of one action of a cancelled transaction.
struct CancellationReason {
  std::string code = "None";  // as documented: "None", "ConditionalCheckFailed", "TransactionConflict", ...
  std::string message;        // empty with "None"
  std::string item;           // wire form of the stored item; empty if not requested or if no item exists
};

// TransactionCanceledException with one reason per action, in order.
absl::Status TransactionCanceledError(const std::vector<CancellationReason>& reasons);
// The reasons in `status`; empty if it has none.
std::vector<CancellationReason> GetCancellationReasons(const absl::Status& status);

// The item is locked by a transaction.
absl::Status TransactionConflictError();
// A transaction with the same token is in progress.
absl::Status TransactionInProgressError();
// The token was used for a different request.
absl::Status IdempotentParameterMismatchError();

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_API_ERROR_H_
