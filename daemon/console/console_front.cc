#include "daemon/console/console_front.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "daemon/console/console_files.h"
#include "daemon/http/readiness.h"
#include "daemon/json/error_json.h"
#include "daemon/json_front/content_coding.h"
#include "daemon/message_json/json_writer.h"
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

// {"Operations": [names]} of the operations that the caller may do from a page. `access`: null without authentication.
// Operations that need a condition about items are left out.
std::string RightsJson(const Access* access, std::string_view table, const access::ResourcePolicy* policy,
                       bool is_read_only) {
  access::MatchWork work;
  JsonWriter writer;
  writer.BeginObject().Key("Operations").BeginArray();
  for (const engine::Operation& operation : engine::kOperations) {
    if (is_read_only && !engine::OnlyReads(operation)) continue;
    const access::Request request{
        .operation = operation.name, .table = table, .resource_policy = policy, .work = &work};
    if (access == nullptr || access->Permits(request)) writer.String(operation.name);
  }
  if (access == nullptr || access->Permits({.operation = kMetricsRight, .table = {}})) writer.String(kMetricsRight);
  writer.EndArray().EndObject();
  return writer.Take();
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
  if (AnswerPage(request, path, &done)) return;
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

bool ConsoleFront::AnswerPage(const HttpRequest& request, std::string_view path, Done* done) {
  std::vector<std::string_view> parts;
  for (const absl::string_view part : absl::StrSplit(Av(path), '/')) parts.push_back(Sv(part));
  const std::string_view page = parts[0];
  const auto part = [&parts](size_t i) { return i < parts.size() ? parts[i] : std::string_view(); };
  if (page == "rights" && parts.size() <= 2) {
    Rights(request, part(1), std::move(*done));
  } else if (page == "indexes" && parts.size() == 2) {
    Ask(request, "admin:ListIndexStatus", {std::string(part(1)), {}, {}}, &ConsoleSources::indexes, std::move(*done));
  } else if (page == "violations" && (parts.size() == 3 || parts.size() == 4)) {
    TableQuestion question{std::string(part(1)), std::string(part(2)), {}};
    if (!absl::WebSafeBase64Unescape(Av(part(3)), &question.position)) {
      std::move (*done)(Text(400, "the position is not base64"));
      return true;
    }
    Ask(request, "admin:ListIndexViolations", std::move(question), &ConsoleSources::violations, std::move(*done));
  } else if (parts.size() > 1) {
    return false;
  } else if (page == "metrics") {
    Collect(request, &ConsoleSources::metrics, std::move(*done));
  } else if (page == "history") {
    Collect(request, &ConsoleSources::history, std::move(*done));
  } else if (page == "requests") {
    Collect(request, &ConsoleSources::requests, std::move(*done));
  } else if (page == "settings") {
    Collect(request, &ConsoleSources::settings, std::move(*done));
  } else {
    return false;
  }
  return true;
}

std::optional<std::shared_ptr<const Access>> ConsoleFront::Admit(const HttpRequest& request, Done* done) {
  if (request.is_late) {
    std::move (*done)(Text(503, "too many requests wait"));
    return std::nullopt;
  }
  if (options_.authenticate == nullptr) return nullptr;
  absl::Duration hold;
  absl::StatusOr<std::shared_ptr<const Access>> access = options_.authenticate(request, &hold);
  if (access.ok()) return *std::move(access);
  Refuse(access.status(), hold, std::move(*done));
  return std::nullopt;
}

void ConsoleFront::Refuse(const absl::Status& status, absl::Duration hold, Done done) {
  JsonAnswer refusal = ErrorAnswer(status, {});
  HttpResponse response = Answer(refusal.status, "application/json", std::move(refusal.body));
  response.headers.emplace_back("Cache-Control", "no-store");
  Hold(hold, std::move(response), std::move(done));
}

void ConsoleFront::Collect(const HttpRequest& request, std::function<std::string()> ConsoleSources::*source,
                           Done done) {
  const std::optional<std::shared_ptr<const Access>> access = Admit(request, &done);
  if (!access.has_value()) return;
  const absl::Status status =
      *access == nullptr ? absl::OkStatus() : (*access)->Check({.operation = kMetricsRight, .table = {}});
  if (!status.ok()) return Refuse(status, absl::ZeroDuration(), std::move(done));
  std::function<std::string()> collect;
  {
    const absl::MutexLock lock(&mutex_);
    collect = sources_.*source;
  }
  Run(std::move(collect), "text/plain; charset=utf-8", std::move(done));
}

void ConsoleFront::Run(std::function<std::string()> collect, std::string_view type, Done done) {
  if (collect == nullptr) return std::move(done)(Text(503, "not yet"));
  // Shared with the task: a refused task is left untouched, but its captures cannot be accessed.
  const auto waiting = std::make_shared<Done>(std::move(done));
  Task task = [waiting, type, collect = std::move(collect)] {
    HttpResponse response = Answer(200, type, collect());
    response.may_refuse = true;
    response.headers.emplace_back("Cache-Control", "no-store");
    std::move (*waiting)(std::move(response));
  };
  if (!collector_.TryRun(task)) std::move (*waiting)(Text(503, "too many pages ask the daemon"));
}

void ConsoleFront::Rights(const HttpRequest& request, std::string_view table, Done done) {
  const std::optional<std::shared_ptr<const Access>> access = Admit(request, &done);
  if (!access.has_value()) return;
  std::shared_ptr<const access::ResourcePolicy> policy;
  {
    const absl::MutexLock lock(&mutex_);
    if (sources_.policy == nullptr) return std::move(done)(Text(503, "not yet"));
    if (!table.empty()) policy = sources_.policy(table);
  }
  // Comparisons with many patterns take time, so not on the thread of connections.
  auto write = [access = *access, policy, table = std::string(table), is_read_only = options_.is_read_only] {
    return RightsJson(access.get(), table, policy.get(), is_read_only);
  };
  Run(std::move(write), "application/json", std::move(done));
}

void ConsoleFront::Ask(const HttpRequest& request, std::string_view right, TableQuestion question,
                       std::function<void(TableQuestion, ConsoleSources::Reply)> ConsoleSources::*source, Done done) {
  const std::optional<std::shared_ptr<const Access>> access = Admit(request, &done);
  if (!access.has_value()) return;
  const absl::Status status =
      *access == nullptr ? absl::OkStatus() : (*access)->Check({.operation = right, .table = question.table});
  if (options_.audit != nullptr) {
    options_.audit->Record({.principal = *access == nullptr ? std::string_view() : (*access)->principal(),
                            .peer = request.peer,
                            .operation = right,
                            .table = question.table,
                            .result = status});
  }
  if (!status.ok()) return Refuse(status, absl::ZeroDuration(), std::move(done));
  std::function<void(TableQuestion, ConsoleSources::Reply)> ask;
  {
    const absl::MutexLock lock(&mutex_);
    ask = sources_.*source;
  }
  if (ask == nullptr) return std::move(done)(Text(503, "not yet"));
  ask(std::move(question), [this, done = std::move(done)](absl::StatusOr<std::string> text) mutable {
    if (!text.ok()) return Refuse(text.status(), absl::ZeroDuration(), std::move(done));
    HttpResponse response = Answer(200, "application/json", *std::move(text));
    response.may_refuse = true;
    response.headers.emplace_back("Cache-Control", "no-store");
    std::move(done)(std::move(response));
  });
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
