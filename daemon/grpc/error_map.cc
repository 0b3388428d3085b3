#include "daemon/grpc/error_map.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "armature/api/v1/errors.pb.h"
#include "daemon/grpc/standard_details.h"
#include "daemon/json/error_json.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/store/data_directory.h"

namespace armature::daemon {
namespace {

RpcCode ToRpcCode(absl::StatusCode code) { return static_cast<RpcCode>(code); }

// Errors are sent in trailers. gRPC clients accept 8 KB by default; for more they report RESOURCE_EXHAUSTED instead of
// the error. On the wire, details grow by a third (base64), and text up to threefold (percent-encoding).
constexpr size_t kTextBytesMax = 512;
constexpr size_t kDetailTextBytesMax = 2048;
constexpr size_t kDetailBytesMax = 4096;
// Tag and length of a field, and the growth of the enclosing lengths.
constexpr size_t kFieldHeadBytes = 8;
constexpr size_t kFlagBytes = 2;

bool IsBadRequest(ApiErrorType type) {
  return type == ApiErrorType::kValidation || type == ApiErrorType::kSerialization;
}

std::string WithHint(std::string message) {
  if (message.find(codec::kEmptyValueText) != std::string::npos) message += kTypeHint;
  return message;
}

// `retry_ms`: see AddRetryInfo; 0: none.
RpcStatus WithDetails(RpcCode code, const api::v1::ErrorDetail& detail, int64_t retry_ms, bool is_bad_request) {
  const std::string text = Shortened(detail.message(), kTextBytesMax);
  api::v1::RpcStatus status;
  status.set_code(static_cast<int>(code));
  status.set_message(text);
  status.add_details()->PackFrom(detail);
  AddErrorInfo(detail.exception(), &status);
  if (retry_ms > 0) AddRetryInfo(retry_ms, &status);
  if (is_bad_request) AddBadRequest(detail.message(), &status);
  return {.code = code,
          .message = text,
          .details = status.SerializeAsString(),
          .trailers = {{"x-armature-exception", detail.exception()}}};
}

void SetItem(const std::string& item_bytes, api::v1::ErrorDetail* detail) {
  if (item_bytes.empty()) return;
  if (item_bytes.size() + detail->ByteSizeLong() > kDetailBytesMax - kTextBytesMax) {
    detail->set_item_omitted(true);
  } else {
    detail->mutable_item()->ParseFromString(item_bytes);
  }
}

// Items get the available space first, in the order of the actions. Texts follow, because they only repeat the codes in
// words.
void SetCancellationReasons(const std::vector<CancellationReason>& reasons, api::v1::ErrorDetail* detail) {
  for (const CancellationReason& each : reasons) detail->add_cancellation_reasons()->set_code(each.code);
  const size_t bytes_max = kDetailBytesMax - kTextBytesMax;
  size_t bytes = detail->ByteSizeLong();
  for (size_t i = 0; i < reasons.size(); ++i) {
    if (reasons[i].item.empty()) continue;
    api::v1::CancellationReason* const reason = detail->mutable_cancellation_reasons(static_cast<int>(i));
    if (bytes + reasons[i].item.size() + kFieldHeadBytes > bytes_max) {
      reason->set_item_omitted(true);
      bytes += kFlagBytes;
      continue;
    }
    bytes += reasons[i].item.size() + kFieldHeadBytes;
    reason->mutable_item()->ParseFromString(reasons[i].item);
  }
  for (size_t i = 0; i < reasons.size(); ++i) {
    const std::string text = Shortened(reasons[i].message, kTextBytesMax);
    if (text.empty() || bytes + text.size() + kFieldHeadBytes > bytes_max) continue;
    bytes += text.size() + kFieldHeadBytes;
    detail->mutable_cancellation_reasons(static_cast<int>(i))->set_message(text);
  }
}

// True for reasons that pass, and no other ones.
bool IsCancelledForNow(const std::vector<CancellationReason>& reasons) {
  constexpr std::string_view kPassing[] = {"None", "TransactionConflict", "ProvisionedThroughputExceeded",
                                           "ThrottlingError"};
  return !reasons.empty() && std::all_of(reasons.begin(), reasons.end(), [&](const CancellationReason& each) {
    return std::find(std::begin(kPassing), std::end(kPassing), each.code) != std::end(kPassing);
  });
}

// The details of an error that is meant for users.
RpcStatus ApiStatus(const absl::Status& status, const ApiError& error) {
  api::v1::ErrorDetail detail;
  detail.set_exception(std::string(ApiErrorName(error.type)));
  const std::vector<CancellationReason> reasons = GetCancellationReasons(status);
  // The text of a cancelled transaction repeats the codes of its reasons.
  detail.set_message(Shortened(WithHint(error.message), reasons.empty() ? kDetailTextBytesMax : kTextBytesMax));
  detail.set_retry_after_ms(error.retry_after_ms);
  for (const ThrottlingReason& each : GetThrottlingReasons(status)) {
    api::v1::ThrottlingReason* const reason = detail.add_throttling_reasons();
    reason->set_reason(each.reason);
    reason->set_resource(each.resource);
  }
  SetItem(error.item, &detail);
  SetCancellationReasons(reasons, &detail);
  // A transaction that conflicts would succeed alone.
  const ApiErrorType cause = IsCancelledForNow(reasons) ? ApiErrorType::kTransactionConflict : error.type;
  const int64_t retry_ms = error.retry_after_ms > 0 ? error.retry_after_ms : RetryDelayMs(cause);
  return WithDetails(ToRpcCode(FindErrorRow(error.type).grpc_code), detail, retry_ms, IsBadRequest(error.type));
}

}  // namespace

RpcStatus ToRpcStatus(const absl::Status& status, std::string_view request_id) {
  if (status.ok()) return {};
  if (const std::optional<ApiError> error = GetApiError(status); error.has_value()) return ApiStatus(status, *error);
  api::v1::ErrorDetail detail;
  detail.set_request_id(request_id.empty() ? store::RandomUuid() : std::string(request_id));
  const InternalErrorRow& row = LogInternalError(status, detail.request_id());
  detail.set_exception(std::string(row.name));
  detail.set_message(Cat(row.text, "; request id ", detail.request_id()));
  const int64_t retry_ms = row.grpc_code == absl::StatusCode::kUnavailable ? kUnavailableRetryDelayMs : 0;
  return WithDetails(ToRpcCode(row.grpc_code), detail, retry_ms, /*is_bad_request=*/false);
}

RpcStatus WithRequestId(std::string_view request_id, RpcStatus status) {
  if (!request_id.empty()) status.trailers.emplace_back("x-armature-request-id", request_id);
  return status;
}

}  // namespace armature::daemon
