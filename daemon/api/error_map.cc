#include "daemon/api/error_map.h"

#include <optional>

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
  }
  return grpc::StatusCode::INTERNAL;
}

grpc::Status WithDetail(grpc::StatusCode code, const api::v1::ErrorDetail& detail) {
  api::v1::RpcStatus status;
  status.set_code(code);
  status.set_message(detail.message());
  status.add_details()->PackFrom(detail);
  return grpc::Status(code, detail.message(), status.SerializeAsString());
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  api::v1::ErrorDetail detail;
  const std::optional<ApiError> error = GetApiError(status);
  if (error.has_value()) {
    detail.set_exception(std::string(ApiErrorName(error->type)));
    detail.set_message(error->message);
    detail.set_retry_after_ms(error->retry_after_ms);
    if (!error->item.empty()) detail.mutable_item()->ParseFromString(error->item);
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
