#ifndef ARMATURE_DAEMON_HTTP_TRANSPORT_H_
#define ARMATURE_DAEMON_HTTP_TRANSPORT_H_

// Bytes to and from one socket, plain or through TLS with the server's certificate and key.

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace armature::daemon {

// Never blocks: the result says which readiness to wait for.
//
// Thread-safety: thread-compatible. Lifetime: does not own the socket, which must outlive it.
class Transport {
 public:
  enum class Result : uint8_t {
    kDone,
    kWaitReadable,
    kWaitWritable,
    kEnded,   // the peer sends no more bytes
    kFailed,  // reading and writing are impossible
  };

  static constexpr size_t kReadBytesMin = 16 << 10;  // the longest TLS record

  virtual ~Transport() = default;

  // Call it until it returns kDone.
  virtual Result Handshake() = 0;
  // kDone: `*bytes` > 0 were read, at most `size`. With `size` at least kReadBytesMin, no bytes stay buffered here: the
  // socket is readable if there are more.
  virtual Result Read(char* buffer, size_t size, size_t* bytes) = 0;
  // kDone: `*bytes` > 0 of `first` and then of `second` were taken. After kWait... the same bytes must be passed again.
  virtual Result Write(std::string_view first, std::string_view second, size_t* bytes) = 0;
  // Tells the peer that no more bytes follow.
  virtual void EndWriting() = 0;
};

std::unique_ptr<Transport> MakePlainTransport(int socket);

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

  // Reads the files, without effect on connections. Errors: those of TlsContext::Load.
  absl::StatusOr<std::shared_ptr<const TlsContext>> Read() const {
    return TlsContext::Load(certificate_file_, key_file_);
  }

  // For connections from now on.
  void Use(std::shared_ptr<const TlsContext> context) {
    const absl::MutexLock lock(&mutex_);
    context_ = std::move(context);
  }

  // Reads the files and uses them. Errors: those of TlsContext::Load; the old context then stays.
  absl::Status Load() {
    absl::StatusOr<std::shared_ptr<const TlsContext>> loaded = Read();
    if (loaded.ok()) Use(*loaded);
    return loaded.status();
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

#endif  // ARMATURE_DAEMON_HTTP_TRANSPORT_H_
