#ifndef ARMATURE_DAEMON_HTTP_TRANSPORT_H_
#define ARMATURE_DAEMON_HTTP_TRANSPORT_H_

// The bytes of one socket, plain or through TLS.

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace armature::daemon {

// Never blocks: it tells what the socket must become first.
//
// Thread-safety: thread-compatible. Lifetime: does not own the socket, which must outlive it.
class Transport {
 public:
  enum class Result : uint8_t {
    kDone,
    kWaitReadable,
    kWaitWritable,
    kEnded,   // the peer sends no more
    kFailed,  // nothing can be read or written any more
  };

  static constexpr size_t kReadBytesMin = 16 << 10;  // the longest record of TLS

  virtual ~Transport() = default;

  // kDone: ready for the rest. To be called until then.
  virtual Result Handshake() = 0;
  // kDone: `*bytes` > 0 were read, at most `size`, which must be at least kReadBytesMin: then what is left is the
  // socket's, and it is readable if there is more.
  virtual Result Read(char* buffer, size_t size, size_t* bytes) = 0;
  // kDone: `*bytes` > 0 of `first` and then of `second` were taken. After kWait... the same bytes must come again.
  virtual Result Write(std::string_view first, std::string_view second, size_t* bytes) = 0;
  // Tells the peer that no more comes.
  virtual void EndWriting() = 0;
};

std::unique_ptr<Transport> MakePlainTransport(int socket);
// Takes `ssl`, which must be a server's.
std::unique_ptr<Transport> MakeTlsTransport(int socket, SSL* ssl);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_TRANSPORT_H_
