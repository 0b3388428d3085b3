#include "daemon/http/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <cstring>
#include <string_view>

#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

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

// Selects HTTP/1.1 if the client offers it. Otherwise continues without a selection.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered,
                   unsigned int offered_size, void*) {
  static constexpr std::array<unsigned char, 9> kOurs = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, chosen_size, kOurs.data(), kOurs.size(), offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

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
  return ssl == nullptr ? nullptr : MakeTlsTransport(socket, ssl);
}

}  // namespace armature::daemon
