#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "daemon/http/http_server.h"
#include "daemon/http/transport.h"
#include "daemon/net/connection_ledger.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tests/support/raw_http_client.h"
#include "tests/support/test_certificates.h"
#include "tests/unit/daemon/http/handlers.h"

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

constexpr std::string_view kAlert("\x15\x03", 2);

// Sends the bytes and reads to the end of the connection. A reset is a failure.
std::string ReadToPoliteEnd(const std::string& address, const std::string& bytes) {
  RawHttpClient client(address);
  client.SendWhatFits(bytes);
  std::string read;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = recv(client.socket(), buffer.data(), buffer.size(), 0);
    EXPECT_GE(got, 0) << std::strerror(errno);
    if (got <= 0) return read;
    read.append(buffer.data(), static_cast<size_t>(got));
  }
}

class TlsTest : public testing::Test {
 protected:
  TlsTest() { Use("first.test"); }

  // Sets the certificate of new connections.
  void Use(const std::string& name) {
    const test::CertificateAndKey made = authority_.Issue(name, {});
    keeper_.Use(TlsContext::Make({.certificate_pem = made.certificate_pem, .key_pem = made.key_pem}).value());
  }

  HttpDoor Door() {
    return {.tls = [this] { return keeper_.Current(); }};
  }
  std::unique_ptr<HttpServer> Start() { return Serve(&handler_, {.door = Door()}); }

  static void ExpectServing(const HttpServer& server) {
    TlsClient client(server.address());
    ASSERT_TRUE(client.Connect());
    client.Send(Post("anybody there?"));
    EXPECT_THAT(client.Read(14), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("anybody there?")));
  }

  const test::TestAuthority authority_{"authority.test"};
  TlsContextKeeper keeper_;
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

