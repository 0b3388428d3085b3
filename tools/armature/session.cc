#include "tools/armature/session.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/synchronization/mutex.h"
#include "armature/client/errors.h"
#include "armature/client/retry_policy.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/color.h"
#include "tools/armature/display.h"

namespace armature::cli {

struct FailedCall {
  absl::Mutex mutex;
  absl::Status status ABSL_GUARDED_BY(mutex);
  std::shared_ptr<const google::protobuf::Message> request ABSL_GUARDED_BY(mutex);
};

namespace {

// Payload of errors of the tool itself. Its content is the exit code, as text.
constexpr std::string_view kExitCodeUrl = "armature/cli/exit-code";

// Payloads with the place of an error, and the lines behind it.
constexpr std::string_view kSourceUrl = "armature/cli/source";
constexpr std::string_view kDetailUrl = "armature/cli/detail";
// Payload of errors that were printed.
constexpr std::string_view kReportedUrl = "armature/cli/reported";

std::string PayloadOf(const absl::Status& status, std::string_view url) {
  const auto payload = status.GetPayload(Av(url));
  return payload.has_value() ? std::string(*payload) : std::string();
}

// Enough attempts for a moment of overload, few enough to report soon that the daemon is down.
constexpr int kAttemptsMax = 3;

// The first line of the file.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path) {
  std::ifstream in(path);
  std::string secret;
  if (!std::getline(in, secret) || secret.empty()) return UsageError(Cat("cannot read a secret from ", path));
  return secret;
}

absl::StatusOr<client::AccessKey> ReadAccessKey(const Session::Options& options) {
  client::AccessKey key;
  key.id = options.access_key_id;
  if (!options.secret_file.empty()) {
    ARM_ASSIGN_OR_RETURN(key.secret, ReadSecretFile(options.secret_file));
  } else if (const char* const secret = std::getenv(kSecretVariable); secret != nullptr) {
    key.secret = secret;
  }
  if (key.secret.empty()) {
    return UsageError(Cat("--access-key needs its secret: set ", kSecretVariable, ", or name a file by --secret-file"));
  }
  return key;
}

// Begin of the two lines at the end of the message that show a place in a text (PlaceIn); its size without them.
size_t PlaceAtEnd(std::string_view message) {
  const size_t caret = message.rfind('\n');
  if (caret == message.npos || caret == 0 || !message.ends_with('^')) return message.size();
  if (message.substr(caret + 1).find_first_not_of(' ') != message.size() - caret - 2) return message.size();
  const size_t line = message.rfind('\n', caret - 1);
  return line == message.npos ? message.size() : line;
}

// The message on one line, and its place behind it. Texts in messages come from items, files and the daemon: a terminal
// must not execute their control characters.
std::string ShownMessage(std::string_view message) {
  const size_t end = PlaceAtEnd(message);
  std::string line(message.substr(0, end));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return Cat(OneLine(line), WithoutControls(message.substr(end)));
}

absl::Status ErrorWithExitCode(absl::StatusCode code, std::string_view message, ExitCode exit_code) {
  absl::Status status(code, Av(message));
  status.SetPayload(Av(kExitCodeUrl), absl::Cord(Cat(static_cast<int>(exit_code))));
  return status;
}

}  // namespace

Session::Session(Options options, std::ostream& out, std::ostream& progress, bool is_progress_live,
                 std::istream* answers)
    : options_(std::move(options)),
      out_(out),
      progress_(progress),
      is_progress_live_(is_progress_live),
      answers_(answers),
      failed_call_(std::make_shared<FailedCall>()) {}

absl::StatusOr<client::Client> Session::Connect() const {
  has_connected_ = true;
  client::ClientOptions options;
  options.timeout = absl::Seconds(options_.timeout_seconds);
  options.retry = client::LimitedAttempts(kAttemptsMax);
  options.on_failure = [call = failed_call_](const google::protobuf::Message& request, const absl::Status& status) {
    std::shared_ptr<google::protobuf::Message> copy(request.New());
    copy->CopyFrom(request);
    const absl::MutexLock lock(&call->mutex);
    call->status = status;
    call->request = std::move(copy);
  };
  const client::TlsOptions& files = options_.tls_files;
  if (options_.tls || !files.ca_file.empty() || !files.certificate_file.empty() || !files.key_file.empty()) {
    absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> credentials = client::TlsCredentials(files);
    if (!credentials.ok()) return UsageError(Sv(credentials.status().message()));
    options.credentials = *std::move(credentials);
  }
  if (!options_.access_key_id.empty()) {
    ARM_ASSIGN_OR_RETURN(options.access_key, ReadAccessKey(options_));
  }
  absl::StatusOr<client::Client> connected = client::Connect(options_.endpoint, std::move(options));
  if (!connected.ok()) return UsageError(Sv(connected.status().message()));
  return connected;
}

std::shared_ptr<const google::protobuf::Message> Session::FailedRequest(const absl::Status& error) const {
  const absl::MutexLock lock(&failed_call_->mutex);
  return failed_call_->status == error ? failed_call_->request : nullptr;
}

