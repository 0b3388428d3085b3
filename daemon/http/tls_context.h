#ifndef ARMATURE_DAEMON_HTTP_TLS_CONTEXT_H_
#define ARMATURE_DAEMON_HTTP_TLS_CONTEXT_H_

// A server's certificate and key.

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/http/transport.h"

namespace armature::daemon {

// What connections of one listener share. TLS 1.2 and later, and HTTP/1.1 if the client asks for a protocol.
//
// Thread-safety: thread-safe. Lifetime: connections keep what they need, so a context may go when a newer one has come.
class TlsContext {
 public:
  // `certificate_file`: PEM, the server's certificate first, then those of the authorities between it and the root.
  // `key_file`: PEM, without a password. Errors: InvalidArgument that names the file and what is wrong with it.
  static absl::StatusOr<std::shared_ptr<const TlsContext>> Load(const std::string& certificate_file,
                                                                const std::string& key_file);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Null if there is no memory for it.
  std::unique_ptr<Transport> Accept(int socket) const;

 private:
  explicit TlsContext(SSL_CTX* context) : context_(context) {}

  SSL_CTX* const context_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_TLS_CONTEXT_H_
