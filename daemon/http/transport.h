#ifndef ARMATURE_DAEMON_HTTP_TRANSPORT_H_
#define ARMATURE_DAEMON_HTTP_TRANSPORT_H_

// Bytes to and from one socket, plain or through TLS.

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

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
// Takes ownership of `ssl`, a server's.
std::unique_ptr<Transport> MakeTlsTransport(int socket, SSL* ssl);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_TRANSPORT_H_
