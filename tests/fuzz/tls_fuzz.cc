// A connection with TLS whose client has a library of its own and does what the input says: it sends arbitrary records
// before, during and after a handshake, or records of its library, whole, damaged, cut off, twice or in pieces; it
// updates keys, and reads or does not read. If nothing was disturbed, the handshake ends and a request is answered.

// The way to repeat what an input does is deprecated.
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/http/transport.h"
#include "tests/fuzz/fuzz_util.h"
#include "tests/fuzz/served_connection.h"
#include "tests/support/h2_client.h"
#include "tests/support/test_certificates.h"

namespace armature::fuzz {
namespace {

constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
// Memory of the client's library.
constexpr size_t kClientBytes = 128 << 10;
// Alerts, certificates, tickets, and the answers of HTTP, which connection_fuzz bounds.
constexpr size_t kAnswerBytesMin = 20'000;
constexpr size_t kAnswerBytesPerByte = 30;

// ---- Random numbers that each input sees anew

uint64_t random_state = 1;

int RandomBytes(unsigned char* bytes, int size) {
  for (int i = 0; i < size; ++i) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    bytes[i] = static_cast<unsigned char>(random_state >> 32);
  }
  return 1;
}
int IsSeeded() { return 1; }

void UseRepeatableNumbers() {
  static const RAND_METHOD kMethod = {.seed = nullptr,
                                      .bytes = RandomBytes,
                                      .cleanup = nullptr,
                                      .add = nullptr,
                                      .pseudorand = RandomBytes,
                                      .status = IsSeeded};
  RAND_set_rand_method(&kMethod);
}

// ---- The parts that all inputs share

struct FreeTls {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

struct Contexts {
  std::shared_ptr<const daemon::TlsContext> plain;  // asks for no certificate
  std::shared_ptr<const daemon::TlsContext> asking;
  std::unique_ptr<SSL_CTX, FreeTls> client;
};

const Contexts& Shared() {
  static const Contexts* const kShared = [] {
    UseRepeatableNumbers();
    const test::TestAuthority authority("authority.test");
    const test::CertificateAndKey own = authority.Issue("server.test", {});
    const test::CertificateAndKey clients = authority.Issue("client.test", {});
    auto* const made = new Contexts;
    daemon::TlsMaterial material{.certificate_pem = own.certificate_pem, .key_pem = own.key_pem};
    made->plain = daemon::TlsContext::Make(material).value();
    material.client_ca_pem = authority.certificate_pem();
    material.prefers_h2 = true;
    made->asking = daemon::TlsContext::Make(material).value();
    made->client.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX* const client = made->client.get();
    BIO* const certificate = BIO_new_mem_buf(clients.certificate_pem.data(), -1);
    BIO* const key = BIO_new_mem_buf(clients.key_pem.data(), -1);
    X509* const read_certificate = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
    EVP_PKEY* const read_key = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
    Check(SSL_CTX_use_certificate(client, read_certificate) == 1, "the client has a certificate");
    Check(SSL_CTX_use_PrivateKey(client, read_key) == 1, "the client has a key");
    X509_free(read_certificate);
    EVP_PKEY_free(read_key);
    BIO_free(certificate);
    BIO_free(key);
    return made;
  }();
  return *kShared;
}

// ---- One input

// The first byte of an input.
enum Flag : uint8_t { kTls12 = 1, kAsksForCertificate = 2, kOffersH2 = 4, kLongHello = 8, kSmallRecords = 16 };

class Client {
 public:
  Client(ServedConnection* connection, std::string_view script, uint8_t flags)
      : connection_(connection), script_(script), ssl_(SSL_new(Shared().client.get())) {
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl_.get(), in_, out_);
    SSL_set_connect_state(ssl_.get());
    SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if ((flags & kTls12) != 0) SSL_set_max_proto_version(ssl_.get(), TLS1_2_VERSION);
    constexpr size_t kSmallRecordBytes = 512;
    if ((flags & kSmallRecords) != 0) SSL_set_max_send_fragment(ssl_.get(), kSmallRecordBytes);
    std::string protocols = (flags & kOffersH2) != 0 ? std::string("\2h2") : std::string();
    if ((flags & kLongHello) != 0) {
      for (int i = 0; i < 40; ++i) protocols += '\xff' + std::string(255, 'p');
    }
    if (!protocols.empty()) {
      SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                          static_cast<unsigned int>(protocols.size()));
    }
  }

  void Run() {
    while (!script_.empty()) Step();
    if (is_honest_) AskAtLast();
    Read();
  }
  bool is_honest() const { return is_honest_; }

