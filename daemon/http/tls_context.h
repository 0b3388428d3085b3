#ifndef ARMATURE_DAEMON_HTTP_TLS_CONTEXT_H_
#define ARMATURE_DAEMON_HTTP_TLS_CONTEXT_H_

// A server's TLS certificate and key.

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/http/transport.h"

namespace armature::daemon {

// TLS settings shared by the connections of a listener. TLS 1.2 and later, and HTTP/1.1 if the client negotiates a
// protocol.
//
// Thread-safety: thread-safe. Lifetime: connections keep references, so a replaced context may be destroyed.
class TlsContext {
 public:
  // `certificate_file`: PEM, the server's certificate first, then the intermediate ones. `key_file`: PEM, without a
  // password. Errors: InvalidArgument that names the file and the fault.
  static absl::StatusOr<std::shared_ptr<const TlsContext>> Load(const std::string& certificate_file,
                                                                const std::string& key_file);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Null if memory is short.
  std::unique_ptr<Transport> Accept(int socket) const;

 private:
  explicit TlsContext(SSL_CTX* context) : context_(context) {}

  SSL_CTX* const context_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_TLS_CONTEXT_H_
