#include "daemon/http/transport.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string_view>

#include "daemon/http/certificate_names.h"
#include "daemon/http/hello_bound.h"
#include "daemon/net/wrong_door.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

// The longest record of TLS.
constexpr size_t kRecordBytes = 16 << 10;
// Pieces that the system gets at once.
constexpr size_t kPiecesMax = 64;

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

  Result Write(std::span<const std::string_view> pieces, size_t* bytes) override {
    std::array<iovec, kPiecesMax> parts;
    const size_t count = std::min(pieces.size(), parts.size());
    std::transform(pieces.begin(), pieces.begin() + static_cast<ptrdiff_t>(count), parts.begin(), Piece);
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
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

// Reads from the socket while one call of OpenSSL lasts: two for each record. OpenSSL goes on to the next record until
// it has data: it would stay with a client that sends nothing but key updates, offers to renegotiate or alerts.
constexpr int kReadsPerCall = 64;
// A client that sends so many records in a row without any data has nothing to say: more than a thousand.
constexpr int kCallsWithoutDataMax = 32;

// The side of a connection from which OpenSSL reads.
struct TlsInput {
  SSL* ssl = nullptr;
  int reads_left = kReadsPerCall;  // before others have their turn
  bool is_handshaking = true;
  bool is_refused = false;  // by `hello`
  HelloBound hello = {};

  // All hellos are plain; in TLS 1.2 other messages follow the only one, plain and encrypted in the same records.
  bool Admits(std::string_view bytes) {
    if (!is_handshaking || (hello.has_passed() && SSL_version(ssl) < TLS1_3_VERSION)) return true;
    is_refused = is_refused || !hello.Admits(bytes);
    return !is_refused;
  }
};

// `BIO_get_data(bio)`: a TlsInput. The rest waits in the socket.
int ReadFromSocket(BIO* bio, char* bytes, int size) {
  static const auto kRead = BIO_meth_get_read(BIO_s_socket());
  auto* const input = static_cast<TlsInput*>(BIO_get_data(bio));
  if (input->reads_left == 0) {
    BIO_clear_retry_flags(bio);
    BIO_set_retry_read(bio);
    return -1;
  }
  --input->reads_left;
  const int got = kRead(bio, bytes, size);
  return got <= 0 || input->Admits({bytes, static_cast<size_t>(got)}) ? got : -1;
}

// The method exists as long as the process.
const BIO_METHOD* SocketMethod() {
  static const BIO_METHOD* const kMethod = [] {
    const BIO_METHOD* const base = BIO_s_socket();
    BIO_METHOD* const made = BIO_meth_new(BIO_TYPE_SOCKET, "socket without SIGPIPE, read in turns");
    BIO_meth_set_read(made, ReadFromSocket);
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
  TlsTransport(int socket, SSL* ssl) : socket_(socket), ssl_(ssl) { input_.ssl = ssl; }
  ~TlsTransport() override { SSL_free(ssl_); }
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  // `bio`: of SocketMethod.
  void Use(BIO* bio) {
    BIO_set_data(bio, &input_);
    SSL_set_bio(ssl_, bio, bio);
  }

  Result Handshake() override {
    ERR_clear_error();
    input_.reads_left = kReadsPerCall;
    const Result result = Translate(SSL_accept(ssl_));
    input_.is_handshaking = result == Result::kWaitReadable || result == Result::kWaitWritable;
    // OpenSSL takes it for the end of the socket.
    if (input_.is_refused) send(socket_, kTlsRefusal.data(), kTlsRefusal.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return result;
  }

  std::vector<std::string> PeerNames() const override {
    // Also of a resumed session: its ticket holds the certificate.
    const X509* const certificate = SSL_get0_peer_certificate(ssl_);
    if (certificate == nullptr || SSL_get_verify_result(ssl_) != X509_V_OK) return {};
    return CertificateNames(certificate);
  }

  Result Read(char* buffer, size_t size, size_t* bytes) override {
    ERR_clear_error();
    input_.reads_left = kReadsPerCall;
    const int got = SSL_read(ssl_, buffer, ClampToInt(size));
    if (got > 0) {
      *bytes = static_cast<size_t>(got);
      calls_without_data_ = 0;
    } else if ((input_.reads_left == 0 && ++calls_without_data_ > kCallsWithoutDataMax) || BeginsAnew()) {
      failed_ = true;
      return Result::kFailed;
    }
    return Translate(got);
  }

  Result Write(std::span<const std::string_view> pieces, size_t* bytes) override {
    ERR_clear_error();
    // It also reads, if a part of a message of the handshake has arrived.
    input_.reads_left = kReadsPerCall;
    // Small pieces share a record.
    std::string_view first = pieces.front();
    std::array<char, kRecordBytes> record;
    if (first.size() < record.size() && pieces.size() > 1) {
      size_t filled = 0;
      for (const std::string_view piece : pieces) {
        filled += piece.copy(record.data() + filled, record.size() - filled);
      }
      first = {record.data(), filled};
    }
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
  // True if a client with TLS 1.2 has begun another handshake, which is refused when its first message is there:
  // OpenSSL holds memory for that, up to 131 KB, and only clients that mean harm send it in parts.
  bool BeginsAnew() const { return SSL_version(ssl_) < TLS1_3_VERSION && SSL_in_init(ssl_) != 0; }

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
  TlsInput input_;
  int calls_without_data_ = 0;  // in a row, that were ended for others
  bool failed_ = false;
};

struct FreeTls {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <class T>
using OwnedTls = std::unique_ptr<T, FreeTls>;

// The oldest OpenSSL error of this thread as a text. Clears all errors.
std::string OpenSslError() {
  const unsigned long code = ERR_get_error();  // NOLINT(google-runtime-int): OpenSSL's type
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
  const char* const reason = ERR_reason_error_string(code);
  return reason == nullptr ? "no reason given" : reason;
}

absl::Status UnusableTls(std::string_view what) {
  return absl::InvalidArgumentError(Cat("the TLS ", what, " cannot be used: ", OpenSslError()));
}

OwnedTls<BIO> PemReader(const std::string& pem) {
  return OwnedTls<BIO>(BIO_new_mem_buf(pem.data(), ClampToInt(pem.size())));
}

// Bytes of a client's certificate with the intermediate ones.
constexpr int kClientCertificatesMax = 32 << 10;

// Without this callback OpenSSL asks for a password on the terminal.
int GiveNoPassword(char*, int, int, void*) { return -1; }

// Null at the end, or if the next certificate is damaged: CheckEnd tells.
OwnedTls<X509> NextCertificate(BIO* reader) {
  return OwnedTls<X509>(PEM_read_bio_X509(reader, nullptr, GiveNoPassword, nullptr));
}

absl::Status CheckEnd(std::string_view what) {
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) return UnusableTls(what);
  ERR_clear_error();
  return absl::OkStatus();
}

absl::Status UseCertificate(const std::string& pem, SSL_CTX* context) {
  constexpr std::string_view kWhat = "certificate";
  const OwnedTls<BIO> reader = PemReader(pem);
  const OwnedTls<X509> own = NextCertificate(reader.get());
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1) return UnusableTls(kWhat);
  while (const OwnedTls<X509> intermediate = NextCertificate(reader.get())) {
    if (SSL_CTX_add1_chain_cert(context, intermediate.get()) != 1) return UnusableTls(kWhat);
  }
  return CheckEnd(kWhat);
}

absl::Status UseKey(const std::string& pem, SSL_CTX* context) {
  const OwnedTls<EVP_PKEY> key(PEM_read_bio_PrivateKey(PemReader(pem).get(), nullptr, GiveNoPassword, nullptr));
  // The second call also checks that the key belongs to the certificate.
  return key != nullptr && SSL_CTX_use_PrivateKey(context, key.get()) == 1 ? absl::OkStatus() : UnusableTls("key");
}

// Asks clients for certificates of these authorities.
absl::Status UseClientAuthorities(const std::string& pem, SSL_CTX* context) {
  constexpr std::string_view kWhat = "authorities of clients";
  const OwnedTls<BIO> reader = PemReader(pem);
  bool has_any = false;
  while (const OwnedTls<X509> authority = NextCertificate(reader.get())) {
    // The names of the authorities are sent to clients, which choose a certificate by them.
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(context, authority.get()) != 1) {
      return UnusableTls(kWhat);
    }
    has_any = true;
  }
  if (!has_any) return UnusableTls(kWhat);
  ARM_RETURN_IF_ERROR(CheckEnd(kWhat));
  // OpenSSL takes memory for so much when a client announces it.
  SSL_CTX_set_max_cert_list(context, kClientCertificatesMax);
  // Does not insist on a certificate: calls may have other credentials.
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  // OpenSSL resumes no sessions with certificates without it. Its value may be the same in all contexts, because each
  // of them has its own keys of tickets: a session never outlives the authorities that have vouched for it.
  constexpr std::array<unsigned char, 8> kSessions = {'a', 'r', 'm', 'a', 't', 'u', 'r', 'e'};
  SSL_CTX_set_session_id_context(context, kSessions.data(), kSessions.size());
  return absl::OkStatus();
}

// Names with their lengths before them, the preferred one first.
constexpr unsigned int kProtocolBytes = 12;
using ProtocolNames = std::array<unsigned char, kProtocolBytes>;
constexpr ProtocolNames kHttp1First = {8, 'h', 't', 't', 'p', '/', '1', '.', '1', 2, 'h', '2'};
constexpr ProtocolNames kH2First = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

// Continues without a selection if the client offers neither. `ours`: one of the two.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered,
                   unsigned int offered_size, void* ours) {
  const auto& names = *static_cast<const ProtocolNames*>(ours);
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, chosen_size, names.data(), kProtocolBytes, offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

std::unique_ptr<Transport> MakePlainTransport(int socket) { return std::make_unique<PlainTransport>(socket); }

absl::StatusOr<std::shared_ptr<const TlsContext>> TlsContext::Make(const TlsMaterial& material) {
  ERR_clear_error();
  OwnedTls<SSL_CTX> context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return absl::InternalError(Cat("OpenSSL cannot start: ", OpenSslError()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Renegotiation and compression cost the server more than the client. Clients keep their sessions in tickets.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  // Idle connections release their buffers. A retried write may come from another address.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_alpn_select_cb(context.get(), ChooseProtocol,
                             const_cast<ProtocolNames*>(material.prefers_h2 ? &kH2First : &kHttp1First));
  ARM_RETURN_IF_ERROR(UseCertificate(material.certificate_pem, context.get()));
  ARM_RETURN_IF_ERROR(UseKey(material.key_pem, context.get()));
  if (!material.client_ca_pem.empty()) {
    ARM_RETURN_IF_ERROR(UseClientAuthorities(material.client_ca_pem, context.get()));
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
  transport->Use(bio);
  return transport;
}

}  // namespace armature::daemon
