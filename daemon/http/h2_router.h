#ifndef ARMATURE_DAEMON_HTTP_H2_ROUTER_H_
#define ARMATURE_DAEMON_HTTP_H2_ROUTER_H_

// The way from requests of HTTP/2 connections that are more than HTTP to those who handle them.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/http/h2_stream.h"
#include "daemon/net/connection_ledger.h"
#include "storage/base/held_memory.h"

namespace armature::daemon {

class IoLoop;

// The client of a connection.
struct H2Peer {
  std::string text;  // "127.0.0.1:41234", "[::1]:41234", or "unix"
  std::optional<PeerNetwork> network;
  MemorySource memory;
  // The names in the client's certificate (CertificateNames), which has been verified. None without one.
  std::vector<std::string> certificate_names;
  // The requests that arrive now are to be refused: their connection has waited too long. Belongs to the loop's thread.
  mutable bool is_late = false;
  // There is no memory, not even for small requests. Belongs to the loop's thread.
  mutable bool is_full = false;
  // Calls and requests that have begun and not ended, also those that the client has cancelled; more are refused.
  static constexpr int kRunningMax = 400;
  mutable std::atomic<int> running = 0;
};

// Thread-safety: called from several threads at once. Lifetime: outlives the server.
class H2Router {
 public:
  virtual ~H2Router() = default;
  // The handler of a request, whose head is complete; null if the request is plain HTTP. `request` is taken over if
  // there is a handler. The handler may have answered.
  virtual std::shared_ptr<StreamHandler> Open(H2Stream* stream, H2Request* request,
                                              const std::shared_ptr<const H2Peer>& peer,
                                              const std::shared_ptr<IoLoop>& loop) = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_H2_ROUTER_H_