absl::Time Session::Deadline() const { return absl::Now() + absl::Seconds(options_.timeout_seconds); }

absl::Status Session::Confirm(std::string_view what) const {
  if (options_.yes) return absl::OkStatus();
  if (answers_ == nullptr) return UsageError(Cat(what, ": say --yes if this is meant; there is no terminal to ask at"));
  progress_ << what << ". Go on? [y/N] " << std::flush;
  std::string answer;
  // Ctrl-D at an earlier question.
  answers_->clear();
  std::clearerr(stdin);
  std::getline(*answers_, answer);
  return answer == "y" || answer == "yes" ? absl::OkStatus() : UsageError("nothing was done");
}

void Session::Print(const Json& json) const { PrintJsonText(PrettyJson(json)); }

void Session::PrintText(std::string_view text) const { out_ << text; }

void Session::PrintJsonText(std::string_view json) const {
  has_colors() ? PrintText(ColoredJson(json)) : PrintText(json);
}

void Session::PrintTable(std::string_view table) const {
  has_colors() ? PrintText(ColoredTable(table)) : PrintText(table);
}

absl::Status Session::CheckOutput() const {
  return is_output_open() ? absl::OkStatus() : InputError("the output cannot be written to its end");
}

void Session::Flush() const { out_.flush(); }

void Session::Print(const Json& json, const std::function<std::string()>& to_text) const {
  format() == OutputFormat::kJson ? Print(json) : PrintText(to_text());
}

void Session::PrintAsTable(const Json& json, const std::function<std::string()>& to_table) const {
  format() == OutputFormat::kJson ? Print(json) : PrintTable(to_table());
}

absl::Status UsageError(std::string_view message) {
  return ErrorWithExitCode(absl::StatusCode::kInvalidArgument, message, ExitCode::kUsageError);
}

absl::Status UnreachableError(std::string_view message) {
  return ErrorWithExitCode(absl::StatusCode::kUnavailable, message, ExitCode::kUnreachable);
}

absl::Status InputError(std::string_view message) {
  return ErrorWithExitCode(absl::StatusCode::kInvalidArgument, message, ExitCode::kInputError);
}

absl::Status AsInputError(const absl::Status& status) {
  return status.ok() ? status : InputError(Sv(status.message()));
}

absl::Status DifferencesError(std::string_view message) {
  return ErrorWithExitCode(absl::StatusCode::kFailedPrecondition, message, ExitCode::kDifferences);
}

absl::Status MissingItemError(std::string_view message) {
  return ErrorWithExitCode(absl::StatusCode::kNotFound, message, ExitCode::kDifferences);
}

absl::Status WithSource(absl::Status status, std::string_view source, std::string_view detail) {
  if (status.ok()) return status;
  if (PayloadOf(status, kSourceUrl).empty()) status.SetPayload(Av(kSourceUrl), absl::Cord(Av(source)));
  if (PayloadOf(status, kDetailUrl).empty()) status.SetPayload(Av(kDetailUrl), absl::Cord(Av(detail)));
  return status;
}

absl::Status Reported(absl::Status status) {
  if (!status.ok()) status.SetPayload(Av(kReportedUrl), absl::Cord());
  return status;
}

std::string ErrorDetail(const absl::Status& status) { return PayloadOf(status, kDetailUrl); }

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ExitCode::kOk;
  int code = 0;
  if (const auto own = status.GetPayload(Av(kExitCodeUrl)); own && absl::SimpleAtoi(std::string(*own), &code)) {
    return static_cast<ExitCode>(code);
  }
  if (!client::ErrorName(status).empty()) return ExitCode::kApiError;
  const bool silent = absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
  return silent ? ExitCode::kUnreachable : ExitCode::kApiError;
}

std::string ErrorLine(const absl::Status& status, std::string_view endpoint) {
  if (status.GetPayload(Av(kReportedUrl)).has_value()) return "";
  const std::string message = ShownMessage(Sv(status.message()));
  const std::string source = PayloadOf(status, kSourceUrl);
  const std::string place = source.empty() ? "" : Cat(OneLine(source), ": ");
  switch (ExitCodeOf(status)) {
    case ExitCode::kOk:
      return "";
    case ExitCode::kUsageError:
    case ExitCode::kInputError:
    case ExitCode::kDifferences:
      return Cat("armature: ", place, message);
    case ExitCode::kUnreachable:
      if (endpoint.empty() || status.GetPayload(Av(kExitCodeUrl)).has_value()) {
        return Cat("armature: ", place, message);
      }
      return Cat("armature: ", place, "no answer from ", endpoint, ": ", message);
    case ExitCode::kApiError:
      break;
  }
  const std::string name = OneLine(client::ErrorName(status));
  return Cat(place, name.empty() ? Sv(absl::StatusCodeToString(status.code())) : std::string_view(name), ": ", message);
}

}  // namespace armature::cli
