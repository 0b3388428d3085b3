#ifndef ARMATURE_DAEMON_AUTH_TLS_IDENTITY_H_
#define ARMATURE_DAEMON_AUTH_TLS_IDENTITY_H_

// The server's certificate and key, and whose certificates of clients it believes.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace armature::daemon {

// Names of PEM files.
struct TlsFiles {
  std::string certificate;  // the server's first, then those between it and the root
  std::string key;          // without a password
  std::string client_ca;    // empty: clients are not asked for certificates

  bool enabled() const { return !certificate.empty(); }
};

// What the files held when they were read, known to fit together.
struct TlsIdentity {
  std::string certificate_pem;
  std::string key_pem;
  std::string client_ca_pem;
};

// Errors: InvalidArgument or Unavailable with one line that names the file: it cannot be read, others may read the key,
// it is no PEM, the key is not that of the certificate.
absl::StatusOr<TlsIdentity> LoadTlsIdentity(const TlsFiles& files);

// The identity of the moment.
//
// Thread-safety: thread-safe.
class TlsKeeper {
 public:
  static absl::StatusOr<std::unique_ptr<TlsKeeper>> Start(TlsFiles files);

  // Reads the files again, for connections to come; those that are open go on. Errors: those of LoadTlsIdentity; then
  // the old identity stays. Logs either way.
  absl::Status Reload();

  // With the number of reloads so far, by which users see that it is another.
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
