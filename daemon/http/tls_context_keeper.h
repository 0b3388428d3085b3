#ifndef ARMATURE_DAEMON_HTTP_TLS_CONTEXT_KEEPER_H_
#define ARMATURE_DAEMON_HTTP_TLS_CONTEXT_KEEPER_H_

// The TLS context of the moment, for connections to come.

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/http/tls_context.h"

namespace armature::daemon {

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

#endif  // ARMATURE_DAEMON_HTTP_TLS_CONTEXT_KEEPER_H_
