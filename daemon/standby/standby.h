#ifndef ARMATURE_DAEMON_STANDBY_STANDBY_H_
#define ARMATURE_DAEMON_STANDBY_STANDBY_H_

// The listeners of a daemon that waits for a database which another daemon serves.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/http/http_server.h"
#include "daemon/standby/standby_front.h"
#include "daemon/standby/tcp_relay.h"

namespace armature::daemon {

struct StandbyOptions {
  // Addresses; empty: off.
  std::string grpc_listen;
  std::string http_listen;
  std::string metrics_listen;
  // Connections of clients are passed on to the owner. Otherwise HTTP/1.1 is answered 503, nothing listens for gRPC,
  // and connections with HTTP/2 are closed (HttpDoor::closes_http2).
  bool forwards = false;
  // TLS of the HTTP front; see HttpDoor.
  std::function<std::shared_ptr<const TlsContext>()> tls = {};
  ConnectionLedger* ledger = nullptr;  // not null; outlives the standby
  // Reasons that problems of a takeover may have, for /metrics.
  std::vector<std::string> problem_reasons = {};
};

// Serves from Start until it is destroyed; the addresses are free then.
//
// Thread-safety: owned by one thread.
class Standby {
 public:
  // Errors: those of HttpServer::Start and TcpRelay::Start.
  static absl::StatusOr<std::unique_ptr<Standby>> Start(const StandbyOptions& options);
  ~Standby();
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;

  // `service`: "grpc=HOST:PORT http=HOST:PORT", as owners announce themselves; may lack either. Does nothing if it is
  // as before.
  void SetOwner(const std::string& service);
  // Reasons for which this daemon could not take the database over now.
  void SetProblems(const std::vector<StandbyProblem>& problems);

  // The addresses with the actual ports. Empty: nothing listens.
  std::string grpc_address() const;
  std::string http_address() const;
  std::string metrics_address() const;

 private:
  explicit Standby(const std::vector<std::string>& problem_reasons);

  StandbyFront clients_front_;
  StandbyFront operators_front_;
  std::string owner_;
  std::unique_ptr<TcpRelay> grpc_relay_;
  std::unique_ptr<TcpRelay> http_relay_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<HttpServer> metrics_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_STANDBY_STANDBY_H_
