#ifndef ARMATURE_DAEMON_AUTH_TLS_IDENTITY_H_
#define ARMATURE_DAEMON_AUTH_TLS_IDENTITY_H_

// The server's TLS certificate and key, and the authorities of client certificates.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

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

// Keeps the current identity.
//
// Thread-safety: thread-safe.
class TlsKeeper {
 public:
  static absl::StatusOr<std::unique_ptr<TlsKeeper>> Start(TlsFiles files);

  // Reads the files again, without effect on connections. Errors: those of LoadTlsIdentity; they are logged.
  absl::StatusOr<TlsIdentity> Read() const;
  // For new connections; open connections keep theirs.
  void Use(TlsIdentity identity);

  // `*version` increases with each reload, so that callers notice a new identity.
  std::shared_ptr<const TlsIdentity> Current(uint64_t* version) const;

  bool asks_clients() const { return !files_.client_ca.empty(); }

 private:
  explicit TlsKeeper(TlsFiles files) : files_(std::move(files)) {}

  const TlsFiles files_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<const TlsIdentity> identity_ ABSL_GUARDED_BY(mutex_);
  uint64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_TLS_IDENTITY_H_
