#ifndef ARMATURE_DAEMON_CONSOLE_CONSOLE_FRONT_H_
#define ARMATURE_DAEMON_CONSOLE_CONSOLE_FRONT_H_

// The web console in front of the JSON protocol: its pages, and what they need beside the operations.

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/auth/audit_log.h"
#include "daemon/auth/policy.h"
#include "daemon/http/http_message.h"
#include "daemon/http/site_rules.h"
#include "daemon/json_front/json_front.h"
#include "engine/access/resource_policy.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"

namespace armature::daemon {

// A question about a table, in the path of a request.
struct TableQuestion {
  std::string table;
  std::string index;     // empty: the table
  std::string position;  // of a page; empty: the first
};

// Texts for the pages beside the answers of operations. The functions are called on a thread of their own, and those
// with a Reply on any thread: they do not block.
struct ConsoleSources {
  using Reply = absl::AnyInvocable<void(absl::StatusOr<std::string>) &&>;

  std::function<std::string()> metrics = nullptr;   // the text of /metrics
  std::function<std::string()> history = nullptr;   // ActivityLog::Json
  std::function<std::string()> requests = nullptr;  // RequestListsJson
  std::function<std::string()> settings = nullptr;  // SettingsJson
  // The policy of a table, by which requests on it are checked beside the caller's own.
  std::function<std::shared_ptr<const access::ResourcePolicy>(std::string_view table)> policy = nullptr;
  std::function<void(TableQuestion question, Reply reply)> indexes = nullptr;     // IndexStatusJson
  std::function<void(TableQuestion question, Reply reply)> violations = nullptr;  // IndexViolationsJson
};

struct ConsoleOptions {
  // The operations that change something are refused to the daemon's own pages. Other clients have their rights by
  // policy, whatever this says.
  bool is_read_only = false;
  HttpAuthenticator authenticate = nullptr;  // null: everybody may see the metrics
  SiteRules sites = {};
  AuditLog* audit = nullptr;     // null: no audit log; outlives the front
  size_t held_back_max = 1'000;  // refusals; further ones are sent at once
};

// Handles these requests, and passes all others on:
//
//   GET /                      redirected to /console/, if the client is a browser (Accept has text/html)
//   GET /console/              the pages (console_files)
//   GET /console/daemon.json   whether an access key is needed, and whether the console is read-only
//   GET /console/metrics       the metrics; with credentials only for keys with `admin`, by a signature
//   GET /console/history       the load of the last hour, for the same keys
//   GET /console/requests      the requests that run, and the slow ones, for the same keys
//   GET /console/settings      the flags with their sources, and the state of the owner in RADOS, for the same keys
//   GET /console/rights/TABLE  the operations that the caller may do on the table, for every caller; without TABLE
//                              those about no single table
//   GET /console/indexes/TABLE                      the state of the table's indexes, by admin:ListIndexStatus
//   GET /console/violations/TABLE/INDEX[/POSITION]  a page of the items that an index leaves out, by
//                              admin:ListIndexViolations; POSITION is base64 for addresses
//
// Answers have a Content-Security-Policy that admits files of this daemon only, and no page may frame them. Pages of
// other sites are refused as `sites` says, but may link to the console.
//
// Thread-safety: thread-safe. Lifetime: must outlive the server that calls it; `api` must outlive it.
class ConsoleFront final : public HttpHandler {
 public:
  ConsoleFront(HttpHandler* api, ConsoleOptions options);
  // Drops refusals that are held back.
  ~ConsoleFront() override;

  // The sources are used until Stop. Before, they are answered 503.
  void SetSources(ConsoleSources sources);

  void Handle(HttpRequest request, Done done) override;
  HttpResponse Refuse(unsigned status) override { return api_->Refuse(status); }

  // No metrics are collected after it. For the time between the end of the server and that of the metrics' sources.
  void Stop();

 private:
  // True if the request comes from a page of this daemon, and would change something.
  bool IsForbiddenWrite(const HttpRequest& request) const;
  void Console(HttpRequest request, std::string_view path, Done done);
  HttpResponse Settings() const;
  // Answers pages that are no files. False if `path` is none of them; then `done` is untouched.
  bool AnswerPage(const HttpRequest& request, std::string_view path, Done* done);
  // The caller; null without authentication. Nullopt if the request was refused, which has used `done`.
  std::optional<std::shared_ptr<const Access>> Admit(const HttpRequest& request, Done* done);
  void Refuse(const absl::Status& status, absl::Duration hold, Done done);
  // `source`: the one of the sources that the client wants.
  void Collect(const HttpRequest& request, std::function<std::string()> ConsoleSources::*source, Done done);
  void Run(std::function<std::string()> collect, std::string_view type, Done done);
  void Rights(const HttpRequest& request, std::string_view table, Done done);
  // `right`: of the admin service, on the table of the question.
  void Ask(const HttpRequest& request, std::string_view right, TableQuestion question,
           std::function<void(TableQuestion, ConsoleSources::Reply)> ConsoleSources::*source, Done done);
  void Hold(absl::Duration time, HttpResponse response, Done done);

  HttpHandler* const api_;
  const ConsoleOptions options_;
  absl::Mutex mutex_;
  ConsoleSources sources_ ABSL_GUARDED_BY(mutex_);
  std::atomic<size_t> held_back_ = 0;
  ThreadPool collector_;
  TimerQueue timers_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_CONSOLE_CONSOLE_FRONT_H_
