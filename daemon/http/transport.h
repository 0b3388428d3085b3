#ifndef ARMATURE_DAEMON_HTTP_TRANSPORT_H_
#define ARMATURE_DAEMON_HTTP_TRANSPORT_H_

// Bytes to and from one socket, plain or through TLS with the server's certificate and key.

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  // After the handshake: the names in the client's certificate (CertificateNames), which has been verified. None if the
  // client has sent no certificate, or the connection is plain.
  virtual std::vector<std::string> PeerNames() const { return {}; }
  // kDone: `*bytes` > 0 were read, at most `size`. With `size` at least kReadBytesMin, no bytes stay buffered here: the
  // socket is readable if there are more.
  virtual Result Read(char* buffer, size_t size, size_t* bytes) = 0;
  // kDone: `*bytes` > 0 of the pieces, at least one and none of them empty, were taken in their order. After kWait...
  // the same bytes must be passed again.
  virtual Result Write(std::span<const std::string_view> pieces, size_t* bytes) = 0;
  // Tells the peer that no more bytes follow.
  virtual void EndWriting() = 0;
};

std::unique_ptr<Transport> MakePlainTransport(int socket);

// Texts in PEM form.
struct TlsMaterial {
  std::string certificate_pem;  // the server's first, then the intermediate ones
  std::string key_pem;          // without a password
  // Authorities of client certificates. A client then may send a certificate, and gets no connection if it is not
  // valid. Empty: no client is asked for one.
  std::string client_ca_pem = {};
  // A client that offers both gets HTTP/2, or HTTP/1.1 if this is false.
  bool prefers_h2 = false;
};

// TLS settings shared by the connections of a listener. TLS 1.2 and later. A client that negotiates a protocol gets
// the preferred one that it offers.
//
// Thread-safety: thread-safe. Lifetime: connections keep references, so a replaced context may be destroyed.
class TlsContext {
 public:
  // Errors: InvalidArgument that names the text and the fault.
  static absl::StatusOr<std::shared_ptr<const TlsContext>> Make(const TlsMaterial& material);
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
  // For connections from now on.
  void Use(std::shared_ptr<const TlsContext> context) {
    const absl::MutexLock lock(&mutex_);
    context_ = std::move(context);
  }

  // Null before the first Use.
  std::shared_ptr<const TlsContext> Current() const {
    const absl::MutexLock lock(&mutex_);
    return context_;
  }

 private:
  mutable absl::Mutex mutex_;
  std::shared_ptr<const TlsContext> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_TRANSPORT_H_
