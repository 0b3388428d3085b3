#ifndef ARMATURE_DAEMON_SERVER_H_
#define ARMATURE_DAEMON_SERVER_H_

// Builds the daemon's components in order and stops them in reverse order.

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/config.h"
#include "daemon/standby/standby.h"

namespace armature::daemon {

// Serves from Start until Stop.
//
// Thread-safety: owned by one thread.
class Server {
 public:
  // While another process owns the database of `config`, waits for it, and answers clients as Standby does. Calls
  // `on_standby` once when the wait begins, with null, and once when the standby listens; may be null.
  //
  // Errors: those of OpenPlace, Database::Open, Authenticator::Start, LoadTlsIdentity and AuditLog::Open; Unavailable
  // if listening fails.
  using OnStandby = std::function<void(const Standby* standby)>;
  // `on_owned`: called once the database is this daemon's, before it is opened.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Config& config, const OnStandby& on_standby = nullptr,
                                                       const std::function<void()>& on_owned = nullptr);
  ~Server();

  // The gRPC address with the actual port: "127.0.0.1:41234". Empty if gRPC is off.
  const std::string& grpc_address() const;
  // The address of the HTTP/JSON front end. Empty if it is off.
  const std::string& http_address() const;
  // The address for operators. Empty if it is off.
  const std::string& metrics_address() const;

  // Reads credentials and certificates again, and reopens the audit log. Connections and calls continue. A file that
  // cannot be read leaves its old state in force, with an error in the log.
  void Reload();

  // Applies the settings of `config` that may change while the daemon serves (live_settings.h).
  void ChangeSettings(const Config& config);

  // Takes no new calls, lets running ones finish for up to `grace`, stops the workers and closes the database.
  void Stop(absl::Duration grace);

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_SERVER_H_
