#include "tools/armature/session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/cord.h"
#include "armature/client/errors.h"
#include "armature/client/retry_policy.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr std::string_view kUsageUrl = "armature/cli/usage";

// Enough for a moment of overload; a daemon that is down shall be reported soon.
constexpr int kAttemptsMax = 3;

}  // namespace

Session::Session(Options options, std::ostream& out) : options_(std::move(options)), out_(out) {}

absl::StatusOr<client::Client> Session::Connect() const {
  client::ClientOptions options;
  options.timeout = absl::Seconds(options_.timeout_seconds);
  options.retry = client::LimitedAttempts(kAttemptsMax);
  return client::Connect(options_.endpoint, std::move(options));
}

absl::Time Session::Deadline() const { return absl::Now() + absl::Seconds(options_.timeout_seconds); }

void Session::Print(const Json& json) const { out_ << PrettyJson(json); }

void Session::PrintText(std::string_view text) const { out_ << text; }

absl::Status UsageError(std::string_view message) {
  absl::Status status = absl::InvalidArgumentError(Av(message));
  status.SetPayload(Av(kUsageUrl), absl::Cord());
  return status;
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ExitCode::kOk;
  if (status.GetPayload(Av(kUsageUrl)).has_value()) return ExitCode::kUsageError;
  if (!client::ErrorName(status).empty()) return ExitCode::kApiError;
  const bool silent = absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
  return silent ? ExitCode::kUnreachable : ExitCode::kApiError;
}

std::string ErrorLine(const absl::Status& status, std::string_view endpoint) {
  std::string message(Sv(status.message()));
  std::replace(message.begin(), message.end(), '\n', ' ');
  switch (ExitCodeOf(status)) {
    case ExitCode::kOk:
      return "";
    case ExitCode::kUsageError:
      return Cat("armature: ", message);
    case ExitCode::kUnreachable:
      return Cat("armature: no answer from ", endpoint, ": ", message);
    case ExitCode::kApiError:
      break;
  }
  const std::string name = client::ErrorName(status);
  return Cat(name.empty() ? Sv(absl::StatusCodeToString(status.code())) : std::string_view(name), ": ", message);
}

}  // namespace armature::cli
