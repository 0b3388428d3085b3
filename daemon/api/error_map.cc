#include "daemon/api/error_map.h"

#include <optional>
#include <string>
#include <string_view>

#include "armature/api/v1/errors.pb.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"

namespace armature::daemon {
namespace {

grpc::StatusCode ToGrpcCode(ApiErrorType type) {
  switch (type) {
    case ApiErrorType::kValidation:
    case ApiErrorType::kSerialization:
    case ApiErrorType::kIdempotentParameterMismatch:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case ApiErrorType::kResourceNotFound:
      return grpc::StatusCode::NOT_FOUND;
    case ApiErrorType::kConditionalCheckFailed:
    case ApiErrorType::kResourceInUse:
      return grpc::StatusCode::FAILED_PRECONDITION;
    case ApiErrorType::kTransactionCanceled:
    case ApiErrorType::kTransactionConflict:
    case ApiErrorType::kTransactionInProgress:
      return grpc::StatusCode::ABORTED;
    case ApiErrorType::kLimitExceeded:
    case ApiErrorType::kProvisionedThroughputExceeded:
    case ApiErrorType::kThrottling:
    case ApiErrorType::kRequestLimitExceeded:
    case ApiErrorType::kItemCollectionSizeLimitExceeded:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case ApiErrorType::kUnknownOperation:
      return grpc::StatusCode::UNIMPLEMENTED;
    case ApiErrorType::kServiceUnavailable:
      return grpc::StatusCode::UNAVAILABLE;
    case ApiErrorType::kDeadlineExceeded:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case ApiErrorType::kCancelled:
      return grpc::StatusCode::CANCELLED;
    case ApiErrorType::kMissingAuthenticationToken:
    case ApiErrorType::kIncompleteSignature:
    case ApiErrorType::kInvalidSignature:
    case ApiErrorType::kUnrecognizedClient:
      return grpc::StatusCode::UNAUTHENTICATED;
    case ApiErrorType::kAccessDenied:
      return grpc::StatusCode::PERMISSION_DENIED;
  }
  return grpc::StatusCode::INTERNAL;
}

// Errors travel in trailers, of which gRPC clients accept 8 KB unless told otherwise; beyond, they report
// RESOURCE_EXHAUSTED in place of the error. The details grow by a third on the wire (base64), the text up to threefold
// (percent-encoding).
constexpr size_t kTextBytesMax = 512;
constexpr size_t kDetailTextBytesMax = 2048;
constexpr size_t kDetailBytesMax = 4096;

// `text` or its beginning, cut between two characters of UTF-8.
std::string Shortened(std::string_view text, size_t bytes_max) {
  constexpr std::string_view kMark = "...";
  if (text.size() <= bytes_max) return std::string(text);
  size_t end = bytes_max - kMark.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return Cat(text.substr(0, end), kMark);
}

grpc::Status WithDetail(grpc::StatusCode code, const api::v1::ErrorDetail& detail) {
  const std::string text = Shortened(detail.message(), kTextBytesMax);
  api::v1::RpcStatus status;
  status.set_code(code);
  status.set_message(text);
  status.add_details()->PackFrom(detail);
  return grpc::Status(code, text, status.SerializeAsString());
}

void SetItem(const std::string& item_bytes, api::v1::ErrorDetail* detail) {
  if (item_bytes.empty()) return;
  if (item_bytes.size() + detail->ByteSizeLong() > kDetailBytesMax - kTextBytesMax) {
    detail->set_item_omitted(true);
  } else {
    detail->mutable_item()->ParseFromString(item_bytes);
  }
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  api::v1::ErrorDetail detail;
  const std::optional<ApiError> error = GetApiError(status);
  if (error.has_value()) {
    detail.set_exception(std::string(ApiErrorName(error->type)));
    detail.set_message(Shortened(error->message, kDetailTextBytesMax));
    detail.set_retry_after_ms(error->retry_after_ms);
    SetItem(error->item, &detail);
    return WithDetail(ToGrpcCode(error->type), detail);
  }
  detail.set_request_id(store::RandomUuid());
  LOG(ERROR) << "request: internal error request_id=" << detail.request_id() << " status=" << status;
  // A full disk and a stopping engine are worth another try; anything else is not the client's to mend.
  const bool unavailable =
      status.code() == absl::StatusCode::kUnavailable || status.code() == absl::StatusCode::kResourceExhausted;
  detail.set_exception(unavailable ? "ServiceUnavailable" : "InternalServerError");
  detail.set_message(unavailable ? Cat("The server cannot carry out the request now; request id ", detail.request_id())
                                 : Cat("Internal server error; request id ", detail.request_id()));
  return WithDetail(unavailable ? grpc::StatusCode::UNAVAILABLE : grpc::StatusCode::INTERNAL, detail);
}

}  // namespace armature::daemon
