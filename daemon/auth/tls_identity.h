#ifndef ARMATURE_DAEMON_AUTH_TLS_IDENTITY_H_
#define ARMATURE_DAEMON_AUTH_TLS_IDENTITY_H_

// The server's TLS certificate and key, and the authorities of client certificates.

#include <string>

#include "absl/status/statusor.h"

namespace armature::daemon {

// Paths of PEM files.
struct TlsFiles {
  std::string certificate;  // the server's first, then the intermediate ones
  std::string key;          // without a password
  std::string client_ca;    // empty: no client certificates are asked for

  bool enabled() const { return !certificate.empty(); }
};

// The files' contents, checked to fit together.
struct TlsIdentity {
  std::string certificate_pem;
  std::string key_pem;
  std::string client_ca_pem;
};

// Errors: InvalidArgument or Unavailable with one line that names the file: it cannot be read, others may read the key,
// it is not PEM, or the key does not belong to the certificate.
absl::StatusOr<TlsIdentity> LoadTlsIdentity(const TlsFiles& files);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_TLS_IDENTITY_H_
