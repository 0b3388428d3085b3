#ifndef ARMATURE_DAEMON_METRICS_METRICS_FRONT_H_
#define ARMATURE_DAEMON_METRICS_METRICS_FRONT_H_

// What an address for operators answers: GET /metrics, /healthz and /readyz, nothing else.

#include <atomic>

#include "daemon/http/http_message.h"
#include "daemon/metrics/metrics_collector.h"

namespace armature::daemon {

// /healthz: 200 while the process lives. /readyz: 200 while it takes requests, 503 from the beginning of its end; the
// text says whether writes are refused, which is no reason to send reads elsewhere.
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
