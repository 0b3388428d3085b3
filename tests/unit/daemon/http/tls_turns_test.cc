// Clients that send records of TLS without data, which OpenSSL handles by itself: it must not stay with one of them.

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/http/transport.h"
#include "gtest/gtest.h"
#include "tests/support/test_certificates.h"

namespace armature::daemon::tls_turns_test {

using Result = Transport::Result;

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

// A transport, and a client whose records go into a buffer until they are sent.
class TlsTurns : public testing::Test {
 protected:
  TlsTurns() : client_context_(SSL_CTX_new(TLS_client_method())) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets_.data()), 0);
    const test::TestAuthority authority("authority.test");
    const test::CertificateAndKey made = authority.Issue("server.test", {});
    server_context_ = TlsContext::Make({.certificate_pem = made.certificate_pem, .key_pem = made.key_pem}).value();
    server_ = server_context_->Accept(sockets_[0]);
  }
  ~TlsTurns() override {
    server_.reset();
    client_.reset();
    for (const int socket : sockets_) close(socket);
  }

  void Connect(int version) {
    SSL_CTX_set_max_proto_version(client_context_.get(), version);
    client_.reset(SSL_new(client_context_.get()));
    SSL_set_fd(client_.get(), sockets_[1]);
    bool is_connected = false;
    for (int i = 0; i < 10 && !(is_connected && server_->Handshake() == Result::kDone); ++i) {
      is_connected = SSL_connect(client_.get()) == 1;
      static_cast<void>(server_->Handshake());
    }
    ASSERT_TRUE(is_connected);
    made_ = BIO_new(BIO_s_mem());
    SSL_set0_wbio(client_.get(), made_);
  }

  void UpdateKeys(int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_EQ(SSL_key_update(client_.get(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
      ASSERT_EQ(SSL_do_handshake(client_.get()), 1);
    }
  }
  void Write(std::string_view data) {
    ASSERT_GT(SSL_write(client_.get(), data.data(), static_cast<int>(data.size())), 0);
  }
  // All records that were made.
  void Send() {
    char* bytes = nullptr;
    const auto size = BIO_get_mem_data(made_, &bytes);
    ASSERT_EQ(send(sockets_[1], bytes, static_cast<size_t>(size), 0), size);
    ASSERT_EQ(BIO_reset(made_), 1);
  }

  int unread() const {
    int bytes = 0;
    EXPECT_EQ(ioctl(sockets_[0], FIONREAD, &bytes), 0);
    return bytes;
  }
  Result Read(std::string* data) {
    std::array<char, Transport::kReadBytesMin> buffer;
    size_t bytes = 0;
    const Result result = server_->Read(buffer.data(), buffer.size(), &bytes);
    data->append(buffer.data(), bytes);
    return result;
  }

  std::array<int, 2> sockets_{};
  std::unique_ptr<SSL_CTX, Free> client_context_;
  std::shared_ptr<const TlsContext> server_context_;
  std::unique_ptr<Transport> server_;
  std::unique_ptr<SSL, Free> client_;
  BIO* made_ = nullptr;
};

TEST_F(TlsTurns, ManyKeyUpdatesAreReadInTurns) {
  Connect(TLS1_3_VERSION);
  UpdateKeys(500);
  Write("data");
  Send();
  std::string data;
  int turns = 0;
  Result result = Result::kWaitReadable;
  for (int before = unread(); result == Result::kWaitReadable && turns < 100; before = unread(), ++turns) {
    result = Read(&data);
    // A record of a key update has 27 bytes.
    EXPECT_LE(before - unread(), 2000);
  }
  EXPECT_GE(turns, 10);
  EXPECT_EQ(result, Result::kDone);
  EXPECT_EQ(data, "data");
}

TEST_F(TlsTurns, KeyUpdatesWithoutEndEndTheConnection) {
  Connect(TLS1_3_VERSION);
  std::string data;
  Result result = Result::kWaitReadable;
  int updates = 0;
  for (; result == Result::kWaitReadable && updates < 10'000; updates += 500) {
    UpdateKeys(500);
    Send();
    do {
      result = Read(&data);
    } while (result == Result::kWaitReadable && unread() > 0);
  }
  EXPECT_EQ(result, Result::kFailed);
  EXPECT_LE(updates, 2000);
  EXPECT_EQ(data, "");
}

// A client may update its keys as often as it likes, between data.
TEST_F(TlsTurns, DataBetweenKeyUpdates) {
  Connect(TLS1_3_VERSION);
  std::string data;
  for (int i = 0; i < 100; ++i) {
    UpdateKeys(100);
    Write("x");
    Send();
    Result result = Result::kWaitReadable;
    while (result == Result::kWaitReadable && unread() > 0) result = Read(&data);
    ASSERT_EQ(result, Result::kDone) << i;
  }
  EXPECT_EQ(data, std::string(100, 'x'));
}

// Large data, whose records come together, are no flood.
TEST_F(TlsTurns, LargeDataInManyRecords) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SCOPED_TRACE(version);
    server_ = server_context_->Accept(sockets_[0]);
    Connect(version);
    for (int i = 0; i < 2000; ++i) Write("x");
    Send();
    std::string data;
    while (unread() > 0) ASSERT_EQ(Read(&data), Result::kDone);
    EXPECT_EQ(data, std::string(2000, 'x'));
  }
}

// ---- Records that OpenSSL's client does not make

