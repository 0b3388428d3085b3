#include "storage/base/api_error.h"

#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "storage/base/collection_error.h"
#include "storage/base/strings.h"
#include "storage/base/throttling_error.h"
#include "storage/base/transaction_error.h"

namespace armature {
namespace {

constexpr char kTypeUrl[] = "armature/api-error-type";
constexpr char kItemUrl[] = "armature/api-error-item";
constexpr char kRetryUrl[] = "armature/api-error-retry-after-ms";
constexpr char kReasonUrl[] = "armature/api-error-throttling-reason";
constexpr char kCollectionsUrl[] = "armature/api-error-collections";
constexpr char kReasonsUrl[] = "armature/api-error-cancellation-reasons";
constexpr char kResourceUrl[] = "armature/api-error-throttling-resource";

absl::Status Make(absl::StatusCode code, ApiErrorType type, std::string_view message) {
  absl::Status status(code, Av(message));
  status.SetPayload(kTypeUrl, absl::Cord(std::string(1, static_cast<char>(type))));
  return status;
}

// Appends a string to a payload of several strings: its size, a colon, and its bytes.
void AppendSized(std::string_view text, std::string* to) { *to += Cat(text.size(), ":", text); }

std::string TakeSized(std::string_view* rest) {
  size_t size = 0;
  const char* const end = std::from_chars(rest->data(), rest->data() + rest->size(), size).ptr;
  rest->remove_prefix(static_cast<size_t>(end - rest->data()) + 1);
  std::string text(rest->substr(0, size));
  rest->remove_prefix(size);
  return text;
}

}  // namespace

std::string_view ApiErrorName(ApiErrorType type) {
  switch (type) {
    case ApiErrorType::kValidation:
      return "ValidationException";
    case ApiErrorType::kSerialization:
      return "SerializationException";
    case ApiErrorType::kConditionalCheckFailed:
      return "ConditionalCheckFailedException";
    case ApiErrorType::kResourceNotFound:
      return "ResourceNotFoundException";
    case ApiErrorType::kResourceInUse:
      return "ResourceInUseException";
    case ApiErrorType::kLimitExceeded:
      return "LimitExceededException";
    case ApiErrorType::kTransactionCanceled:
      return "TransactionCanceledException";
    case ApiErrorType::kTransactionConflict:
      return "TransactionConflictException";
    case ApiErrorType::kTransactionInProgress:
      return "TransactionInProgressException";
    case ApiErrorType::kIdempotentParameterMismatch:
      return "IdempotentParameterMismatchException";
    case ApiErrorType::kProvisionedThroughputExceeded:
      return "ProvisionedThroughputExceededException";
    case ApiErrorType::kThrottling:
      return "ThrottlingException";
    case ApiErrorType::kRequestLimitExceeded:
      return "RequestLimitExceeded";
    case ApiErrorType::kItemCollectionSizeLimitExceeded:
      return "ItemCollectionSizeLimitExceededException";
    case ApiErrorType::kUnknownOperation:
      return "UnknownOperationException";
    case ApiErrorType::kServiceUnavailable:
      return "ServiceUnavailable";
    case ApiErrorType::kDeadlineExceeded:
      return "DeadlineExceeded";
    case ApiErrorType::kCancelled:
      return "Cancelled";
    case ApiErrorType::kTableNotFound:
      return "TableNotFoundException";
    case ApiErrorType::kContinuousBackupsUnavailable:
      return "ContinuousBackupsUnavailableException";
    case ApiErrorType::kBackupNotFound:
      return "BackupNotFoundException";
    case ApiErrorType::kBackupInUse:
      return "BackupInUseException";
    case ApiErrorType::kTableAlreadyExists:
      return "TableAlreadyExistsException";
    case ApiErrorType::kMissingAuthenticationToken:
      return "MissingAuthenticationTokenException";
    case ApiErrorType::kIncompleteSignature:
      return "IncompleteSignatureException";
    case ApiErrorType::kInvalidSignature:
      return "InvalidSignatureException";
    case ApiErrorType::kUnrecognizedClient:
      return "UnrecognizedClientException";
    case ApiErrorType::kAccessDenied:
      return "AccessDeniedException";
  }
  return "InternalServerError";
}

absl::Status ValidationError(std::string_view message) {
  return Make(absl::StatusCode::kInvalidArgument, ApiErrorType::kValidation, message);
}

absl::Status InvalidParameterError(std::string_view detail) {
  return ValidationError(Cat("One or more parameter values were invalid: ", detail));
}

absl::Status SerializationError(std::string_view message) {
  return Make(absl::StatusCode::kInvalidArgument, ApiErrorType::kSerialization, message);
}

absl::Status ConditionalCheckFailedError(std::string_view item) {
  absl::Status status = Make(absl::StatusCode::kFailedPrecondition, ApiErrorType::kConditionalCheckFailed,
                             "The conditional request failed");
  if (!item.empty()) status.SetPayload(kItemUrl, absl::Cord(Av(item)));
  return status;
}

absl::Status ResourceNotFoundError(std::string_view message) {
  return Make(absl::StatusCode::kNotFound, ApiErrorType::kResourceNotFound, message);
}

absl::Status ResourceInUseError(std::string_view message) {
  return Make(absl::StatusCode::kFailedPrecondition, ApiErrorType::kResourceInUse, message);
}

absl::Status LimitExceededError(std::string_view message) {
  return Make(absl::StatusCode::kResourceExhausted, ApiErrorType::kLimitExceeded, message);
}

absl::Status ThrottlingError(std::string_view message, int64_t retry_after_ms) {
  absl::Status status = Make(absl::StatusCode::kResourceExhausted, ApiErrorType::kThrottling, message);
  status.SetPayload(kRetryUrl, absl::Cord(std::to_string(retry_after_ms)));
  return status;
}

absl::Status ProvisionedThroughputExceededError(std::string_view message, const ThrottlingReason& reason,
                                                int64_t retry_after_ms) {
  absl::Status status =
      Make(absl::StatusCode::kResourceExhausted, ApiErrorType::kProvisionedThroughputExceeded, message);
  status.SetPayload(kRetryUrl, absl::Cord(std::to_string(retry_after_ms)));
  return WithThrottlingReason(std::move(status), reason);
}

absl::Status WithThrottlingReason(absl::Status status, const ThrottlingReason& reason) {
  status.SetPayload(kReasonUrl, absl::Cord(Av(reason.reason)));
  status.SetPayload(kResourceUrl, absl::Cord(Av(reason.resource)));
  return status;
}

std::vector<ThrottlingReason> GetThrottlingReasons(const absl::Status& status) {
  const auto reason = status.GetPayload(kReasonUrl);
  const auto resource = status.GetPayload(kResourceUrl);
  if (!reason.has_value() || !resource.has_value()) return {};
  return {{std::string(*reason), std::string(*resource)}};
}

absl::Status TransactionCanceledError(const std::vector<CancellationReason>& reasons) {
  std::string message = "Transaction cancelled, please refer cancellation reasons for specific reasons [";
  std::string_view separator;
  std::string fields;
  for (const CancellationReason& reason : reasons) {
    message += Cat(separator, reason.code);
    separator = ", ";
    for (const std::string* const field : {&reason.code, &reason.message, &reason.item}) AppendSized(*field, &fields);
  }
  absl::Status status = Make(absl::StatusCode::kAborted, ApiErrorType::kTransactionCanceled, Cat(message, "]"));
  status.SetPayload(kReasonsUrl, absl::Cord(std::move(fields)));
  return status;
}

std::vector<CancellationReason> GetCancellationReasons(const absl::Status& status) {
  const auto payload = status.GetPayload(kReasonsUrl);
  if (!payload.has_value()) return {};
  const std::string fields(*payload);
  std::string_view rest = fields;
  std::vector<CancellationReason> reasons;
  while (!rest.empty()) {
    CancellationReason& reason = reasons.emplace_back();
    reason.code = TakeSized(&rest);
    reason.message = TakeSized(&rest);
    reason.item = TakeSized(&rest);
  }
  return reasons;
}

absl::Status TransactionConflictError() {
  return Make(absl::StatusCode::kAborted, ApiErrorType::kTransactionConflict, "Transaction is ongoing for the item");
}

absl::Status TransactionInProgressError() {
  return Make(absl::StatusCode::kAborted, ApiErrorType::kTransactionInProgress,
              "The transaction with the given request token is already in progress.");
}

absl::Status IdempotentParameterMismatchError() {
  return Make(absl::StatusCode::kInvalidArgument, ApiErrorType::kIdempotentParameterMismatch,
              "DynamoDB rejected the request because you retried a request with a different payload but with an "
              "idempotent token that was already used.");
}

absl::Status ItemCollectionSizeLimitExceededError() {
  return Make(absl::StatusCode::kResourceExhausted, ApiErrorType::kItemCollectionSizeLimitExceeded,
              "Collection size exceeded.");
}

absl::Status ItemCollectionSizeLimitExceededError(const std::vector<CollectionName>& collections) {
  std::string fields;
  for (const CollectionName& collection : collections) {
    AppendSized(collection.keyspace, &fields);
    AppendSized(collection.key, &fields);
  }
  absl::Status status = ItemCollectionSizeLimitExceededError();
  status.SetPayload(kCollectionsUrl, absl::Cord(std::move(fields)));
  return status;
}

std::vector<CollectionName> ExceededCollections(const absl::Status& status) {
  const auto payload = status.GetPayload(kCollectionsUrl);
  if (!payload.has_value()) return {};
  const std::string fields(*payload);
  std::string_view rest = fields;
  std::vector<CollectionName> collections;
  while (!rest.empty()) {
    CollectionName& collection = collections.emplace_back();
    collection.keyspace = TakeSized(&rest);
    collection.key = TakeSized(&rest);
  }
  return collections;
}

absl::Status UnknownOperationError(std::string_view message) {
  return Make(absl::StatusCode::kUnimplemented, ApiErrorType::kUnknownOperation, message);
}

absl::Status TableNotFoundError(std::string_view message) {
  return Make(absl::StatusCode::kNotFound, ApiErrorType::kTableNotFound, message);
}

absl::Status ContinuousBackupsUnavailableError(std::string_view message) {
  return Make(absl::StatusCode::kFailedPrecondition, ApiErrorType::kContinuousBackupsUnavailable, message);
}

absl::Status BackupNotFoundError(std::string_view message) {
  return Make(absl::StatusCode::kNotFound, ApiErrorType::kBackupNotFound, message);
}

absl::Status BackupInUseError(std::string_view message) {
  return Make(absl::StatusCode::kFailedPrecondition, ApiErrorType::kBackupInUse, message);
}

absl::Status TableAlreadyExistsError(std::string_view message) {
  return Make(absl::StatusCode::kAlreadyExists, ApiErrorType::kTableAlreadyExists, message);
}

absl::Status ServiceUnavailableError(std::string_view message) {
  return Make(absl::StatusCode::kUnavailable, ApiErrorType::kServiceUnavailable, message);
}

absl::Status DeadlineExceededError(std::string_view message) {
  return Make(absl::StatusCode::kDeadlineExceeded, ApiErrorType::kDeadlineExceeded, message);
}

absl::Status CancelledError(std::string_view message) {
  return Make(absl::StatusCode::kCancelled, ApiErrorType::kCancelled, message);
}

absl::Status MissingAuthenticationTokenError() {
  return Make(absl::StatusCode::kUnauthenticated, ApiErrorType::kMissingAuthenticationToken,
              "Request is missing Authentication Token");
}

absl::Status IncompleteSignatureError(std::string_view message) {
  return Make(absl::StatusCode::kUnauthenticated, ApiErrorType::kIncompleteSignature, message);
}

absl::Status InvalidSignatureError(std::string_view message) {
  return Make(absl::StatusCode::kUnauthenticated, ApiErrorType::kInvalidSignature, message);
}

absl::Status UnrecognizedClientError() {
  return Make(absl::StatusCode::kUnauthenticated, ApiErrorType::kUnrecognizedClient,
              "The security token included in the request is invalid.");
}

absl::Status AccessDeniedError(std::string_view principal, std::string_view action, std::string_view resource) {
  return Make(absl::StatusCode::kPermissionDenied, ApiErrorType::kAccessDenied,
              Cat("User: ", principal, " is not authorized to perform: ", action, " on resource: ", resource));
}

std::optional<ApiError> GetApiError(const absl::Status& status) {
  if (status.ok()) return std::nullopt;
  const auto type = status.GetPayload(kTypeUrl);
  if (!type.has_value() || type->empty()) return std::nullopt;
  ApiError error;
  error.type = static_cast<ApiErrorType>((*type)[0]);
  error.message = std::string(status.message());
  if (const auto item = status.GetPayload(kItemUrl)) error.item = std::string(*item);
  if (const auto retry = status.GetPayload(kRetryUrl)) {
    const std::string text(*retry);
    std::from_chars(text.data(), text.data() + text.size(), error.retry_after_ms);
  }
  return error;
}

}  // namespace armature
