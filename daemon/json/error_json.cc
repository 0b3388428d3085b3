#include "daemon/json/error_json.h"

#include <optional>
#include <vector>

#include "daemon/message_json/item_json.h"
#include "daemon/message_json/json_reader.h"
#include "daemon/message_json/json_writer.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kApi = "com.amazonaws.dynamodb.v20120810";
constexpr std::string_view kService = "com.amazon.coral.service";
constexpr std::string_view kValidate = "com.amazon.coral.validate";

constexpr std::string_view kLower = "message";
constexpr std::string_view kCapital = "Message";

using Type = ApiErrorType;
using Code = absl::StatusCode;

// Namespaces and members follow the answers of the original service.
constexpr ErrorRow kRows[] = {
    {Type::kValidation, Code::kInvalidArgument, 400, kValidate, kLower},
    {Type::kSerialization, Code::kInvalidArgument, 400, kService, kCapital},
    {Type::kConditionalCheckFailed, Code::kFailedPrecondition, 400, kApi, kLower},
    {Type::kResourceNotFound, Code::kNotFound, 400, kApi, kLower},
    {Type::kResourceInUse, Code::kFailedPrecondition, 400, kApi, kLower},
    {Type::kLimitExceeded, Code::kResourceExhausted, 400, kApi, kLower},
    {Type::kTransactionCanceled, Code::kAborted, 400, kApi, kCapital},
    {Type::kTransactionConflict, Code::kAborted, 400, kApi, kLower},
    {Type::kTransactionInProgress, Code::kAborted, 400, kApi, kCapital},
    {Type::kIdempotentParameterMismatch, Code::kInvalidArgument, 400, kApi, kCapital},
    {Type::kProvisionedThroughputExceeded, Code::kResourceExhausted, 400, kApi, kLower},
    {Type::kThrottling, Code::kResourceExhausted, 400, kApi, kLower},
    {Type::kRequestLimitExceeded, Code::kResourceExhausted, 400, kApi, kLower},
    {Type::kItemCollectionSizeLimitExceeded, Code::kResourceExhausted, 400, kApi, kLower},
    {Type::kTableNotFound, Code::kNotFound, 400, kApi, kLower},
    {Type::kContinuousBackupsUnavailable, Code::kFailedPrecondition, 400, kApi, kLower},
    {Type::kBackupNotFound, Code::kNotFound, 400, kApi, kLower},
    {Type::kBackupInUse, Code::kFailedPrecondition, 400, kApi, kLower},
    {Type::kTrimmedDataAccess, Code::kOutOfRange, 400, kApi, kLower},
    {Type::kExpiredIterator, Code::kFailedPrecondition, 400, kApi, kLower},
    {Type::kDuplicateItem, Code::kAlreadyExists, 400, kApi, kLower},
    {Type::kPolicyNotFound, Code::kNotFound, 400, kApi, kLower},
    {Type::kExportNotFound, Code::kNotFound, 400, kApi, kLower},
    {Type::kExportConflict, Code::kFailedPrecondition, 400, kApi, kLower},
    {Type::kInvalidExportTime, Code::kInvalidArgument, 400, kApi, kLower},
    {Type::kPointInTimeRecoveryUnavailable, Code::kFailedPrecondition, 400, kApi, kLower},
    {Type::kInvalidRestoreTime, Code::kInvalidArgument, 400, kApi, kLower},
    {Type::kTableInUse, Code::kFailedPrecondition, 400, kApi, kLower},
    {Type::kImportNotFound, Code::kNotFound, 400, kApi, kLower},
    {Type::kImportConflict, Code::kFailedPrecondition, 400, kApi, kLower},
    {Type::kTableAlreadyExists, Code::kAlreadyExists, 400, kApi, kLower},
    {Type::kUnknownOperation, Code::kUnimplemented, 400, kService, kLower},
    {Type::kMissingAuthenticationToken, Code::kUnauthenticated, 400, kService, kLower},
    {Type::kIncompleteSignature, Code::kUnauthenticated, 400, kService, kLower},
    {Type::kInvalidSignature, Code::kUnauthenticated, 400, kService, kLower},
    {Type::kUnrecognizedClient, Code::kUnauthenticated, 400, kService, kLower},
    {Type::kAccessDenied, Code::kPermissionDenied, 400, kService, kCapital},
    {Type::kServiceUnavailable, Code::kUnavailable, 503, kApi, kLower},
    {Type::kDataLoss, Code::kDataLoss, 500, kApi, kLower},
    // The original protocol has no deadlines. Clients retry this error like any 503.
    {Type::kDeadlineExceeded, Code::kDeadlineExceeded, 503, kApi, kLower},
    {Type::kCancelled, Code::kCancelled, 503, kApi, kLower},
};

