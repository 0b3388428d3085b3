#ifndef ARMATURE_DAEMON_ADMIN_ADMIN_SERVICE_H_
#define ARMATURE_DAEMON_ADMIN_ADMIN_SERVICE_H_

// The admin service: state of the process and of its indexes, checks of indexes, exports of tables, backups of the
// database, and an echo for measurements.

#include <string>

#include "daemon/admin/export_stream.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/unary_service.h"
#include "daemon/telemetry/request_stats.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: outlives the server; `gate` outlives it.
class AdminService final : public UnaryService {
 public:
  // `stats`: of the daemon's requests, outlives it; may be null.
  AdminService(const CallGate* gate, RpcFront* front, std::string data_dir, const RequestStats* stats);

  // Ends the streams of ExportTable, because the server is stopping.
  void Drain() { exports_.Drain(); }

 private:
  StreamSet<ExportStream> exports_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_ADMIN_ADMIN_SERVICE_H_
