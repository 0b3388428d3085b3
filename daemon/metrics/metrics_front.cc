#include "daemon/metrics/metrics_front.h"

#include <string>
#include <string_view>
#include <utility>

namespace armature::daemon {
namespace {

HttpResponse Text(unsigned status, std::string body, std::string_view type = "text/plain; charset=utf-8") {
  HttpResponse response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.emplace_back("Content-Type", type);
  return response;
}

}  // namespace

HttpResponse MetricsFront::Answer(const HttpRequest& request) const {
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  if (path != "/metrics" && path != "/healthz" && path != "/readyz") return Text(404, "not found\n");
  if (request.method != "GET" && request.method != "HEAD") return Text(405, "only GET\n");
  if (path == "/metrics") return Text(200, collector_->Collect(), "text/plain; version=0.0.4; charset=utf-8");
  if (path == "/healthz") return Text(200, "ok\n");
  if (stopping_) return Text(503, "stopping\n");
  const store::DiskReport disk = database_->disk_report();
  return Text(200, disk.is_low || disk.has_failed || disk.is_broken ? "ready, read-only\n" : "ready\n");
}

void MetricsFront::Handle(HttpRequest request, Done done) { std::move(done)(Answer(request)); }

}  // namespace armature::daemon
