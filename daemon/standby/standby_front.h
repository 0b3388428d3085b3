#ifndef ARMATURE_DAEMON_STANDBY_STANDBY_FRONT_H_
#define ARMATURE_DAEMON_STANDBY_STANDBY_FRONT_H_

// HTTP answers of a daemon that waits for its database.

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/http/http_message.h"

namespace armature::daemon {

// To clients: 503, and ServiceUnavailable in the form of the JSON protocol, so that SDKs try again. The header
// x-armature-owner names the address where the owner of the database serves HTTP, unless it is unknown. Nothing of the
// request is checked, because nothing of it is done.
//
// To operators: /healthz 200, because the process lives; /readyz 503; /metrics armature_standby.
//
// Thread-safety: thread-safe. Lifetime: outlives the servers that call it.
class StandbyFront final : public HttpHandler {
 public:
  enum class For { kClients, kOperators };
  explicit StandbyFront(For whom) : whom_(whom) {}

  void Handle(HttpRequest request, Done done) override;
  // HOST:PORT; empty: unknown.
  void SetOwner(const std::string& address);

 private:
  HttpResponse AnswerOperator(const HttpRequest& request) const;

  const For whom_;
  mutable absl::Mutex mutex_;
  std::string owner_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_STANDBY_STANDBY_FRONT_H_
