#ifndef ARMATURE_DAEMON_METRICS_METRICS_FRONT_H_
#define ARMATURE_DAEMON_METRICS_METRICS_FRONT_H_

// The HTTP front end for operators: GET /metrics, /healthz and /readyz, nothing else.

#include <atomic>

#include "daemon/http/http_message.h"
#include "daemon/metrics/metrics_collector.h"

namespace armature::daemon {

// /healthz: 200 while the process lives. /readyz: 200 while requests are accepted, 503 from the start of shutdown. The
// text of /readyz also says if writes are refused; the status stays 200, because reads still work.
//
// Thread-safety: thread-safe. Lifetime: `collector` and `database` must outlive the server that calls it.
class MetricsFront final : public HttpHandler {
 public:
  MetricsFront(const MetricsCollector* collector, const store::Database* database)
      : collector_(collector), database_(database) {}

  void Handle(HttpRequest request, Done done) override;
  void SetStopping() { stopping_ = true; }

 private:
  HttpResponse Answer(const HttpRequest& request) const;

  const MetricsCollector* const collector_;
  const store::Database* const database_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_METRICS_METRICS_FRONT_H_
