#include "daemon/standby/standby_front.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "daemon/http/readiness.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kWaiting = R"({"__type":"com.amazonaws.dynamodb.v20120810#ServiceUnavailable",)"
                                      R"("message":"This server is a standby: another one serves the database."})";
// Its CRC-32: the SDK for Go complains about an answer without one.
constexpr char kWaitingSum[] = "874626099";
constexpr std::string_view kStandbyMetric =
    "# HELP armature_standby 1 while this daemon waits for a database that another one serves\n"
    "# TYPE armature_standby gauge\n"
    "armature_standby 1\n"
    "# HELP armature_standby_unfit 1 if the daemon that waits could not take the database over, for this reason\n"
    "# TYPE armature_standby_unfit gauge\n";

std::string_view PathOf(const HttpRequest& request) {
  return std::string_view(request.target).substr(0, request.target.find('?'));
}

HttpResponse Text(unsigned status, std::string_view text) {
  return {.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::string(text)};
}

}  // namespace

void StandbyFront::SetOwner(const std::string& address) {
  const absl::MutexLock lock(&mutex_);
  owner_ = address;
}

void StandbyFront::SetProblems(std::vector<StandbyProblem> problems) {
  const absl::MutexLock lock(&mutex_);
  problems_ = std::move(problems);
}

std::optional<HttpResponse> StandbyFront::AnswerProbe(const HttpRequest& request, std::string_view path) const {
  if (!IsReadMethod(request)) return std::nullopt;
  if (path == "/healthz") return Text(200, "ok\n");
  if (path != "/readyz") return std::nullopt;
  Readiness readiness{.is_ready = false, .text = "standby"};
  const absl::MutexLock lock(&mutex_);
  for (const StandbyProblem& problem : problems_) {
    const bool is_first = &problem == &problems_.front();
    readiness.text += Cat(is_first ? ", cannot take over: " : "; ", problem.text);
  }
  HttpResponse response = ReadinessPage(readiness);
  if (!owner_.empty()) response.headers.emplace_back("x-armature-owner", owner_);
  return response;
}

std::string StandbyFront::Metrics() const {
  std::string text(kStandbyMetric);
  const absl::MutexLock lock(&mutex_);
  for (const std::string& reason : reasons_) {
    const bool is_so = std::any_of(problems_.begin(), problems_.end(),
                                   [&reason](const StandbyProblem& each) { return each.reason == reason; });
    text += Cat("armature_standby_unfit{reason=\"", reason, "\"} ", is_so ? 1 : 0, "\n");
  }
  return text;
}

HttpResponse StandbyFront::AnswerOperator(const HttpRequest& request) const {
  const std::string_view path = PathOf(request);
  if (std::optional<HttpResponse> probe = AnswerProbe(request, path)) return *std::move(probe);
  if (path != "/metrics") return Text(404, "not found\n");
  HttpResponse response = Text(200, Metrics());
  response.headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}};
  return response;
}

void StandbyFront::Handle(HttpRequest request, Done done) {
  if (whom_ == For::kOperators) return std::move(done)(AnswerOperator(request));
  if (std::optional<HttpResponse> probe = AnswerProbe(request, PathOf(request)))
    return std::move(done)(*std::move(probe));
  HttpResponse response = {.status = 503,
                           .headers = {{"Content-Type", "application/x-amz-json-1.0"}, {"x-amz-crc32", kWaitingSum}},
                           .body = std::string(kWaiting)};
  {
    const absl::MutexLock lock(&mutex_);
    if (!owner_.empty()) response.headers.emplace_back("x-armature-owner", owner_);
  }
  std::move(done)(std::move(response));
}

}  // namespace armature::daemon
