#include "daemon/standby/standby_front.h"

#include <string_view>
#include <utility>

namespace armature::daemon {
namespace {

constexpr std::string_view kWaiting = R"({"__type":"com.amazonaws.dynamodb.v20120810#ServiceUnavailable",)"
                                      R"("message":"This server is a standby: another one serves the database."})";
constexpr std::string_view kMetrics =
    "# HELP armature_standby 1 while this daemon waits for a database that another one serves\n"
    "# TYPE armature_standby gauge\n"
    "armature_standby 1\n";

HttpResponse Text(unsigned status, std::string_view text) {
  return {.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::string(text)};
}

}  // namespace

void StandbyFront::SetOwner(const std::string& address) {
  const absl::MutexLock lock(&mutex_);
  owner_ = address;
}

HttpResponse StandbyFront::AnswerOperator(const HttpRequest& request) const {
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  if (path == "/healthz") return Text(200, "ok\n");
  if (path == "/readyz") return Text(503, "standby\n");
  if (path != "/metrics") return Text(404, "not found\n");
  HttpResponse response = Text(200, kMetrics);
  response.headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}};
  return response;
}

void StandbyFront::Handle(HttpRequest request, Done done) {
  if (whom_ == For::kOperators) return std::move(done)(AnswerOperator(request));
  HttpResponse response = {
      .status = 503, .headers = {{"Content-Type", "application/x-amz-json-1.0"}}, .body = std::string(kWaiting)};
  {
    const absl::MutexLock lock(&mutex_);
    if (!owner_.empty()) response.headers.emplace_back("x-armature-owner", owner_);
  }
  std::move(done)(std::move(response));
}

}  // namespace armature::daemon
