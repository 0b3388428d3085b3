#ifndef ARMATURE_DAEMON_HTTP_TLS_CONTEXT_H_
#define ARMATURE_DAEMON_HTTP_TLS_CONTEXT_H_

// A server's TLS certificate and key.

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
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

// The current TLS context, for new connections.
//
// Thread-safety: thread-safe.
class TlsContextKeeper {
 public:
  TlsContextKeeper(std::string certificate_file, std::string key_file)
      : certificate_file_(std::move(certificate_file)), key_file_(std::move(key_file)) {}

  // Reads the files, at the start or again. Errors: those of TlsContext::Load; the old context then stays.
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
