#ifndef ARMATURE_DAEMON_SERVER_H_
#define ARMATURE_DAEMON_SERVER_H_

// Builds the parts of the daemon in order and stops them in reverse.

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/config.h"

namespace armature::daemon {

// Serves from Start until Stop.
//
// Thread-safety: owned by one thread.
class Server {
 public:
  // Errors: those of Database::Open, Authenticator::Start, TlsKeeper::Start and AuditLog::Open; Unavailable if the
  // address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Config& config);
  ~Server();

  // Where it listens, with the port the system chose: "127.0.0.1:41234". Empty if gRPC is off.
  const std::string& grpc_address() const;
  // Of the original protocol; empty if it is off.
  const std::string& http_address() const;
  // For operators; empty if it is off.
  const std::string& metrics_address() const;

  // Reads credentials and certificates again, and opens the audit log anew. Connections and calls go on. What cannot be
  // read stays as it was; the log says so.
  void Reload();

  // Takes no new calls, lets those under way finish for up to `grace`, commits what waits, closes the database.
  void Stop(absl::Duration grace);

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_SERVER_H_