// The first `bytes` of HKDF-Expand-Label of RFC 8446, section 7.1, with SHA-256.
std::string ExpandLabel(std::string_view secret, std::string_view label, size_t bytes) {
  const std::string name = "tls13 " + std::string(label);
  std::string info{'\0', static_cast<char>(bytes), static_cast<char>(name.size())};
  info += name + std::string{'\0', '\1'};
  std::array<unsigned char, EVP_MAX_MD_SIZE> made{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(info.data()), info.size(), made.data(), &size);
  return {reinterpret_cast<const char*>(made.data()), bytes};
}

// Encrypts records of a client with TLS_AES_128_GCM_SHA256, from the first one after the handshake on.
class RecordMaker {
 public:
  explicit RecordMaker(std::string_view secret)
      : key_(ExpandLabel(secret, "key", 16)), iv_(ExpandLabel(secret, "iv", 12)), cipher_(EVP_CIPHER_CTX_new()) {}
  ~RecordMaker() { EVP_CIPHER_CTX_free(cipher_); }
  RecordMaker(const RecordMaker&) = delete;
  RecordMaker& operator=(const RecordMaker&) = delete;

  std::string Make(char type, std::string_view bytes) {
    constexpr size_t kTagBytes = 16;
    std::string plain = std::string(bytes) + type;
    const size_t size = plain.size() + kTagBytes;
    std::string record{23, 3, 3, static_cast<char>(size >> 8), static_cast<char>(size)};
    std::string nonce = iv_;
    for (size_t i = 0; i < sizeof(records_); ++i) nonce[11 - i] ^= static_cast<char>(records_ >> (8 * i));
    ++records_;
    const auto to = [](const std::string& text) { return reinterpret_cast<const unsigned char*>(text.data()); };
    std::string made(size, '\0');
    auto* const out = reinterpret_cast<unsigned char*>(made.data());
    int done = 0;
    EVP_EncryptInit_ex(cipher_, EVP_aes_128_gcm(), nullptr, to(key_), to(nonce));
    EVP_EncryptUpdate(cipher_, nullptr, &done, to(record), static_cast<int>(record.size()));
    EVP_EncryptUpdate(cipher_, out, &done, to(plain), static_cast<int>(plain.size()));
    EVP_EncryptFinal_ex(cipher_, out + plain.size(), &done);
    EVP_CIPHER_CTX_ctrl(cipher_, EVP_CTRL_GCM_GET_TAG, kTagBytes, out + plain.size());
    return record + made;
  }

 private:
  const std::string key_;
  const std::string iv_;
  EVP_CIPHER_CTX* const cipher_;
  uint64_t records_ = 0;
};

// The secret of CLIENT_TRAFFIC_SECRET_0, of the last handshake.
std::string& KeptSecret() {
  static std::string secret;
  return secret;
}
void KeepSecret(const SSL*, const char* line) {
  const std::string_view text = line;
  if (!text.starts_with("CLIENT_TRAFFIC_SECRET_0 ")) return;
  KeptSecret().clear();
  const std::string_view digits = text.substr(text.rfind(' ') + 1);
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    KeptSecret().push_back(static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
}

// A key update comes in two records. The turn of reading ends between the two: writing, which must read the second one
// before it may write, does so. Otherwise the connection would wait for a socket that is readable already.
TEST_F(TlsTurns, AWriteReadsTheRestOfAKeyUpdate) {
  constexpr char kHandshake = 22;
  constexpr char kData = 23;
  SSL_CTX_set_ciphersuites(client_context_.get(), "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set_keylog_callback(client_context_.get(), KeepSecret);
  Connect(TLS1_3_VERSION);
  RecordMaker maker(KeptSecret());
  std::string records;
  for (int i = 0; i < 31; ++i) records += maker.Make(kData, "");
  records += maker.Make(kHandshake, std::string_view("\x18\0\0\1", 4));
  records += maker.Make(kHandshake, std::string_view("\0", 1));
  ASSERT_EQ(send(sockets_[1], records.data(), records.size(), 0), static_cast<ssize_t>(records.size()));
  std::string data;
  EXPECT_EQ(Read(&data), Result::kWaitReadable);
  EXPECT_EQ(unread(), 23);
  const std::string_view piece = "answer";
  size_t sent = 0;
  EXPECT_EQ(server_->Write({&piece, 1}, &sent), Result::kDone);
  EXPECT_EQ(sent, piece.size());
  EXPECT_EQ(unread(), 0);
}

// OpenSSL would hold memory for the whole first message of another handshake, in a connection that has no deadline.
TEST_F(TlsTurns, AnotherHandshakeInPartsEndsTheConnection) {
  const std::string name(255, 'n');
  for (const bool is_whole : {false, true}) {
    SCOPED_TRACE(is_whole);
    server_ = server_context_->Accept(sockets_[0]);
    SSL_CTX_set_cipher_list(client_context_.get(), "ALL:@SECLEVEL=0");
    Connect(TLS1_2_VERSION);
    SSL_set_max_send_fragment(client_.get(), 512);
    SSL_set_tlsext_host_name(client_.get(), name.c_str());
    ASSERT_EQ(SSL_renegotiate(client_.get()), 1);
    SSL_do_handshake(client_.get());
    char* bytes = nullptr;
    const auto size = BIO_get_mem_data(made_, &bytes);
    ASSERT_GT(size, 550);
    const ssize_t part = is_whole ? size : 550;
    ASSERT_EQ(send(sockets_[1], bytes, static_cast<size_t>(part), 0), part);
    std::string data;
    EXPECT_EQ(Read(&data), is_whole ? Result::kWaitReadable : Result::kFailed);
  }
}

}  // namespace armature::daemon::tls_turns_test
