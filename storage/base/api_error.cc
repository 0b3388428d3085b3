#include "storage/base/api_error.h"

#include <cassert>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "storage/base/strings.h"

namespace armature {
namespace {

constexpr char kTypeUrl[] = "armature/api-error-type";
constexpr char kItemUrl[] = "armature/api-error-item";
constexpr char kRetryUrl[] = "armature/api-error-retry-after-ms";
constexpr char kReasonUrl[] = "armature/api-error-throttling-reason";
constexpr char kCollectionsUrl[] = "armature/api-error-collections";
constexpr char kReasonsUrl[] = "armature/api-error-cancellation-reasons";
constexpr char kResourceUrl[] = "armature/api-error-throttling-resource";

using Type = ApiErrorType;
using Code = absl::StatusCode;

struct TypeRow {
  Type type;
  Code code;
  std::string_view name;
};
// In the order of the types, which begin with 1.
constexpr TypeRow kTypes[] = {
    {Type::kValidation, Code::kInvalidArgument, "ValidationException"},
    {Type::kSerialization, Code::kInvalidArgument, "SerializationException"},
    {Type::kConditionalCheckFailed, Code::kFailedPrecondition, "ConditionalCheckFailedException"},
    {Type::kResourceNotFound, Code::kNotFound, "ResourceNotFoundException"},
    {Type::kResourceInUse, Code::kFailedPrecondition, "ResourceInUseException"},
    {Type::kLimitExceeded, Code::kResourceExhausted, "LimitExceededException"},
    {Type::kTransactionCanceled, Code::kAborted, "TransactionCanceledException"},
    {Type::kTransactionConflict, Code::kAborted, "TransactionConflictException"},
    {Type::kTransactionInProgress, Code::kAborted, "TransactionInProgressException"},
    {Type::kIdempotentParameterMismatch, Code::kInvalidArgument, "IdempotentParameterMismatchException"},
    {Type::kProvisionedThroughputExceeded, Code::kResourceExhausted, "ProvisionedThroughputExceededException"},
    {Type::kThrottling, Code::kResourceExhausted, "ThrottlingException"},
    {Type::kRequestLimitExceeded, Code::kResourceExhausted, "RequestLimitExceeded"},
    {Type::kItemCollectionSizeLimitExceeded, Code::kResourceExhausted, "ItemCollectionSizeLimitExceededException"},
    {Type::kUnknownOperation, Code::kUnimplemented, "UnknownOperationException"},
    {Type::kServiceUnavailable, Code::kUnavailable, "ServiceUnavailable"},
    {Type::kDeadlineExceeded, Code::kDeadlineExceeded, "DeadlineExceeded"},
    {Type::kCancelled, Code::kCancelled, "Cancelled"},
    {Type::kTableNotFound, Code::kNotFound, "TableNotFoundException"},
    {Type::kContinuousBackupsUnavailable, Code::kFailedPrecondition, "ContinuousBackupsUnavailableException"},
    {Type::kBackupNotFound, Code::kNotFound, "BackupNotFoundException"},
    {Type::kBackupInUse, Code::kFailedPrecondition, "BackupInUseException"},
    {Type::kTableAlreadyExists, Code::kAlreadyExists, "TableAlreadyExistsException"},
    {Type::kTrimmedDataAccess, Code::kOutOfRange, "TrimmedDataAccessException"},
    {Type::kExpiredIterator, Code::kFailedPrecondition, "ExpiredIteratorException"},
    {Type::kDuplicateItem, Code::kAlreadyExists, "DuplicateItemException"},
    {Type::kMissingAuthenticationToken, Code::kUnauthenticated, "MissingAuthenticationTokenException"},
    {Type::kIncompleteSignature, Code::kUnauthenticated, "IncompleteSignatureException"},
    {Type::kInvalidSignature, Code::kUnauthenticated, "InvalidSignatureException"},
    {Type::kUnrecognizedClient, Code::kUnauthenticated, "UnrecognizedClientException"},
    {Type::kAccessDenied, Code::kPermissionDenied, "AccessDeniedException"},
    {Type::kPolicyNotFound, Code::kNotFound, "PolicyNotFoundException"},
    {Type::kExportNotFound, Code::kNotFound, "ExportNotFoundException"},
    {Type::kExportConflict, Code::kFailedPrecondition, "ExportConflictException"},
    {Type::kInvalidExportTime, Code::kInvalidArgument, "InvalidExportTimeException"},
    {Type::kPointInTimeRecoveryUnavailable, Code::kFailedPrecondition, "PointInTimeRecoveryUnavailableException"},
    {Type::kInvalidRestoreTime, Code::kInvalidArgument, "InvalidRestoreTimeException"},
    {Type::kTableInUse, Code::kFailedPrecondition, "TableInUseException"},
    {Type::kImportNotFound, Code::kNotFound, "ImportNotFoundException"},
    {Type::kImportConflict, Code::kFailedPrecondition, "ImportConflictException"},
    {Type::kDataLoss, Code::kDataLoss, "DataLoss"},
};

// Null for a value that is none.
const TypeRow* FindType(ApiErrorType type) {
  const size_t place = static_cast<size_t>(type) - 1;
  return place < std::size(kTypes) ? &kTypes[place] : nullptr;
}

constexpr bool TypesAreInOrder() {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (static_cast<size_t>(kTypes[i].type) != i + 1) return false;
  }
  return true;
}
static_assert(TypesAreInOrder());
static_assert(std::size(kTypes) == static_cast<size_t>(kLastApiErrorType));

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

// The beginning of `text`, up to a character's end.
std::string CutText(std::string_view text, size_t bytes_max) {
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return Cat(text.substr(0, end), "...");
}

}  // namespace

