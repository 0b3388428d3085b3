#ifndef ARMATURE_DAEMON_STANDBY_TCP_RELAY_H_
#define ARMATURE_DAEMON_STANDBY_TCP_RELAY_H_

// Passes connections on to another server, byte for byte: any protocol, with or without TLS.

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace armature::daemon {

class ConnectionLedger;

// Listens from Start until it is destroyed. For each accepted connection it makes one to the target. A connection
// without a target, or whose target is the relay itself or cannot be reached within kConnectSeconds, is closed: its
// client may try another address. When one side has sent its last byte, the other one is told. An error of one side
// closes both, and so does the end of the target some time later.
//
// Memory: kBufferBytes in each direction of a connection. A side that does not read holds up the other one, whose own
// limits of time then apply. One thread does all input and output.
//
// Thread-safety: thread-safe.
class TcpRelay {
 public:
  static constexpr size_t kBufferBytes = 16 << 10;
  static constexpr int kConnectSeconds = 5;

  // `listen`: HOST:PORT or [IPV6]:PORT; port 0 lets the system choose. `ledger` counts the accepted connections,
  // refuses those beyond its limits, and outlives the relay. Errors: InvalidArgument if the address is malformed,
  // Unavailable if listening fails.
  static absl::StatusOr<std::unique_ptr<TcpRelay>> Start(const std::string& listen, ConnectionLedger* ledger);
  // Closes all connections.
  ~TcpRelay();
  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;

  // The listening address with the actual port.
  const std::string& address() const;
  // Sets the address to which new connections go: HOST:PORT or [IPV6]:PORT; empty: nowhere. Closes the connections to
  // the target before. The host is looked up for each connection. Errors: InvalidArgument if it is malformed; the relay
  // then has no target.
  absl::Status SetTarget(const std::string& target);

 private:
  struct Impl;
  explicit TcpRelay(std::shared_ptr<Impl> impl);
  const std::shared_ptr<Impl> impl_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_STANDBY_TCP_RELAY_H_
