#include "tools/armature/copy/remote.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "armature/client/errors.h"
#include "armature/client/retry_policy.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/session.h"

namespace armature::cli::copy {
namespace {

constexpr std::array<std::string_view, 8> kTransient = {"ProvisionedThroughputExceededException",
                                                        "ThrottlingException",
                                                        "Throttling",
                                                        "RequestLimitExceeded",
                                                        "InternalServerError",
                                                        "ServiceUnavailable",
                                                        "InternalFailure",
                                                        "TransactionInProgressException"};

}  // namespace

absl::Duration PauseAfter(int attempts) {
  static const auto& backoff = *new std::shared_ptr<const client::BackoffPolicy>(client::ExponentialBackoff());
  return backoff->DelayAfter(std::min(attempts, 20));
}

absl::Status ErrorOfAnswer(const HttpAnswer& answer, bool* is_transient) {
  const absl::StatusOr<Wire> body = ParseWire(answer.body);
  std::string type = body.ok() ? TextIn(*body, "__type") : "";
  type = type.substr(type.rfind('#') + 1);  // 0 if there is none
  std::string text = body.ok() ? TextIn(*body, "message") : "";
  if (text.empty() && body.ok()) text = TextIn(*body, "Message");
  const bool is_of_server = answer.status >= 500 || answer.status == 429;
  *is_transient = is_of_server || std::find(kTransient.begin(), kTransient.end(), type) != kTransient.end();
  if (type.empty()) {
    const std::string what = Cat("an answer with the status ", answer.status, " of HTTP");
    return is_of_server ? UnavailableError(what) : DataLossError(Cat(what, ", which is no error of the protocol"));
  }
  api::v1::ErrorDetail detail;
  detail.set_exception(type);
  const auto code = *is_transient ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kFailedPrecondition;
  return client::WithDetail(absl::Status(code, text.empty() ? "without a text" : text), detail);
}

Remote::Remote(Endpoint endpoint, absl::Duration patience, const StopSignal* stop)
    : endpoint_(std::move(endpoint)), patience_(patience), stop_(*stop) {
  const auto open = [](const LinkOptions& link, const char* prefix, Door* door) {
    door->target_prefix = prefix;
    door->link = link;
    door->host = HostOfUrl(link.url).value_or("localhost");
    // libcurl sends the host without the port that the scheme has anyway.
    for (const auto& [scheme, port] : {std::pair("http://", ":80"), std::pair("https://", ":443")}) {
      if (link.url.starts_with(scheme) && door->host.ends_with(port)) door->host.resize(door->host.rfind(':'));
    }
  };
  open(endpoint_.link, "DynamoDB_20120810.", &tables_);
  open(endpoint_.streams, "DynamoDBStreams_20120810.", &streams_);
}

std::string Remote::address() const {
  return endpoint_.link.unix_socket.empty() ? endpoint_.link.url : Cat("unix:", endpoint_.link.unix_socket);
}

absl::StatusOr<Wire> Remote::Call(std::string_view operation, const Wire& request) {
  return CallText(operation, WireText(request));
}

absl::StatusOr<Wire> Remote::CallText(std::string_view operation, std::string_view request) {
  return CallAt(&tables_, operation, request);
}

absl::StatusOr<Wire> Remote::CallStreams(std::string_view operation, const Wire& request) {
  return CallAt(&streams_, operation, WireText(request));
}

absl::StatusOr<Wire> Remote::CallAt(Door* door, std::string_view operation, std::string_view body) {
  const absl::Time end = absl::Now() + patience_;
  for (int attempts = 1;; ++attempts) {
    ARM_RETURN_IF_ERROR(stop_.status());
    bool is_transient = false;
    absl::StatusOr<Wire> answer = TryCall(door, operation, body, &is_transient);
    if (answer.ok()) return answer;
    const absl::Duration pause = PauseAfter(attempts);
    if (is_transient && absl::Now() + pause < end) {
      ARM_RETURN_IF_ERROR(stop_.Wait(pause));
      continue;
    }
    const std::string place = Cat("the ", endpoint_.name, " ", address(), ", ", operation);
    const absl::Status& status = answer.status();
    if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
      return UnreachableError(Cat("no answer from ", place, ": ", Sv(status.message())));
    }
    return WithContext(status, place);
  }
}

absl::StatusOr<Wire> Remote::TryCall(Door* door, std::string_view operation, std::string_view body,
                                     bool* is_transient) {
  std::unique_ptr<HttpLink> link;
  {
    const absl::MutexLock lock(&door->mutex);
    if (!door->idle.empty()) {
      link = std::move(door->idle.back());
      door->idle.pop_back();
    }
  }
  if (link == nullptr) link = std::make_unique<HttpLink>(door->link);
  HttpHeaders headers = {{"content-type", "application/x-amz-json-1.0"},
                         {"host", door->host},
                         {"x-amz-target", Cat(door->target_prefix, operation)}};
  const HttpHeaders signature = SignatureHeaders(endpoint_.key, headers, body, absl::Now());
  headers.insert(headers.end(), signature.begin(), signature.end());
  absl::StatusOr<HttpAnswer> answer = link->Post(headers, body);
  {
    const absl::MutexLock lock(&door->mutex);
    door->idle.push_back(std::move(link));
  }
  *is_transient = absl::IsUnavailable(answer.status()) || absl::IsDeadlineExceeded(answer.status());
  ARM_RETURN_IF_ERROR(answer.status());
  if (answer->status != 200) return ErrorOfAnswer(*answer, is_transient);
  absl::StatusOr<Wire> parsed = ParseWire(answer->body);
  if (!parsed.ok()) return DataLossError(Cat("it answered ", Sv(parsed.status().message())));
  return parsed;
}

}  // namespace armature::cli::copy
