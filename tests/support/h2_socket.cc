#include "tests/support/h2_socket.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace armature::test {
namespace {

constexpr std::chrono::seconds kPatience(30);
// The server's side is looked at so often.
constexpr int kLookEveryMs = 2;

struct FreeSsl {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <class T>
using OwnedSsl = std::unique_ptr<T, FreeSsl>;

OwnedSsl<BIO> ReaderOf(const std::string& text) {
  return OwnedSsl<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

void UseIdentity(const CertificateAndKey& identity, SSL_CTX* context) {
  const OwnedSsl<X509> certificate(
      PEM_read_bio_X509(ReaderOf(identity.certificate_pem).get(), nullptr, nullptr, nullptr));
  const OwnedSsl<EVP_PKEY> key(PEM_read_bio_PrivateKey(ReaderOf(identity.key_pem).get(), nullptr, nullptr, nullptr));
  SSL_CTX_use_certificate(context, certificate.get());
  SSL_CTX_use_PrivateKey(context, key.get());
}

}  // namespace

void WaitUntil(const std::function<bool()>& is_so) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > give_up) throw std::runtime_error("h2 socket: it does not happen");
    std::this_thread::yield();
  }
}

struct H2Socket::Ssl {
  Ssl(const Tls& tls, int socket) : context(SSL_CTX_new(TLS_client_method())) {
    // OpenSSL writes without MSG_NOSIGNAL.
    signal(SIGPIPE, SIG_IGN);
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (!tls.protocols.empty()) {
      SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(tls.protocols.data()),
                              static_cast<unsigned>(tls.protocols.size()));
    }
    if (tls.identity != nullptr) UseIdentity(*tls.identity, context.get());
    ssl.reset(SSL_new(context.get()));
    SSL_set_fd(ssl.get(), socket);
    if (SSL_connect(ssl.get()) != 1) throw std::runtime_error("h2 socket: no handshake");
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  }

  // As send and recv do.
  ssize_t Result(int moved) const {
    if (moved > 0) return moved;
    const int error = SSL_get_error(ssl.get(), moved);
    ERR_clear_error();
    if (error == SSL_ERROR_ZERO_RETURN) return 0;
    errno = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? EAGAIN : ECONNRESET;
    return -1;
  }

  OwnedSsl<SSL_CTX> context;
  OwnedSsl<SSL> ssl;
};

H2Socket::H2Socket(const std::string& address, const Options& options)
    : raw_(address, options.receive_buffer), http_(options.http) {
  if (options.tls.has_value()) ssl_ = std::make_unique<Ssl>(*options.tls, raw_.socket());
}

H2Socket::~H2Socket() = default;

std::string H2Socket::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_->ssl.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

bool H2Socket::Write() {
  if (unsent_begin_ == unsent_.size()) {
    unsent_ = http_.Output();
    unsent_begin_ = 0;
  }
  const std::string_view rest = std::string_view(unsent_).substr(unsent_begin_);
  if (rest.empty()) return false;
  const ssize_t sent = ssl_ == nullptr
                           ? send(raw_.socket(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                           : ssl_->Result(SSL_write(ssl_->ssl.get(), rest.data(), static_cast<int>(rest.size())));
  if (sent > 0) {
    unsent_begin_ += static_cast<size_t>(sent);
    return true;
  }
  // The server may have explained why it reads no more.
  if (errno != EAGAIN) unsent_begin_ = unsent_.size();
  return false;
}

bool H2Socket::Read() {
  std::array<char, 64 << 10> buffer;
  const ssize_t got = ssl_ == nullptr
                          ? recv(raw_.socket(), buffer.data(), buffer.size(), MSG_DONTWAIT)
                          : ssl_->Result(SSL_read(ssl_->ssl.get(), buffer.data(), static_cast<int>(buffer.size())));
  if (got < 0 && errno == EAGAIN) return false;
  if (got <= 0) return has_ended_ = true;
  if (!http_.Input({buffer.data(), static_cast<size_t>(got)})) throw std::runtime_error("h2 socket: no HTTP/2");
  return true;
}

bool H2Socket::Await(const std::function<bool()>& is_done) {
  auto last_byte = std::chrono::steady_clock::now();
  while (!is_done()) {
    if (has_ended_) return false;
    const bool has_written = Write();
    const bool has_read = Read();
    if (has_written || has_read) {
      last_byte = std::chrono::steady_clock::now();
      continue;
    }
    if (std::chrono::steady_clock::now() - last_byte > kPatience) throw std::runtime_error("h2 socket: silence");
    const bool wants_write = unsent_begin_ < unsent_.size();
    pollfd waiting = {.fd = raw_.socket(), .events = POLLIN, .revents = 0};
    if (wants_write) waiting.events |= POLLOUT;
    poll(&waiting, 1, kLookEveryMs);
  }
  return true;
}

void H2Socket::Send() {
  while (true) {
    if (Write()) continue;
    if (unsent_begin_ == unsent_.size()) return;
    pollfd waiting = {.fd = raw_.socket(), .events = POLLOUT, .revents = 0};
    if (poll(&waiting, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) == 0) {
      throw std::runtime_error("h2 socket: the server does not read");
    }
  }
}

void H2Socket::SendInPieces(size_t bytes) {
  const std::string all = http_.Output();
  for (size_t i = 0; i < all.size(); i += bytes) SendRaw(std::string_view(all).substr(i, bytes));
}

void H2Socket::SendRaw(std::string_view bytes) {
  unsent_.erase(0, unsent_begin_);
  unsent_begin_ = 0;
  unsent_ += http_.Output();
  unsent_ += bytes;
  Send();
}

const daemon::H2Client::Answer& H2Socket::Finish(int32_t stream) {
  Await([&] { return http_.answer(stream).closed_with.has_value(); });
  return http_.answer(stream);
}

void H2Socket::RoundTrip() {
  const size_t before = http_.pings_answered();
  http_.Ping();
  Await([&] { return http_.pings_answered() > before; });
}

}  // namespace armature::test
