#ifndef ARMATURE_DAEMON_METRICS_METRICS_COLLECTOR_H_
#define ARMATURE_DAEMON_METRICS_METRICS_COLLECTOR_H_

// Collects the values of all metrics from the components that count them.

#include <string>

#include "absl/time/time.h"
#include "daemon/auth/audit_log.h"
#include "daemon/http/http_server.h"
#include "daemon/metrics/metric_set.h"
#include "daemon/telemetry/request_stats.h"
#include "engine/engine.h"
#include "storage/store/database.h"

namespace armature::daemon {

struct MetricsSources {
  engine::Engine* engine = nullptr;
  const RequestStats* requests = nullptr;
  const HttpServer* http = nullptr;  // null: off
  const AuditLog* audit = nullptr;   // null: off
};

// Thread-safety: thread-safe. Lifetime: the sources must outlive it.
class MetricsCollector {
 public:
  explicit MetricsCollector(const MetricsSources& sources);

  // The body of /metrics. Cost: some milliseconds with very many tables.
  std::string Collect() const;

 private:
  void AddRequests(MetricSet* set) const;
  void AddTables(MetricSet* set) const;

  const MetricsSources sources_;
  const absl::Time start_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_METRICS_METRICS_COLLECTOR_H_
