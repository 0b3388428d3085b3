#ifndef ARMATURE_DAEMON_HTTP_TLS_CONTEXT_H_
#define ARMATURE_DAEMON_HTTP_TLS_CONTEXT_H_

// A server's certificate and key.

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
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

// The current TLS context, for new connections.
//
// Thread-safety: thread-safe.
class TlsContextKeeper {
 public:
  TlsContextKeeper(std::string certificate_file, std::string key_file)
      : certificate_file_(std::move(certificate_file)), key_file_(std::move(key_file)) {}

  // Reads the files, at the start and again. Errors: those of TlsContext::Load; then what was there stays.
  absl::Status Load() {
    absl::StatusOr<std::shared_ptr<const TlsContext>> loaded = TlsContext::Load(certificate_file_, key_file_);
    if (!loaded.ok()) return loaded.status();
    const absl::MutexLock lock(&mutex_);
    context_ = *std::move(loaded);
    return absl::OkStatus();
  }

  std::shared_ptr<const TlsContext> Current() const {
    const absl::MutexLock lock(&mutex_);
    return context_;
  }

 private:
  const std::string certificate_file_;
  const std::string key_file_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<const TlsContext> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_TLS_CONTEXT_H_
