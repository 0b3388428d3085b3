#ifndef ARMATURE_DAEMON_AUTH_TLS_IDENTITY_H_
#define ARMATURE_DAEMON_AUTH_TLS_IDENTITY_H_

// The server's TLS certificate and key, and the authorities of client certificates.

#include <atomic>
#include <cstdint>
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
  // When the server's own certificate expires, and the first of the authorities; in seconds since the epoch. 0 without.
  int64_t certificate_expiry_s = 0;
  int64_t client_ca_expiry_s = 0;
};

// When the certificates in use expire, as in TlsIdentity. Thread-safety: thread-safe.
struct CertificateExpiry {
  std::atomic<int64_t> certificate_s = 0;
  std::atomic<int64_t> client_ca_s = 0;
};

// Errors: InvalidArgument or Unavailable with one line that names the file: it cannot be read, others may read the key,
// it is not PEM, or the key does not belong to the certificate.
absl::StatusOr<TlsIdentity> LoadTlsIdentity(const TlsFiles& files);

// The second half of LoadTlsIdentity, for contents that were read already: checks that they fit together, and sets when
// they expire. `files`: for messages. Errors: InvalidArgument, as above.
absl::Status CompleteTlsIdentity(const TlsFiles& files, TlsIdentity* identity);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_TLS_IDENTITY_H_
