#ifndef ARMATURE_DAEMON_CONSOLE_CONSOLE_FRONT_H_
#define ARMATURE_DAEMON_CONSOLE_CONSOLE_FRONT_H_

// The web console in front of the JSON protocol: its pages, and what they need beside the operations.

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/http/http_message.h"
#include "daemon/http/site_rules.h"
#include "daemon/json_front/json_front.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"

namespace armature::daemon {

// Texts for the pages beside the answers of operations. The functions are called on a thread of their own.
struct ConsoleSources {
  std::function<std::string()> metrics = nullptr;   // the text of /metrics
  std::function<std::string()> history = nullptr;   // ActivityLog::Json
  std::function<std::string()> requests = nullptr;  // RequestListsJson
};

struct ConsoleOptions {
  // The operations that change something are refused to the daemon's own pages. Other clients have their rights by
  // policy, whatever this says.
  bool is_read_only = false;
  HttpAuthenticator authenticate = nullptr;  // null: everybody may see the metrics
  SiteRules sites = {};
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
  // `source`: the one of the sources that the client wants.
  void Collect(const HttpRequest& request, std::function<std::string()> ConsoleSources::*source, Done done);
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
