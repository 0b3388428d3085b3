#ifndef ARMATURE_DAEMON_STANDBY_STANDBY_FRONT_H_
#define ARMATURE_DAEMON_STANDBY_STANDBY_FRONT_H_

// HTTP answers of a daemon that waits for its database.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/http/http_message.h"

namespace armature::daemon {

// Something for which a daemon that waits could not take the database over.
struct StandbyProblem {
  std::string reason;  // a word, for programs
  std::string text;    // one line, for operators
};

// To clients: 503, and ServiceUnavailable in the form of the JSON protocol, so that SDKs try again. The header
// x-armature-owner names the address where the owner of the database serves HTTP, unless it is unknown. Nothing of the
// request is checked, because nothing of it is done. GET of /healthz and /readyz is answered as to operators.
//
// To operators: /healthz 200, because the process lives; /readyz 503, with the reasons for which the daemon could not
// take the database over; /metrics armature_standby, and armature_standby_unfit for each reason.
//
// Thread-safety: thread-safe. Lifetime: outlives the servers that call it.
class StandbyFront final : public HttpHandler {
 public:
  enum class For { kClients, kOperators };
  // `reasons`: all that problems may have; /metrics has a line for each.
  StandbyFront(For whom, std::vector<std::string> reasons) : whom_(whom), reasons_(std::move(reasons)) {}

  void Handle(HttpRequest request, Done done) override;
  // HOST:PORT; empty: unknown.
  void SetOwner(const std::string& address);
  void SetProblems(std::vector<StandbyProblem> problems);

 private:
  // Nullopt: it is no request for /healthz or /readyz.
  std::optional<HttpResponse> AnswerProbe(const HttpRequest& request, std::string_view path) const;
  HttpResponse AnswerOperator(const HttpRequest& request) const;
  std::string Metrics() const;

  const For whom_;
  const std::vector<std::string> reasons_;
  mutable absl::Mutex mutex_;
  std::string owner_ ABSL_GUARDED_BY(mutex_);
  std::vector<StandbyProblem> problems_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_STANDBY_STANDBY_FRONT_H_
