#include "tests/support/https_exchange.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <stdexcept>

#include "storage/base/strings.h"

namespace armature::test {
namespace {

constexpr timeval kPatience = {.tv_sec = 30, .tv_usec = 0};

[[noreturn]] void Fail(const std::string& what) {
  throw std::runtime_error(Cat("https: ", what, ": ",
                               ERR_reason_error_string(ERR_peek_error()) == nullptr
                                   ? "no reason given"
                                   : ERR_reason_error_string(ERR_peek_error())));
}

struct Freer {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

std::string Render(const daemon::HttpRequest& request) {
  std::string text = Cat(request.method, " ", request.target, " HTTP/1.1\r\n");
  for (const auto& header : request.headers) text += Cat(header.name, ": ", header.value, "\r\n");
  return Cat(text, "content-length: ", request.body.size(), "\r\nconnection: close\r\n\r\n", request.body);
}

}  // namespace

struct HttpsExchange::Tls {
  explicit Tls(const std::string& address) : raw(address), context(SSL_CTX_new(TLS_client_method())) {}

  RawHttpClient raw;
  std::unique_ptr<SSL_CTX, Freer> context;
  std::unique_ptr<SSL, Freer> ssl;
};

HttpsExchange::HttpsExchange(const std::string& address, const std::string& ca_file, const daemon::HttpRequest& request)
    : tls_(std::make_unique<Tls>(address)) {
  ERR_clear_error();
  setsockopt(tls_->raw.socket(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  SSL_CTX* const context = tls_->context.get();
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (SSL_CTX_load_verify_locations(context, ca_file.c_str(), nullptr) != 1) Fail("cannot read " + ca_file);
  tls_->ssl.reset(SSL_new(context));
  SSL_set_fd(tls_->ssl.get(), tls_->raw.socket());
  if (SSL_connect(tls_->ssl.get()) != 1) Fail("no handshake");
  const std::string bytes = Render(request);
  if (SSL_write(tls_->ssl.get(), bytes.data(), static_cast<int>(bytes.size())) <= 0) Fail("cannot send");
}

HttpsExchange::~HttpsExchange() = default;
HttpsExchange::HttpsExchange(HttpsExchange&&) noexcept = default;

RawResponse HttpsExchange::Read() {
  std::string read;
  std::array<char, 16 << 10> buffer;
  while (true) {
    const int got = SSL_read(tls_->ssl.get(), buffer.data(), static_cast<int>(buffer.size()));
    if (got <= 0) break;
    read.append(buffer.data(), static_cast<size_t>(got));
  }
  return ParseResponse(read);
}

}  // namespace armature::test
