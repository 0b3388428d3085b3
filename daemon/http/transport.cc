#include "daemon/http/transport.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

namespace armature::daemon {
namespace {

iovec Piece(std::string_view bytes) { return {.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()}; }

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(int socket) : socket_(socket) {}

  Result Handshake() override { return Result::kDone; }

  Result Read(char* buffer, size_t size, size_t* bytes) override {
    ssize_t got = 0;
    do {
      got = recv(socket_, buffer, size, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got == 0) return Result::kEnded;
    if (got < 0) return errno == EAGAIN ? Result::kWaitReadable : Result::kFailed;
    *bytes = static_cast<size_t>(got);
    return Result::kDone;
  }

  Result Write(std::string_view first, std::string_view second, size_t* bytes) override {
    std::array<iovec, 2> pieces = {Piece(first), Piece(second)};
    msghdr message = {};
    message.msg_iov = pieces.data();
    message.msg_iovlen = second.empty() ? 1 : 2;
    ssize_t sent = 0;
    do {
      sent = sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) return errno == EAGAIN ? Result::kWaitWritable : Result::kFailed;
    *bytes = static_cast<size_t>(sent);
    return Result::kDone;
  }

  void EndWriting() override { shutdown(socket_, SHUT_WR); }

 private:
  const int socket_;
};

// OpenSSL's socket write raises SIGPIPE when the peer has closed. This one does not.
int WriteToSocket(BIO* bio, const char* bytes, int size) {
  int socket = -1;
  BIO_get_fd(bio, &socket);
  const ssize_t sent = send(socket, bytes, static_cast<size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
  BIO_clear_retry_flags(bio);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

// The method exists as long as the process.
const BIO_METHOD* SocketMethod() {
  static const BIO_METHOD* const kMethod = [] {
    const BIO_METHOD* const base = BIO_s_socket();
    BIO_METHOD* const made = BIO_meth_new(BIO_TYPE_SOCKET, "socket without SIGPIPE");
    BIO_meth_set_read(made, BIO_meth_get_read(base));
    BIO_meth_set_write(made, WriteToSocket);
    BIO_meth_set_puts(made, BIO_meth_get_puts(base));
    BIO_meth_set_ctrl(made, BIO_meth_get_ctrl(base));
    BIO_meth_set_create(made, BIO_meth_get_create(base));
    BIO_meth_set_destroy(made, BIO_meth_get_destroy(base));
    return made;
  }();
  return kMethod;
}

int ClampToInt(size_t size) { return static_cast<int>(std::min<size_t>(size, std::numeric_limits<int>::max())); }

class TlsTransport final : public Transport {
 public:
  TlsTransport(int socket, SSL* ssl) : socket_(socket), ssl_(ssl) {}
  ~TlsTransport() override { SSL_free(ssl_); }
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  Result Handshake() override {
    ERR_clear_error();
    return Translate(SSL_accept(ssl_));
  }

  Result Read(char* buffer, size_t size, size_t* bytes) override {
    ERR_clear_error();
    const int got = SSL_read(ssl_, buffer, ClampToInt(size));
    if (got > 0) *bytes = static_cast<size_t>(got);
    return Translate(got);
  }

  Result Write(std::string_view first, std::string_view, size_t* bytes) override {
    ERR_clear_error();
    const int sent = SSL_write(ssl_, first.data(), ClampToInt(first.size()));
    if (sent > 0) *bytes = static_cast<size_t>(sent);
    return Translate(sent);
  }

  void EndWriting() override {
    ERR_clear_error();
    if (!failed_) SSL_shutdown(ssl_);
    shutdown(socket_, SHUT_WR);
  }

 private:
  Result Translate(int returned) {
    if (returned > 0) return Result::kDone;
    switch (SSL_get_error(ssl_, returned)) {
      case SSL_ERROR_WANT_READ:
        return Result::kWaitReadable;
      case SSL_ERROR_WANT_WRITE:
        return Result::kWaitWritable;
      case SSL_ERROR_ZERO_RETURN:
        return Result::kEnded;
      default:
        failed_ = true;
        ERR_clear_error();
        return Result::kFailed;
    }
  }

  const int socket_;
  SSL* const ssl_;
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<Transport> MakePlainTransport(int socket) { return std::make_unique<PlainTransport>(socket); }

std::unique_ptr<Transport> MakeTlsTransport(int socket, SSL* ssl) {
  BIO* const bio = BIO_new(SocketMethod());
  if (bio == nullptr) {
    SSL_free(ssl);
    return nullptr;
  }
  BIO_set_fd(bio, socket, BIO_NOCLOSE);
  SSL_set_bio(ssl, bio, bio);
  return std::make_unique<TlsTransport>(socket, ssl);
}

}  // namespace armature::daemon
