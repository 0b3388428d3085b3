#include "armature/client/errors.h"

#include <utility>

#include "absl/strings/cord.h"
#include "google/protobuf/any.pb.h"
#include "storage/base/strings.h"

namespace armature::client {
namespace {

constexpr std::string_view kNeverSentUrl = "armature.client/NeverSent";
constexpr std::string_view kMaybeAppliedUrl = "armature.client/MaybeApplied";

}  // namespace

std::optional<api::v1::ErrorDetail> ErrorDetailOf(const absl::Status& status) {
  const auto payload = status.GetPayload(Av(kErrorDetailUrl));
  api::v1::ErrorDetail detail;
  if (!payload.has_value() || !detail.ParseFromString(std::string(*payload))) return std::nullopt;
  return detail;
}

std::string ErrorName(const absl::Status& status) {
  const std::optional<api::v1::ErrorDetail> detail = ErrorDetailOf(status);
  return detail.has_value() ? detail->exception() : "";
}

absl::Duration RetryAfter(const absl::Status& status) {
  const std::optional<api::v1::ErrorDetail> detail = ErrorDetailOf(status);
  if (!detail.has_value() || detail->retry_after_ms() <= 0) return absl::ZeroDuration();
  return absl::Milliseconds(detail->retry_after_ms());
}

bool CertainlyNotApplied(const absl::Status& status) {
  if (status.GetPayload(Av(kMaybeAppliedUrl)).has_value()) return false;
  if (status.GetPayload(Av(kNeverSentUrl)).has_value()) return true;
  const std::string name = ErrorName(status);
  // The first two can occur in the middle of a write. The last one is about one write of a batch whose other writes are
  // done.
  return !name.empty() && name != "InternalServerError" && name != "ServiceUnavailable" &&
         name != "ItemCollectionSizeLimitExceededException";
}

absl::Status MakeCallStatus(absl::StatusCode code, std::string_view message, std::string_view details) {
  absl::Status status(code, Av(message));
  api::v1::RpcStatus rpc_status;
  if (status.ok() || details.empty() || !rpc_status.ParseFromString(std::string(details))) {
    return status;
  }
  for (const google::protobuf::Any& any : rpc_status.details()) {
    api::v1::ErrorDetail detail;
    if (any.UnpackTo(&detail)) return WithDetail(std::move(status), detail);
  }
  return status;
}

absl::Status WithDetail(absl::Status status, const api::v1::ErrorDetail& detail) {
  status.SetPayload(Av(kErrorDetailUrl), absl::Cord(detail.SerializeAsString()));
  return status;
}

absl::Status NeverSent(absl::Status status) {
  status.SetPayload(Av(kNeverSentUrl), absl::Cord());
  return status;
}

absl::Status MaybeApplied(absl::Status status) {
  status.SetPayload(Av(kMaybeAppliedUrl), absl::Cord());
  return status;
}

}  // namespace armature::client