constexpr ErrorRow kNoRow{.json_namespace = kApi, .json_text_member = kLower};

constexpr InternalErrorRow kInternal{"InternalServerError", Code::kInternal, 500, kApi, "Internal server error"};
constexpr InternalErrorRow kUnavailable{"ServiceUnavailable", Code::kUnavailable, 503, kApi,
                                        "The server cannot carry out the request now"};

// The two exceptions with reasons spell the member differently.
void WriteReasons(ApiErrorType type, const std::vector<ThrottlingReason>& reasons, JsonWriter* writer) {
  if (reasons.empty()) return;
  const bool provisioned = type == ApiErrorType::kProvisionedThroughputExceeded;
  writer->Key(provisioned ? "ThrottlingReasons" : "throttlingReasons").BeginArray();
  for (const ThrottlingReason& each : reasons) {
    writer->BeginObject().Member("reason", each.reason).Member("resource", each.resource).EndObject();
  }
  writer->EndArray();
}

void WriteCancellation(const std::vector<CancellationReason>& reasons, JsonWriter* writer) {
  if (reasons.empty()) return;
  writer->Key("CancellationReasons").BeginArray();
  for (const CancellationReason& each : reasons) {
    writer->BeginObject().Member("Code", each.code);
    if (!each.message.empty()) writer->Member("Message", each.message);
    if (!each.item.empty()) WriteItem(each.item, &writer->Key("Item"));
    writer->EndObject();
  }
  writer->EndArray();
}

}  // namespace

const ErrorRow& FindErrorRow(ApiErrorType type) {
  for (const ErrorRow& row : kRows) {
    if (row.type == type) return row;
  }
  return kNoRow;
}

const InternalErrorRow& LogInternalError(const absl::Status& status, std::string_view request_id) {
  LOG(ERROR) << "request: internal error request_id=" << request_id << " status=" << status;
  // A full disk and a stopping engine are worth a retry. Other internal errors are not.
  const bool unavailable = status.code() == Code::kUnavailable || status.code() == Code::kResourceExhausted;
  return unavailable ? kUnavailable : kInternal;
}

JsonAnswer ErrorAnswer(const absl::Status& error, std::string_view request_id, const MemorySource& memory) {
  unsigned status = 0;
  JsonWriter writer{HeldMemory(memory)};
  writer.BeginObject();
  const std::optional<ApiError> api_error = GetApiError(error);
  if (api_error.has_value()) {
    const ErrorRow& row = FindErrorRow(api_error->type);
    status = row.http_status;
    writer.Member("__type", Cat(row.json_namespace, "#", ApiErrorName(api_error->type)));
    // ConditionalCheckFailedException with an item has the member in capitals.
    const std::string_view text_member = api_error->item.empty() ? row.json_text_member : kCapital;
    if (api_error->message != kNoDocumentText) writer.Member(text_member, api_error->message);
    WriteCancellation(GetCancellationReasons(error), &writer);
    WriteReasons(api_error->type, GetThrottlingReasons(error), &writer);
    if (!api_error->item.empty()) WriteItem(api_error->item, &writer.Key("Item"));
  } else {
    const InternalErrorRow& row = LogInternalError(error, request_id);
    status = row.http_status;
    writer.Member("__type", Cat(row.json_namespace, "#", row.name)).Member("message", row.text);
  }
  writer.EndObject();
  if (writer.is_refused()) return ErrorAnswer(NoMemoryForAnswerError(), request_id);
  JsonAnswer answer = AnswerOf(&writer, /*may_refuse=*/true, request_id);
  answer.status = status;
  answer.error = error;
  return answer;
}

}  // namespace armature::daemon
