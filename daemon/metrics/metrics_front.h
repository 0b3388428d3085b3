#ifndef ARMATURE_DAEMON_METRICS_METRICS_FRONT_H_
#define ARMATURE_DAEMON_METRICS_METRICS_FRONT_H_

// The HTTP front end for operators: GET /metrics, /healthz and /readyz, nothing else.

#include <cstdint>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "daemon/auth/audit_log.h"
#include "daemon/auth/long_requests.h"
#include "daemon/auth/tls_identity.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/http/http_message.h"
#include "daemon/http/http_server.h"
#include "daemon/http/readiness.h"
#include "daemon/http/site_rules.h"
#include "daemon/net/connection_ledger.h"
#include "daemon/net/memory_budget.h"
#include "daemon/rpc/rpc_front.h"
#include "daemon/telemetry/request_stats.h"
#include "engine/engine.h"
#include "storage/archive/shipper.h"
#include "storage/place/backup_places.h"
#include "storage/place/place.h"

namespace armature::daemon {

// The components that count the values of metrics.
struct MetricsSources {
  engine::Engine* engine = nullptr;
  const place::Place* place = nullptr;
  const place::SharedBackupPlaces* backup_places = nullptr;
  const archive::Shipper* archive = nullptr;  // null: off
  const RequestStats* requests = nullptr;
  const HttpServer* fronts = nullptr;
  const RpcFront* rpc = nullptr;
  const CallGate* gate = nullptr;
  const ConnectionLedger* connections = nullptr;
  const MemoryBudget* memory = nullptr;
  const LongRequests* long_requests = nullptr;
  const AuditLog* audit = nullptr;  // null: off
  const CertificateExpiry* certificates = nullptr;
  ReadinessSource readiness = nullptr;  // not null
};

// The metrics of tables and indexes.
enum class TableMetrics : uint8_t {
  kAll,
  kOfTrouble,  // only of damaged tables, and of indexes that lag, are being built or are stalled: for a short text
};

// The values of all metrics in the text format of Prometheus. `start`: of the process. Takes some milliseconds with
// very many tables. Thread-safety: thread-safe.
std::string MetricsText(const MetricsSources& sources, absl::Time start, TableMetrics tables = TableMetrics::kAll);

// /metrics: MetricsText; some milliseconds with very many tables. /healthz: 200 while the process lives.
// /readyz: ReadinessPage. Requests that `sites` refuses get 403.
//
// Thread-safety: thread-safe. Lifetime: the sources must outlive the server that calls it.
class MetricsFront final : public HttpHandler {
 public:
  MetricsFront(const MetricsSources& sources, SiteRules sites) : sources_(sources), sites_(std::move(sites)) {}

  void Handle(HttpRequest request, Done done) override;

 private:
  HttpResponse Answer(const HttpRequest& request) const;

  const MetricsSources sources_;
  const SiteRules sites_;
  const absl::Time start_ = absl::Now();
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_METRICS_METRICS_FRONT_H_
