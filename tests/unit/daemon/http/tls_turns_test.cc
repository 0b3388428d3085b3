// Clients that send records of TLS without data, which OpenSSL handles by itself: it must not stay with one of them.

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
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

}  // namespace armature::daemon::tls_turns_test