 private:
  uint8_t Byte() {
    if (script_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(script_[0]);
    script_.remove_prefix(1);
    return byte;
  }
  std::string_view Take(size_t most) {
    const std::string_view part = script_.substr(0, most);
    script_.remove_prefix(part.size());
    return part;
  }

  void Step() {
    const uint8_t step = Byte();
    switch (step % 14) {
      case 0:
      case 1:
        return Advance();
      case 2:  // bytes that are none of the library's
        is_honest_ = false;
        return connection_->Send(Take(Byte()));
      case 3: {  // a record of any type that says any size
        is_honest_ = false;
        std::string record{static_cast<char>(Byte()), 3, 3};
        record += {static_cast<char>(Byte()), static_cast<char>(Byte())};
        return connection_->Send(record + std::string(Take(Byte())));
      }
      case 4:  // damaged
        return SendChanged([this](std::string* bytes) { Damage(bytes, Byte() * size_t{7}, Byte()); });
      case 5:  // cut off
        return SendChanged([this](std::string* bytes) { bytes->resize(Byte() % bytes->size()); });
      case 6:  // twice
        return SendChanged([](std::string* bytes) { *bytes += *bytes; });
      case 7:  // in pieces
        return SendInPieces(1 + size_t{Byte()});
      case 8:
        return Write(Take(Byte()));
      case 9:
        return Write(kRequest);
      case 10:
        SSL_key_update(ssl_.get(), (step & 0x80) != 0 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED);
        return;
      case 11:  // TLS 1.2: offers to begin anew, which the server refuses and the library takes badly
        if (SSL_renegotiate(ssl_.get()) == 1) is_honest_ = false;
        return;
      case 12:
        is_honest_ = false;
        SSL_shutdown(ssl_.get());
        return;
      default:
        reads_ = !reads_;
        return;
    }
  }

  static void Damage(std::string* bytes, size_t place, uint8_t bits) {
    char& byte = (*bytes)[place % bytes->size()];
    byte = static_cast<char>(byte ^ (bits | 1));
  }

  // A step of the handshake, and all records that are there.
  void Advance() {
    Read();
    if (!SSL_is_init_finished(ssl_.get()) || SSL_get_key_update_type(ssl_.get()) != SSL_KEY_UPDATE_NONE) {
      SSL_do_handshake(ssl_.get());
    }
    connection_->Send(Made());
    Read();
  }
  void SendInPieces(size_t bytes) {
    SSL_do_handshake(ssl_.get());
    const std::string made = Made();
    for (size_t i = 0; i < made.size(); i += bytes) connection_->Send(std::string_view(made).substr(i, bytes));
  }
  template <class Change>
  void SendChanged(Change change) {
    SSL_do_handshake(ssl_.get());
    std::string made = Made();
    if (made.empty()) return;
    is_honest_ = false;
    change(&made);
    connection_->Send(made);
  }
  void Write(std::string_view bytes) {
    if (bytes.empty() || !SSL_is_init_finished(ssl_.get())) return;
    if (bytes != kRequest || has_protocol()) is_honest_ = false;
    SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }
  bool has_protocol() const {
    const unsigned char* name = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return size > 0;
  }

  // The records that the library has made and that were not sent.
  std::string Made() {
    char* bytes = nullptr;
    const auto size = BIO_get_mem_data(out_, &bytes);
    std::string made(bytes, static_cast<size_t>(size));
    BIO_reset(out_);
    return made;
  }
  void Read() {
    ERR_clear_error();
    if (!reads_) return;
    const std::string received = connection_->Receive();
    if (!received.empty()) BIO_write(in_, received.data(), static_cast<int>(received.size()));
    if (!SSL_is_init_finished(ssl_.get())) SSL_do_handshake(ssl_.get());
    std::array<char, 4096> part;
    int got = 0;
    while (SSL_is_init_finished(ssl_.get()) && (got = SSL_read(ssl_.get(), part.data(), part.size())) > 0) {
      answer_.append(part.data(), static_cast<size_t>(got));
    }
    connection_->set_own_bytes(kClientBytes + answer_.capacity());
  }

  // The server has got what a proper client sends: it must be there.
  void AskAtLast() {
    reads_ = true;
    for (int i = 0; i < 3; ++i) Advance();
    Check(SSL_is_init_finished(ssl_.get()) == 1, "an undisturbed handshake ends");
    if (has_protocol()) return;
    answer_.clear();
    Write(kRequest);
    Advance();
    Check(answer_.starts_with("HTTP/1.1 200 "), "an undisturbed request is answered");
  }

  ServedConnection* const connection_;
  std::string_view script_;
  std::unique_ptr<SSL, FreeTls> ssl_;
  BIO* in_ = nullptr;
  BIO* out_ = nullptr;
  std::string answer_;
  bool reads_ = true;
  bool is_honest_ = true;
};

void Talk(std::string_view script, uint8_t flags) {
  const Contexts& shared = Shared();
  random_state = 88172645463325252;
  EchoFront calls;
  ServedConnection::Run({.tls = [&] { return (flags & kAsksForCertificate) != 0 ? shared.asking : shared.plain; },
                         .router = calls.router()},
                        [&](ServedConnection* connection) {
                          connection->set_own_bytes(kClientBytes);
                          Client client(connection, script, flags);
                          client.Run();
                          Check(connection->received() <= kAnswerBytesMin + kAnswerBytesPerByte * connection->sent(),
                                "answers are bounded");
                        });
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Objects that are made once belong to no input.
  static const bool kIsWarm = [] {
    for (int flags = 0; flags < 8; ++flags) armature::fuzz::Talk({}, static_cast<uint8_t>(flags));
    return true;
  }();
  if (!kIsWarm || size < 1) return 0;
  armature::fuzz::Talk(armature::fuzz::Text(data + 1, size - 1), data[0]);
  return 0;
}
