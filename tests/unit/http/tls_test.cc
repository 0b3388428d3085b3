#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "daemon/http/http_server.h"
#include "daemon/http/transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tests/support/raw_http_client.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tls_certificate.h"
#include "tests/unit/http/handlers.h"

namespace armature::daemon::tls_test {

using test::Post;
using test::RawHttpClient;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

struct ClientTls {
  int version_max = TLS1_3_VERSION;
  std::string protocols;  // ALPN, as on the wire
};

// TLS over a raw client's socket; blocks.
class TlsClient {
 public:
  explicit TlsClient(const std::string& address, const ClientTls& tls = {})
      : raw_(address), context_(SSL_CTX_new(TLS_client_method())), ssl_(nullptr) {
    // Allows all old versions that OpenSSL still supports.
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context_.get(), tls.version_max);
    if (!tls.protocols.empty()) {
      SSL_CTX_set_alpn_protos(context_.get(), reinterpret_cast<const unsigned char*>(tls.protocols.data()),
                              static_cast<unsigned>(tls.protocols.size()));
    }
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), raw_.socket());
  }

  bool Connect() { return SSL_connect(ssl_.get()) == 1; }
  std::string version() const { return SSL_get_version(ssl_.get()); }

  std::string protocol() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }

  std::string server_name() const {
    X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
    std::array<char, 100> name{};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(), name.size());
    return name.data();
  }

  void Send(std::string_view bytes) {
    if (SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) <= 0) throw std::runtime_error("TLS write");
  }

  // Reads until the end of the answer's body, or of the connection.
  std::string Read(size_t body_bytes) {
    std::string read;
    std::array<char, 16 << 10> buffer;
    for (;;) {
      const size_t head = read.find("\r\n\r\n");
      if (head != std::string::npos && read.size() >= head + 4 + body_bytes) return read;
      const int got = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
      if (got <= 0) return read;
      read.append(buffer.data(), static_cast<size_t>(got));
    }
  }

  // True if the server has sent close_notify.
  bool EndsCleanly() {
    char byte = 0;
    const int got = SSL_read(ssl_.get(), &byte, 1);
    return got == 0 && SSL_get_error(ssl_.get(), got) == SSL_ERROR_ZERO_RETURN;
  }

 private:
  RawHttpClient raw_;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> ssl_;
};

class TlsTest : public testing::Test {
 protected:
  TlsTest() { Use("first.test"); }

  // Sets the certificate of new connections.
  void Use(const std::string& name) {
    const test::CertificateFiles files = test::WriteCertificate(directory_.path(), name);
    Use(TlsContext::Load(files.certificate, files.key).value());
  }
  void Use(std::shared_ptr<const TlsContext> context) {
    absl::MutexLock lock(&mutex_);
    context_ = std::move(context);
  }

  std::unique_ptr<HttpServer> Start(HttpServerOptions options = {}) {
    options.tls = [this] {
      absl::MutexLock lock(&mutex_);
      return context_;
    };
    return Serve(&handler_, options);
  }

  static void ExpectServing(const HttpServer& server) {
    TlsClient client(server.address());
    ASSERT_TRUE(client.Connect());
    client.Send(Post("anybody there?"));
    EXPECT_THAT(client.Read(14), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("anybody there?")));
  }

  const test::TempDir directory_;
  absl::Mutex mutex_;
  std::shared_ptr<const TlsContext> context_;
  InlineHandler handler_;
};

TEST_F(TlsTest, ServesTls12And13AndNothingOlder) {
  const auto server = Start();
  for (const auto& [version, name] : {std::pair(TLS1_2_VERSION, "TLSv1.2"), std::pair(TLS1_3_VERSION, "TLSv1.3")}) {
    TlsClient client(server->address(), {.version_max = version, .protocols = ""});
    ASSERT_TRUE(client.Connect()) << name;
    EXPECT_EQ(client.version(), name);
    for (const char* body : {"one", "two"}) {
      client.Send(Post(body));
      EXPECT_THAT(client.Read(3), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr(body)));
    }
  }
  TlsClient old(server->address(), {.version_max = TLS1_1_VERSION, .protocols = ""});
  EXPECT_FALSE(old.Connect());
  ExpectServing(*server);
}

TEST_F(TlsTest, AgreesOnHttp11) {
  const auto server = Start();
  TlsClient both(server->address(), {.protocols = "\x02h2\x08http/1.1"});
  ASSERT_TRUE(both.Connect());
  EXPECT_EQ(both.protocol(), "http/1.1");
  TlsClient other(server->address(), {.protocols = "\x02h2"});
  ASSERT_TRUE(other.Connect());
  // To be told that this is the wrong port.
  EXPECT_EQ(other.protocol(), "h2");
}

TEST_F(TlsTest, LargeBodiesBothWays) {
  const auto server = Start();
  TlsClient client(server->address());
  ASSERT_TRUE(client.Connect());
  std::string body(16 << 20, 'x');
  for (size_t i = 0; i < body.size(); i += 997) body[i] = static_cast<char>('a' + i % 26);
  client.Send(Post(body));
  const std::string response = client.Read(body.size());
  EXPECT_TRUE(response.ends_with(body));
}

