#ifndef ARMATURE_DAEMON_HTTP_READINESS_H_
#define ARMATURE_DAEMON_HTTP_READINESS_H_

// The page /readyz, which all HTTP listeners of the daemon have.

#include <functional>
#include <string>

#include "daemon/http/http_message.h"

namespace armature::daemon {

// State of the daemon for load balancers.
struct Readiness {
  bool is_ready = true;
  std::string text = "ready";  // one line, for people
};

// Thread-safety of the function: thread-safe. It does not block.
using ReadinessSource = std::function<Readiness()>;

inline bool IsReadMethod(const HttpRequest& request) { return request.method == "GET" || request.method == "HEAD"; }

// 200 if the daemon accepts requests, 503 otherwise.
inline HttpResponse ReadinessPage(const Readiness& readiness) {
  return {.status = readiness.is_ready ? 200u : 503u,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = readiness.text + "\n"};
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_READINESS_H_
