#include "armature/client/errors.h"

#include <algorithm>
#include <utility>

#include "absl/strings/cord.h"
#include "google/protobuf/any.pb.h"
#include "google/protobuf/duration.pb.h"
#include "storage/base/strings.h"
#include "storage/model/wire.h"

namespace armature::client {
namespace {

// A batch writer waits for it without a deadline.
constexpr absl::Duration kAdviceMax = absl::Minutes(1);
constexpr std::string_view kNeverSentUrl = "armature.client/NeverSent";
constexpr std::string_view kHintUrl = "armature.client/Hint";
constexpr std::string_view kLastingUrl = "armature.client/Lasting";
constexpr std::string_view kMaybeAppliedUrl = "armature.client/MaybeApplied";

// The retry_delay of a google.rpc.RetryInfo in wire form; zero if there is none. Its proto is not linked: a copy would
// collide with that of the program.
absl::Duration RetryDelayIn(std::string_view retry_info) {
  google::protobuf::Duration delay;
  model::WireField field;
  while (model::TakeField(&retry_info, &field)) {
    const bool is_delay = field.number == 1 && field.type == model::WireType::kBytes;
    if (is_delay && !delay.ParseFromString(std::string(field.bytes))) return absl::ZeroDuration();
  }
  return absl::Seconds(delay.seconds()) + absl::Nanoseconds(delay.nanos());
}

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

std::string HintOf(const absl::Status& status) {
  const auto payload = status.GetPayload(Av(kHintUrl));
  return payload.has_value() ? std::string(*payload) : "";
}

std::string Describe(const absl::Status& status) {
  const std::string name = ErrorName(status);
  const std::string hint = HintOf(status);
  return Cat(name, name.empty() ? "" : ": ", Sv(status.message()), hint.empty() ? "" : Cat(" (", hint, ")"));
}

absl::Status WithHint(absl::Status status, std::string_view hint) {
  status.SetPayload(Av(kHintUrl), absl::Cord(Av(hint)));
  return status;
}

absl::Duration RetryAfter(const absl::Status& status) {
  const std::optional<api::v1::ErrorDetail> detail = ErrorDetailOf(status);
  const int64_t detail_ms = detail.has_value() ? detail->retry_after_ms() : 0;
  const auto retry_info = status.GetPayload(Av(kRetryInfoUrl));
  const absl::Duration delay = retry_info.has_value() ? RetryDelayIn(std::string(*retry_info)) : absl::ZeroDuration();
  const absl::Duration advice = std::max({absl::ZeroDuration(), absl::Milliseconds(detail_ms), delay});
  return std::min(advice, kAdviceMax);
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
    if (any.UnpackTo(&detail)) {
      status = WithDetail(std::move(status), detail);
    } else if (any.type_url() == kRetryInfoUrl) {
      status.SetPayload(Av(kRetryInfoUrl), absl::Cord(any.value()));
    }
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

absl::Status Lasting(absl::Status status) {
  status.SetPayload(Av(kLastingUrl), absl::Cord());
  return status;
}

bool IsLasting(const absl::Status& status) { return status.GetPayload(Av(kLastingUrl)).has_value(); }

absl::Status MaybeApplied(absl::Status status) {
  status.SetPayload(Av(kMaybeAppliedUrl), absl::Cord());
  return status;
}

}  // namespace armature::client