TEST_F(TlsTest, CertificatesAreReloadedWithoutDroppingConnections) {
  const auto server = Start();
  TlsClient before(server->address());
  ASSERT_TRUE(before.Connect());
  EXPECT_EQ(before.server_name(), "first.test");
  Use("second.test");
  TlsClient after(server->address());
  ASSERT_TRUE(after.Connect());
  EXPECT_EQ(after.server_name(), "second.test");
  before.Send(Post("still here"));
  EXPECT_THAT(before.Read(10), HasSubstr("still here"));
}

TEST_F(TlsTest, WithoutACertificateConnectionsAreClosed) {
  Use(std::shared_ptr<const TlsContext>());
  const auto server = Start();
  EXPECT_EQ(RawHttpClient(server->address()).ReadToEnd(), "");
  while (server->connections() > 0) std::this_thread::yield();
}

TEST_F(TlsTest, WhatIsNotTlsIsClosedAndOthersAreServed) {
  const auto server = Start();
  for (const std::string& bytes : {std::string(100'000, '\0'), std::string("\x16\x03\x01\xff\xff", 5) + "x"}) {
    RawHttpClient client(server->address());
    client.SendWhatFits(bytes);
    client.EndSending();
    EXPECT_THAT(client.ReadToEnd(), testing::Not(HasSubstr("HTTP")));
    ExpectServing(*server);
  }
  while (server->connections() > 0) std::this_thread::yield();
}

TEST_F(TlsTest, PlainTextIsToldOfTls) {
  const auto server = Start({.wrong_door = [](Speech speech) {
    return std::string(speech == Speech::kHttp1 ? "Use https." : "Elsewhere.");
  }});
  for (const size_t bytes : {size_t{4}, size_t{200'000}}) {
    RawHttpClient client(server->address());
    client.SendWhatFits(Post(std::string(bytes, 'x')));
    EXPECT_THAT(client.ReadToEnd(),
                testing::AllOf(HasSubstr("HTTP/1.1 400 "), testing::EndsWith("\r\n\r\nUse https.\n")));
    ExpectServing(*server);
  }
}

TEST_F(TlsTest, HandshakesThatTakeTooLongAreClosed) {
  const auto server = Start({.head_timeout = absl::Milliseconds(40)});
  RawHttpClient silent(server->address());
  RawHttpClient slow(server->address());
  slow.Send("\x16");
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_EQ(slow.ReadToEnd(), "");
}

TEST_F(TlsTest, ClientsThatNeverReadAreCutOff) {
  InlineHandler handler(
      [](const HttpRequest&) { return HttpResponse{.headers = {}, .body = std::string(32 << 20, 'x')}; });
  HttpServerOptions options{.stall_timeout = absl::Milliseconds(40)};
  options.tls = [this] { return context_; };
  const auto server = Serve(&handler, options);
  TlsClient client(server->address());
  ASSERT_TRUE(client.Connect());
  client.Send(Post("x"));
  while (server->held_bytes() == 0) std::this_thread::yield();
  while (server->held_bytes() > 0) std::this_thread::yield();
}

TEST_F(TlsTest, ConnectionsEndWithAGoodbye) {
  const auto server = Start();
  TlsClient client(server->address());
  ASSERT_TRUE(client.Connect());
  client.Send(Post("last", "Connection: close\r\n"));
  EXPECT_THAT(client.Read(4), HasSubstr("Connection: close"));
  EXPECT_TRUE(client.EndsCleanly());
}

TEST_F(TlsTest, FilesThatCannotBeUsed) {
  const test::CertificateFiles one = test::WriteCertificate(directory_.path(), "one.test");
  const test::CertificateFiles two = test::WriteCertificate(directory_.path(), "two.test");
  const test::CertificateFiles locked = test::WriteCertificate(directory_.path(), "locked.test", "password");
  const std::string text = directory_.path("text");
  std::ofstream(text) << "no certificate\n";
  const auto error = [](const std::string& certificate, const std::string& key) {
    return std::string(TlsContext::Load(certificate, key).status().message());
  };
  EXPECT_EQ(error("/nowhere", one.key), "TLS certificate '/nowhere' cannot be used: No such file or directory");
  EXPECT_EQ(error(one.certificate, "/nowhere"), "TLS key '/nowhere' cannot be used: No such file or directory");
  EXPECT_EQ(error(text, one.key), Cat("TLS certificate '", text, "' cannot be used: no start line"));
  EXPECT_THAT(error(one.certificate, text), StartsWith(Cat("TLS key '", text, "' cannot be used: ")));
  EXPECT_EQ(error(one.certificate, two.key), Cat("TLS key '", two.key, "' cannot be used: key values mismatch"));
  EXPECT_THAT(error(locked.certificate, locked.key), StartsWith(Cat("TLS key '", locked.key, "' cannot be used: ")));
  EXPECT_EQ(error(one.certificate, one.key), "");
}

}  // namespace armature::daemon::tls_test
