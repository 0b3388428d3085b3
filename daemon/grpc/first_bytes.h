#ifndef ARMATURE_DAEMON_GRPC_FIRST_BYTES_H_
#define ARMATURE_DAEMON_GRPC_FIRST_BYTES_H_

// The beginning of a connection, before gRPC gets it: clients that speak something else are told where to go.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/net/wrong_door.h"

namespace armature::daemon {

// Owns the socket of one connection until gRPC takes it.
//
// Thread-safety: thread-compatible. Lifetime: the options outlive it.
class FirstBytes {
 public:
  struct Options {
    bool has_tls = false;
    // The hint for a client that speaks something else than this port does. Plain text as for HttpServerOptions.
    std::function<std::string(Speech)> wrong_door = [](Speech) { return std::string("This port speaks gRPC."); };
  };

  enum class Verdict : uint8_t {
    kWait,   // until more bytes arrive
    kServe,  // by gRPC: see TakeSocket
    kEnd,    // the connection may be closed
  };

  // `socket` does not block.
  FirstBytes(int socket, const Options* options);
  ~FirstBytes();
  FirstBytes(FirstBytes&& other) noexcept;
  FirstBytes& operator=(FirstBytes&&) = delete;

  // Call it when bytes have arrived. Does not take them from the socket if gRPC is to serve the connection.
  Verdict Look();
  // The socket, which the caller owns then.
  int TakeSocket();
  // True if the client has taken too long. `now_ns`: CoarseNowNs().
  bool IsLate(int64_t now_ns) const { return now_ns >= deadline_ns_; }

 private:
  // Reads what the client says, and answers it.
  Verdict ReadRefused();
  // The client gets what was sent, and has time to close: closing at once could destroy the answer in transit.
  Verdict Linger();
  Verdict Discard();
  // False if it cannot be sent at once, as to a client that does not read.
  bool Send(std::string_view bytes) const;

  int socket_;
  const Options* const options_;
  int64_t deadline_ns_;
  std::unique_ptr<Refusal> refusal_;  // of a client that speaks something else
  bool lingers_ = false;
  size_t discarded_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_FIRST_BYTES_H_
