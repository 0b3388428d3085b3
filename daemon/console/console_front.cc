#include "daemon/console/console_front.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "daemon/auth/policy.h"
#include "daemon/console/console_files.h"
#include "daemon/http/readiness.h"
#include "daemon/json/error_json.h"
#include "daemon/json_front/content_coding.h"
#include "engine/operations.h"
#include "storage/base/api_error.h"
#include "storage/base/deadline.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kFolder = "/console/";
constexpr std::string_view kMetricsRight = "admin:GetMetrics";
// Pages that wait for the metrics. A page asks again after some seconds.
constexpr size_t kWaitingMax = 16;

constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

constexpr std::string_view kReadOnlyText = R"({"__type":"com.amazon.coral.service#AccessDeniedException","message":)"
                                           R"("The console of this server is read-only (--console=read-only)."})";

// `body`: of `type`, with the headers of every answer of the console.
HttpResponse Answer(unsigned status, std::string_view type, std::string body) {
  HttpResponse response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.reserve(12);
  response.headers.emplace_back("Content-Type", type);
  response.headers.emplace_back("Content-Security-Policy", kPolicy);
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("X-Frame-Options", "DENY");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

HttpResponse Text(unsigned status, std::string_view text) {
  HttpResponse response = Answer(status, "text/plain; charset=utf-8", Cat(text, "\n"));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

HttpResponse Redirect() {
  HttpResponse response = Text(302, "The console is at /console/.");
  response.headers.emplace_back("Location", kFolder);
  response.headers.emplace_back("Vary", "Accept");
  return response;
}

bool Has(const HttpRequest& request, std::string_view header, std::string_view text) {
  const std::string* const value = request.Find(header);
  return value != nullptr && absl::StrContains(*value, Av(text));
}

HttpResponse FileAnswer(const HttpRequest& request, const ConsoleFile& file) {
  const std::string* const accepted = request.Find("accept-encoding");
  const bool is_compressed =
      !file.gzip.empty() && accepted != nullptr && ChooseCoding(*accepted) == ContentCoding::kGzip;
  const std::string etag = Cat("\"", file.etag, is_compressed ? "-gz\"" : "\"");
  const bool is_known = Has(request, "if-none-match", etag);
  const std::string_view content = is_compressed ? file.gzip : file.content;
  HttpResponse response = Answer(is_known ? 304 : 200, file.content_type, is_known ? "" : std::string(content));
  response.may_refuse = true;
  response.headers.emplace_back("ETag", etag);
  // A page asks each time, so that it never mixes files of two versions of the daemon.
  response.headers.emplace_back("Cache-Control", "no-cache");
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (is_compressed && !is_known) response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

// A visit by a link, which may be on a page of another site. It shows a page, and acts on nothing.
bool IsVisit(const HttpRequest& request) {
  return IsReadMethod(request) && Has(request, "sec-fetch-mode", "navigate") &&
         Has(request, "sec-fetch-dest", "document");
}

}  // namespace

ConsoleFront::ConsoleFront(HttpHandler* api, ConsoleOptions options)
    : api_(api), options_(std::move(options)), collector_("arm-console", 1, kWaitingMax) {}

ConsoleFront::~ConsoleFront() = default;

void ConsoleFront::SetSources(ConsoleSources sources) {
  const absl::MutexLock lock(&mutex_);
  sources_ = std::move(sources);
}

void ConsoleFront::Stop() {
  SetSources({});
  collector_.Stop();
}

bool ConsoleFront::IsForbiddenWrite(const HttpRequest& request) const {
  if (!options_.is_read_only) return false;
  const std::string* const target = request.Find("x-amz-target");
  if (target == nullptr) return false;
  // Browsers add these headers, and a page cannot. Over plain HTTP of other addresses than loopback there is only
  // Origin; the rules of sites admit no other than our own and those that the operator has listed.
  const std::string* const origin = request.Find("origin");
  const bool is_own = Has(request, "sec-fetch-site", "same-origin") ||
                      (origin != nullptr && options_.sites.Check(request).origin == nullptr);
  if (!is_own) return false;
  const engine::Operation* const operation =
      engine::FindOperation(std::string_view(*target).substr(target->rfind('.') + 1));
  return operation != nullptr && !engine::OnlyReads(*operation);
}

void ConsoleFront::Handle(HttpRequest request, Done done) {
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  const bool is_folder = path == "/console" || path.starts_with(kFolder);
  const bool is_browser_at_root = request.method == "GET" && path == "/" && Has(request, "accept", "text/html");
  if (is_folder || is_browser_at_root) {
    const std::string name(path);
    return Console(std::move(request), name, std::move(done));
  }
  if (IsForbiddenWrite(request)) {
    return std::move(done)(Answer(400, "application/x-amz-json-1.0", std::string(kReadOnlyText)));
  }
  api_->Handle(std::move(request), std::move(done));
}

void ConsoleFront::Console(HttpRequest request, std::string_view path, Done done) {
  if (IsVisit(request)) {
    std::erase_if(request.headers, [](const HttpRequest::Header& each) { return each.name == "sec-fetch-site"; });
  }
  if (const std::string refusal = options_.sites.Check(request).refusal; !refusal.empty()) {
    return std::move(done)(Text(403, refusal));
  }
  if (!IsReadMethod(request)) return std::move(done)(Text(405, "only GET"));
  if (!path.starts_with(kFolder)) return std::move(done)(Redirect());
  path.remove_prefix(kFolder.size());
  if (path == "daemon.json") return std::move(done)(Settings());
  if (path == "metrics") return Collect(request, &ConsoleSources::metrics, std::move(done));
  if (path == "history") return Collect(request, &ConsoleSources::history, std::move(done));
  if (path == "requests") return Collect(request, &ConsoleSources::requests, std::move(done));
  const ConsoleFile* const file = FindConsoleFile(path.empty() ? "index.html" : path);
  std::move(done)(file == nullptr ? Text(404, "not found") : FileAnswer(request, *file));
}

HttpResponse ConsoleFront::Settings() const {
  const auto word = [](bool value) { return value ? "true" : "false"; };
  HttpResponse response = Answer(200, "application/json",
                                 Cat(R"({"needs_key":)", word(options_.authenticate != nullptr), R"(,"is_read_only":)",
                                     word(options_.is_read_only), "}\n"));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

void ConsoleFront::Collect(const HttpRequest& request, std::function<std::string()> ConsoleSources::*source,
                           Done done) {
  if (request.is_late) return std::move(done)(Text(503, "too many requests wait"));
  if (options_.authenticate != nullptr) {
    absl::Duration hold;
    const absl::StatusOr<std::shared_ptr<const Access>> access = options_.authenticate(request, &hold);
    absl::Status status = access.status();
    if (status.ok()) status = (*access)->Check({.operation = kMetricsRight, .table = {}});
    if (!status.ok()) {
      JsonAnswer refusal = ErrorAnswer(status, {});
      HttpResponse response = Answer(refusal.status, "application/json", std::move(refusal.body));
      response.headers.emplace_back("Cache-Control", "no-store");
      return Hold(hold, std::move(response), std::move(done));
    }
  }
  std::function<std::string()> collect;
  {
    const absl::MutexLock lock(&mutex_);
    collect = sources_.*source;
  }
  if (collect == nullptr) return std::move(done)(Text(503, "not yet"));
  // Shared with the task: a refused task is left untouched, but its captures cannot be accessed.
  const auto waiting = std::make_shared<Done>(std::move(done));
  Task task = [waiting, collect = std::move(collect)] {
    HttpResponse response = Answer(200, "text/plain; charset=utf-8", collect());
    response.may_refuse = true;
    response.headers.emplace_back("Cache-Control", "no-store");
    std::move (*waiting)(std::move(response));
  };
  if (!collector_.TryRun(task)) std::move (*waiting)(Text(503, "too many pages ask for the metrics"));
}

void ConsoleFront::Hold(absl::Duration time, HttpResponse response, Done done) {
  if (time <= absl::ZeroDuration() || held_back_.load() >= options_.held_back_max) {
    return std::move(done)(std::move(response));
  }
  ++held_back_;
  timers_.At(Deadline::After(time), [this, response = std::move(response), done = std::move(done)]() mutable {
    --held_back_;
    std::move(done)(std::move(response));
  });
}

}  // namespace armature::daemon
