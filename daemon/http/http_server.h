#ifndef ARMATURE_DAEMON_HTTP_HTTP_SERVER_H_
#define ARMATURE_DAEMON_HTTP_HTTP_SERVER_H_

// A server of HTTP/1.1 (keep-alive, pipelining, chunked bodies) and HTTP/2, on the same doors: limits on all resources,
// graceful stop.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/http/http_message.h"
#include "daemon/net/wrong_door.h"

namespace armature::daemon {

class ConnectionLedger;
class H2Router;
class MemoryBudget;
class TlsContext;

// An address of a server, and what its connections speak.
struct HttpDoor {
  // HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 lets the system choose. A name may stand for several addresses: all
  // that are ours are listened on. The file of a Unix socket is removed when the server stops.
  std::string listen = "127.0.0.1:0";
  // Called for each connection. Empty: plain text, as it should be on Unix sockets. If it returns null, the connection
  // is closed.
  std::function<std::shared_ptr<const TlsContext>()> tls = {};
  // Clients with HTTP/2 are to try another address: their connections are closed unanswered. gRPC's clients go on to
  // the next address then, and stay where a connection is answered.
  bool closes_http2 = false;
  // Handles gRPC calls. Null: they are answered with the hint. Outlives the server.
  H2Router* router = nullptr;
  // The hint for a client that does not speak what this door does: gRPC where there is none (kHttp2), plain text at a
  // door with TLS, or TLS at one without. Plain text without line ends, quotes and backslashes.
  std::function<std::string(Speech)> wrong_door = [](Speech) { return std::string("This port speaks HTTP/1.1."); };
};

struct HttpServerOptions {
  HttpDoor door = {};  // the first one
  size_t io_threads = 2;
  // Counts the connections, together with those of other servers. Connections that it refuses are answered 503 and
  // closed. Null: a ledger of this server with `connections_max`. Outlives the server.
  ConnectionLedger* ledger = nullptr;
  size_t connections_max = 20'000;

  RequestLimits limits = {};
  // Counts the memory of handshakes, unfinished requests and unsent answers, together with that of other servers. When
  // it or the client's share is spent, large requests, and reads with large answers, are answered 503; when it is full,
  // all are. Null: a budget of this server of `held_bytes_max`. Outlives the server.
  MemoryBudget* budget = nullptr;
  size_t held_bytes_max = 512 << 20;

  absl::Duration idle_timeout = absl::Minutes(10);  // between requests
  // After this time a client of HTTP/2 is told to connect anew: its open streams end when they like.
  absl::Duration h2_age_max = absl::InfiniteDuration();
  absl::Duration head_timeout = absl::Seconds(20);  // TLS handshake; also first byte to last header
  // Minimum rate of bodies and answers. `stall_timeout` is the longest pause, and the most time that faster transfers
  // can accumulate.
  size_t bytes_per_second_min = 1024;
  absl::Duration stall_timeout = absl::Seconds(20);
  // When the budget or the client's share of it is nearly used, answers that the client has not taken for this long are
  // broken off.
  absl::Duration unread_grace = absl::Seconds(1);
  // Time after the last answer for the client to close. Input until then is discarded, up to `linger_bytes_max`:
  // closing at once could destroy the answer in transit.
  absl::Duration linger_timeout = absl::Seconds(20);
  size_t linger_bytes_max = 32 << 20;

  // Called by an event loop when more requests wait than it can serve, with true, and with false when that has ended.
  std::function<void(bool crowded)> on_crowd = {};
  // True while requests are held up behind the handler: a loop without work is then no reason to serve those that came
  // too late. Called often.
  std::function<bool()> is_held_up = {};
};

// Options of a small server for operators and their programs: one thread, few connections, no bodies.
HttpServerOptions OperatorsOptions(const std::string& listen);

// HTTP/2 connections that are open, and events since the start.
struct H2Counts {
  size_t connections = 0;
  uint64_t stalled = 0;   // streams and connections whose clients neither sent nor read
  uint64_t memory = 0;    // the same, ended since the budget was spent
  uint64_t flooding = 0;  // connections broken off: frames without use, too many resets
  uint64_t heads = 0;     // the same: huge heads of requests
  uint64_t protocol = 0;  // the same: no HTTP/2
};

// Serves from Start until Stop, HTTP/1.1 and HTTP/2 at each door.
//
// Requests of one connection are handled one after another. A few threads do all input and output and call the handler.
// Memory: an idle connection holds less than 1 KB (with TLS also OpenSSL's state). Requests and answers are bounded by
// the budget, except for answers that the handler produces after it is spent.
//
// Thread-safety: owned by one thread.
class HttpServer {
 public:
  // `handler` must outlive the server. Errors: InvalidArgument if the address is malformed, Unavailable if listening
  // fails.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpServerOptions& options, HttpHandler* handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Opens a further door, whose connections share the loops, the limits and the handler with all others. Returns its
  // address, as address() does. Errors: those of Start; Unavailable after Stop.
  absl::StatusOr<std::string> Open(HttpDoor door);

  // The address of the first door with the actual port: "127.0.0.1:41234".
  const std::string& address() const;
  size_t connections() const;
  // Number of requests since the start that the handler got with `is_late`.
  uint64_t late_requests() const;
  H2Counts h2_counts() const;
  // Bytes counted against the budget, by all its servers.
  size_t held_bytes() const;

  // Accepts no new connections, closes idle ones, and answers requests that have arrived with `Connection: close`.
  // Returns when all connections are closed; cuts off the rest after `grace`. Idempotent. A later `done` call of a
  // handler has no effect.
  void Stop(absl::Duration grace);

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

// Raises the process's soft limit of open files to the hard limit and returns it. Each connection needs a descriptor.
uint64_t RaiseDescriptorLimit();

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_HTTP_SERVER_H_