std::string_view ApiErrorName(ApiErrorType type) {
  const TypeRow* const row = FindType(type);
  return row == nullptr ? "InternalServerError" : row->name;
}

absl::Status MakeApiError(ApiErrorType type, std::string_view text) {
  // Whoever gets an error learns why. Tests end here, a release names the exception at least.
  assert(!text.empty());
  // A text that quotes what the client sent may have as many bytes as the request. No client needs them, and trailers
  // of gRPC cannot carry them.
  constexpr size_t kTextBytesMax = 16 << 10;
  std::string cut;
  if (text.size() > kTextBytesMax) text = cut = CutText(text, kTextBytesMax);
  absl::Status status(FindType(type)->code, Av(text.empty() ? ApiErrorName(type) : text));
  status.SetPayload(kTypeUrl, absl::Cord(std::string(1, static_cast<char>(type))));
  return status;
}

absl::Status InvalidRequestError(std::string_view detail) { return ValidationError(Cat("Invalid Request: ", detail)); }

absl::Status InvalidParameterError(std::string_view detail) {
  return ValidationError(Cat("One or more parameter values were invalid: ", detail));
}

absl::Status AttributeNameTooLongError() {
  return ValidationError(Cat(kEnvelope, "Attribute name is too large, must be less than 65536 bytes"));
}

absl::Status StillInUseError(std::string_view detail) {
  return ResourceInUseError(Cat("Attempt to change a resource which is still in use: ", detail));
}

absl::Status ConditionalCheckFailedError(std::string_view item) {
  absl::Status status = MakeApiError(ApiErrorType::kConditionalCheckFailed, "The conditional request failed");
  if (!item.empty()) status.SetPayload(kItemUrl, absl::Cord(Av(item)));
  return status;
}

absl::Status ThrottlingError(std::string_view message, int64_t retry_after_ms) {
  absl::Status status = MakeApiError(ApiErrorType::kThrottling, message);
  status.SetPayload(kRetryUrl, absl::Cord(std::to_string(retry_after_ms)));
  return status;
}

absl::Status ProvisionedThroughputExceededError(std::string_view message, const ThrottlingReason& reason,
                                                int64_t retry_after_ms) {
  absl::Status status = MakeApiError(ApiErrorType::kProvisionedThroughputExceeded, message);
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
  absl::Status status = MakeApiError(ApiErrorType::kTransactionCanceled, Cat(message, "]"));
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
  return MakeApiError(ApiErrorType::kTransactionConflict, "Transaction is ongoing for the item");
}

absl::Status TransactionInProgressError() {
  return MakeApiError(ApiErrorType::kTransactionInProgress,
                      "The transaction with the given request token is already in progress.");
}

absl::Status IdempotentParameterMismatchError() {
  return MakeApiError(
      ApiErrorType::kIdempotentParameterMismatch,
      "DynamoDB rejected the request because you retried a request with a different payload but with an "
      "idempotent token that was already used.");
}

absl::Status ItemCollectionSizeLimitExceededError(const std::vector<CollectionName>& collections) {
  std::string fields;
  for (const CollectionName& collection : collections) {
    AppendSized(collection.keyspace, &fields);
    AppendSized(collection.key, &fields);
  }
  absl::Status status = MakeApiError(ApiErrorType::kItemCollectionSizeLimitExceeded, "Collection size exceeded.");
  if (!fields.empty()) status.SetPayload(kCollectionsUrl, absl::Cord(std::move(fields)));
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

absl::Status MissingAuthenticationTokenError() {
  return MakeApiError(ApiErrorType::kMissingAuthenticationToken, "Request is missing Authentication Token");
}

absl::Status UnrecognizedClientError() {
  return MakeApiError(ApiErrorType::kUnrecognizedClient, "The security token included in the request is invalid.");
}

absl::Status AccessDeniedError(std::string_view principal, std::string_view action, std::string_view resource) {
  return MakeApiError(ApiErrorType::kAccessDenied,
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