TEST_F(TlsTest, AgreesOnHttp11OrElseHttp2) {
  const auto server = Start();
  TlsClient both(server->address(), {.protocols = "\x02h2\x08http/1.1"});
  ASSERT_TRUE(both.Connect());
  EXPECT_EQ(both.protocol(), "http/1.1");
  TlsClient other(server->address(), {.protocols = "\x02h2"});
  ASSERT_TRUE(other.Connect());
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
  keeper_.Use(nullptr);
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
  HttpDoor door = Door();
  door.wrong_door = [](Speech speech) { return std::string(speech == Speech::kHttp1 ? "Use https." : "Elsewhere."); };
  const auto server = Serve(&handler_, {.door = door});
  for (const size_t bytes : {size_t{4}, size_t{200'000}}) {
    RawHttpClient client(server->address());
    client.SendWhatFits(Post(std::string(bytes, 'x')));
    EXPECT_THAT(client.ReadToEnd(),
                testing::AllOf(HasSubstr("HTTP/1.1 400 "), testing::EndsWith("\r\n\r\nUse https.\n")));
    ExpectServing(*server);
  }
}

// Whatever part of them has arrived when the server looks.
TEST_F(TlsTest, PlainTextInPiecesIsToldOfTls) {
  HttpDoor door = Door();
  door.wrong_door = [](Speech speech) { return std::string(speech == Speech::kHttp2 ? "Take TLS." : "Use https."); };
  const auto server = Serve(&handler_, {.door = door, .head_timeout = absl::Milliseconds(300)});
  const auto told = [&](std::string_view bytes) {
    RawHttpClient client(server->address());
    for (const char byte : bytes) {
      client.Send(std::string_view(&byte, 1));
      std::this_thread::yield();
    }
    return client.ReadToEnd();
  };
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(told("GET "), AllOf(StartsWith("HTTP/1.1 400 "), testing::EndsWith("\r\n\r\nUse https.\n")));
    EXPECT_THAT(told("PRX\x01"), AllOf(StartsWith("HTTP/1.1 400 "), testing::EndsWith("\r\n\r\nUse https.\n")));
  }
  // The server's SETTINGS.
  EXPECT_EQ(told("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").substr(3, 2), std::string("\x04\x00", 2));
  EXPECT_THAT(told("PRI * HTTP/2.0"), StartsWith("HTTP/1.1 408 "));
  ExpectServing(*server);
}

// A reset, which the system sends when a socket with unread bytes is closed, may take the answer from the client.
TEST_F(TlsTest, NoAnswerIsFollowedByAReset) {
  ConnectionLedger full({.connections_max = 0});
  HttpDoor door = Door();
  door.wrong_door = [](Speech) { return std::string("Use https."); };
  const auto server = Serve(&handler_, {.door = door});
  const auto full_server = Serve(&handler_, {.ledger = &full});
  const std::string rest(100'000, 'x');
  const std::string hello("\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(ReadToPoliteEnd(server->address(), "GET / HTTP/1.1\r\n" + rest), StartsWith("HTTP/1.1 400 "));
    EXPECT_THAT(ReadToPoliteEnd(server->address(), hello + rest), StartsWith(kAlert));
    EXPECT_THAT(ReadToPoliteEnd(full_server->address(), "GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
  }
}

TEST_F(TlsTest, HandshakesThatTakeTooLongAreClosed) {
  const auto server = Serve(&handler_, {.door = Door(), .head_timeout = absl::Milliseconds(40)});
  RawHttpClient silent(server->address());
  RawHttpClient slow(server->address());
  slow.Send("\x16");
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_EQ(slow.ReadToEnd(), "");
}

// OpenSSL would hold so much memory until the handshake's deadline.
TEST_F(TlsTest, AHelloThatAnnouncesTooMuchIsRefusedAtOnce) {
  const auto server = Start();
  EXPECT_THAT(ReadToPoliteEnd(server->address(), std::string("\x16\x03\x01\x00\x05\x01\x01\xff\xff\x03", 10)),
              StartsWith(kAlert));
  EXPECT_THAT(ReadToPoliteEnd(server->address(), std::string("\x16\x03\x01\x00\x01\x01", 6)), StartsWith(kAlert));
  std::string protocols;
  for (int i = 0; i < 40; ++i) protocols += '\xff' + std::string(255, 'p');
  TlsClient large(server->address(), {.protocols = protocols});
  EXPECT_TRUE(large.Connect());
  ExpectServing(*server);
}

TEST_F(TlsTest, HandshakesTakeTheirMemoryFromTheBudget) {
  constexpr size_t kEach = 64 << 10;
  // The last eighth of the memory is for small requests.
  const auto server = Serve(&handler_, {.door = Door(), .held_bytes_max = 3 * kEach * 8 / 7 + 8});
  const auto await = [&](size_t held) {
    while (server->held_bytes() != held) std::this_thread::yield();
  };
  std::vector<std::unique_ptr<RawHttpClient>> begun;
  for (size_t i = 1; i <= 3; ++i) {
    begun.push_back(std::make_unique<RawHttpClient>(server->address()));
    begun.back()->Send("\x16");
    await(i * kEach);
  }
  RawHttpClient one_more(server->address());
  one_more.Send("\x16");
  EXPECT_EQ(one_more.ReadToEnd(), "");
  begun.pop_back();
  await(2 * kEach);
  ExpectServing(*server);
  await(2 * kEach);
  begun.clear();
  await(0);
}

TEST_F(TlsTest, ClientsThatNeverReadAreCutOff) {
  InlineHandler handler(
      [](const HttpRequest&) { return HttpResponse{.headers = {}, .body = std::string(32 << 20, 'x')}; });
  const auto server = Serve(&handler, {.door = Door(), .stall_timeout = absl::Milliseconds(40)});
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

TEST_F(TlsTest, EachDoorHasItsOwnTls) {
  const auto server = Serve(&handler_);
  HttpDoor door = Door();
  door.wrong_door = [](Speech) { return std::string("Use https."); };
  const std::string second = server->Open(door).value();
  for (int i = 0; i < 2; ++i) {
    RawHttpClient plain(server->address());
    plain.Send(Post("plain"));
    EXPECT_EQ(plain.Read().body, "plain");
    TlsClient client(second);
    ASSERT_TRUE(client.Connect());
    client.Send(Post("secret"));
    EXPECT_THAT(client.Read(6), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("secret")));
    RawHttpClient wrong(second);
    wrong.Send(Post("plain"));
    EXPECT_EQ(wrong.Read().body, "Use https.\n");
  }
}

TEST_F(TlsTest, TextsThatCannotBeUsed) {
  const test::CertificateAndKey one = authority_.Issue("one.test", {});
  const test::CertificateAndKey two = authority_.Issue("two.test", {});
  const test::CertificateAndKey locked = authority_.Issue("locked.test", {}, "password");
  const std::string& authority = authority_.certificate_pem();
  const std::string text = "no certificate\n";
  const auto error = [](const std::string& certificate, const std::string& key, const std::string& client_ca = "") {
    return std::string(TlsContext::Make({.certificate_pem = certificate, .key_pem = key, .client_ca_pem = client_ca})
                           .status()
                           .message());
  };
  const std::string torn = authority.substr(0, authority.size() / 2);
  EXPECT_EQ(error(text, one.key_pem), "the TLS certificate cannot be used: no start line");
  EXPECT_EQ(error("", one.key_pem), "the TLS certificate cannot be used: no start line");
  EXPECT_THAT(error(one.certificate_pem + torn, one.key_pem), StartsWith("the TLS certificate cannot be used: "));
  EXPECT_THAT(error(one.certificate_pem, text), StartsWith("the TLS key cannot be used: "));
  EXPECT_EQ(error(one.certificate_pem, two.key_pem), "the TLS key cannot be used: key values mismatch");
  EXPECT_THAT(error(locked.certificate_pem, locked.key_pem), StartsWith("the TLS key cannot be used: "));
  constexpr std::string_view kAuthorities = "the TLS authorities of clients cannot be used: ";
  EXPECT_EQ(error(one.certificate_pem, one.key_pem, text), Cat(kAuthorities, "no start line"));
  EXPECT_THAT(error(one.certificate_pem, one.key_pem, authority + torn), StartsWith(kAuthorities));
  EXPECT_EQ(error(one.certificate_pem, one.key_pem), "");
  EXPECT_EQ(error(one.certificate_pem + authority, one.key_pem, authority + authority), "");
}

}  // namespace armature::daemon::tls_test
