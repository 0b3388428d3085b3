#ifndef ARMATURE_DAEMON_HTTP_HTTP_SERVER_H_
#define ARMATURE_DAEMON_HTTP_HTTP_SERVER_H_

// A server of HTTP/1.1: keep-alive, pipelining, chunked bodies, limits on everything, and a drain at the end.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/http/http_message.h"

namespace armature::daemon {

class TlsContext;

struct HttpServerOptions {
  // HOST:PORT or [IPV6]:PORT; port 0 lets the system choose.
  std::string listen = "127.0.0.1:0";
  size_t io_threads = 2;
  // Beyond it, connections are answered 503 and closed.
  size_t connections_max = 20'000;
  // Open files that the rest of the process may need. Where the system allows fewer than both together, there are fewer
  // connections, but never less than a quarter of what is allowed.
  size_t descriptors_reserved = 1024;

  size_t line_bytes_max = 16 << 10;   // request line; beyond: 400
  size_t head_bytes_max = 16 << 10;   // headers; beyond: 400
  size_t body_bytes_max = 16 << 20;   // as sent; beyond: 413
  size_t held_bytes_max = 512 << 20;  // requests being received and answers not yet read, all together; beyond: 503

  absl::Duration idle_timeout = absl::Minutes(10);  // between requests
  absl::Duration head_timeout = absl::Seconds(20);  // for the TLS handshake; from the first byte to the last header
  // Bodies and answers may take as long as they like while they move at this rate; `stall_timeout` is how long they may
  // stand still, and what they can save up by being fast.
  size_t bytes_per_second_min = 1024;
  absl::Duration stall_timeout = absl::Seconds(20);
  // After the last answer, for the client to end. What it still sends until then is thrown away, up to
  // `linger_bytes_max`: closing at once would destroy the answer on its way.
  absl::Duration linger_timeout = absl::Seconds(20);
  size_t linger_bytes_max = 32 << 20;

  // Asked for each connection; empty: plain text. If it returns null, the connection is closed.
  std::function<std::shared_ptr<const TlsContext>()> tls = {};
};

// Serves from Start until Stop.
//
// Requests of one connection are handled one after another. A few threads do all input and output; they call the
// handler. Memory: an idle connection holds less than 1 KB (TLS: what OpenSSL needs); what requests and answers hold is
// bounded by `held_bytes_max`, except for answers that the handler makes while it is reached.
//
// Thread-safety: owned by one thread.
class HttpServer {
 public:
  // `handler` must outlive the server. Errors: InvalidArgument if the address is malformed, Unavailable if it cannot be
  // listened on.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpServerOptions& options, HttpHandler* handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Where it listens, with the port the system chose: "127.0.0.1:41234".
  const std::string& address() const;
  size_t connections() const;
  // Of `held_bytes_max`.
  size_t held_bytes() const;

  // Takes no new connections, closes idle ones, answers requests that have arrived or are under way with
  // `Connection: close`, and returns when all are gone or, cutting off the rest, after `grace`. Idempotent. A handler
  // may still call its `done` later; that has no effect.
  void Stop(absl::Duration grace);

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

// Raises the process's limit of open files to what the system allows, and tells it. Each connection needs one.
uint64_t RaiseDescriptorLimit();

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_HTTP_SERVER_H_
