#include "daemon/http/transport.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>

#include "storage/base/strings.h"

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

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

// The oldest OpenSSL error of this thread as a text. Clears all errors.
std::string OpenSslError() {
  const unsigned long code = ERR_get_error();  // NOLINT(google-runtime-int): OpenSSL's type
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
  const char* const reason = ERR_reason_error_string(code);
  return reason == nullptr ? "no reason given" : reason;
}

absl::Status Unusable(std::string_view what, const std::string& file) {
  return absl::InvalidArgumentError(Cat("TLS ", what, " '", file, "' cannot be used: ", OpenSslError()));
}

// Selects HTTP/1.1 if the client offers it. A client that offers HTTP/2 only gets it, to be told that it is not served
// here: gRPC's would end without a reason otherwise. Otherwise continues without a selection.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered,
                   unsigned int offered_size, void*) {
  static constexpr std::array<unsigned char, 12> kOurs = {8, 'h', 't', 't', 'p', '/', '1', '.', '1', 2, 'h', '2'};
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, chosen_size, kOurs.data(), kOurs.size(), offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

std::unique_ptr<Transport> MakePlainTransport(int socket) { return std::make_unique<PlainTransport>(socket); }

absl::StatusOr<std::shared_ptr<const TlsContext>> TlsContext::Load(const std::string& certificate_file,
                                                                   const std::string& key_file) {
  ERR_clear_error();
  std::unique_ptr<SSL_CTX, FreeContext> context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return absl::InternalError(Cat("OpenSSL cannot start: ", OpenSslError()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Renegotiation and compression cost the server more than the client. Clients keep their sessions in tickets.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  // Idle connections release their buffers. A retried write may come from another address.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_alpn_select_cb(context.get(), ChooseProtocol, nullptr);
  // Without this callback OpenSSL asks for a password on the terminal.
  SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return -1; });
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_file.c_str()) != 1) {
    return Unusable("certificate", certificate_file);
  }
  // This call also checks that the key belongs to the certificate.
  if (SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Unusable("key", key_file);
  }
  return std::shared_ptr<const TlsContext>(new TlsContext(context.release()));
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

std::unique_ptr<Transport> TlsContext::Accept(int socket) const {
  SSL* const ssl = SSL_new(context_);
  if (ssl == nullptr) return nullptr;
  auto transport = std::make_unique<TlsTransport>(socket, ssl);
  BIO* const bio = BIO_new(SocketMethod());
  if (bio == nullptr) return nullptr;
  BIO_set_fd(bio, socket, BIO_NOCLOSE);
  SSL_set_bio(ssl, bio, bio);
  return transport;
}

}  // namespace armature::daemon
