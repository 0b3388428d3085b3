#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/test_certificates.h"

namespace armature::daemon::client_certificate_test {

using test::CertificateAndKey;
using test::TestAuthority;
using testing::ElementsAre;
using testing::IsEmpty;
using Result = Transport::Result;

struct FreeTls {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <class T>
using OwnedTls = std::unique_ptr<T, FreeTls>;

OwnedTls<BIO> TextReader(const std::string& text) {
  return OwnedTls<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Both ends of a TLS connection, which take turns on this thread.
class Ends {
 public:
  // `identity`: of the client; null: none. `session`: to be resumed, or null.
  Ends(const TlsContext& server, const CertificateAndKey* identity, int version, SSL_SESSION* session = nullptr)
      : context_(SSL_CTX_new(TLS_client_method())) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets_.data()) != 0) {
      throw std::runtime_error("socketpair");
    }
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
    if (identity != nullptr) {
      const OwnedTls<X509> certificate(
          PEM_read_bio_X509(TextReader(identity->certificate_pem).get(), nullptr, nullptr, nullptr));
      const OwnedTls<EVP_PKEY> key(
          PEM_read_bio_PrivateKey(TextReader(identity->key_pem).get(), nullptr, nullptr, nullptr));
      SSL_CTX_use_certificate(context_.get(), certificate.get());
      SSL_CTX_use_PrivateKey(context_.get(), key.get());
    }
    client_.reset(SSL_new(context_.get()));
    SSL_set_fd(client_.get(), sockets_[0]);
    if (session != nullptr) SSL_set_session(client_.get(), session);
    server_ = server.Accept(sockets_[1]);
  }
  ~Ends() {
    server_.reset();
    client_.reset();
    for (const int socket : sockets_) close(socket);
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;

  // Ends with kDone or kFailed, or kWaitReadable if it comes to no end.
  Result Handshake() {
    constexpr int kTurns = 10;
    Result result = Result::kWaitReadable;
    for (int i = 0; i < kTurns && result == Result::kWaitReadable; ++i) {
      SSL_connect(client_.get());
      result = server_->Handshake();
    }
    return result;
  }

  // After the handshake: the client's session, for a further connection.
  OwnedTls<SSL_SESSION> Session() {
    // Tickets come after the handshake.
    char byte = 0;
    SSL_connect(client_.get());
    SSL_read(client_.get(), &byte, 1);
    return OwnedTls<SSL_SESSION>(SSL_get1_session(client_.get()));
  }

  bool is_resumed() const { return SSL_session_reused(client_.get()) == 1; }
  const Transport& server() const { return *server_; }

 private:
  std::array<int, 2> sockets_ = {};
  OwnedTls<SSL_CTX> context_;
  OwnedTls<SSL> client_;
  std::unique_ptr<Transport> server_;
};

class ClientCertificateTest : public testing::TestWithParam<int> {
 protected:
  // `client_ca`: the authorities; empty: clients are not asked.
  std::shared_ptr<const TlsContext> Make(const std::string& client_ca) const {
    const CertificateAndKey own = authority_.Issue("server.test", {});
    return TlsContext::Make(
               {.certificate_pem = own.certificate_pem, .key_pem = own.key_pem, .client_ca_pem = client_ca})
        .value();
  }

  // The names of a client with `identity`; nullopt if it gets no connection.
  static std::optional<std::vector<std::string>> NamesOf(const TlsContext& server, const CertificateAndKey* identity) {
    Ends ends(server, identity, GetParam());
    if (ends.Handshake() != Result::kDone) return std::nullopt;
    return ends.server().PeerNames();
  }

  const TestAuthority authority_{"one"};
  const TestAuthority other_{"two"};
};

TEST_P(ClientCertificateTest, ClientsHaveTheNamesOfTheirCertificates) {
  const auto server = Make(authority_.certificate_pem());
  const CertificateAndKey named =
      authority_.Issue("common", {"DNS:app.example.org", "URI:spiffe://example.org/app", "IP:10.0.0.1", "IP:::1"});
  EXPECT_THAT(NamesOf(*server, &named).value(),
              ElementsAre("app.example.org", "spiffe://example.org/app", "10.0.0.1", "::1"));
  const CertificateAndKey common = authority_.Issue("common", {});
  EXPECT_THAT(NamesOf(*server, &common).value(), ElementsAre("common"));
}

TEST_P(ClientCertificateTest, ClientsNeedNoCertificate) {
  EXPECT_THAT(NamesOf(*Make(authority_.certificate_pem()), nullptr).value(), IsEmpty());
}

TEST_P(ClientCertificateTest, CertificatesOfOthersGetNoConnection) {
  const auto server = Make(authority_.certificate_pem());
  const CertificateAndKey strange = other_.Issue("common", {"DNS:app.example.org"});
  EXPECT_EQ(NamesOf(*server, &strange), std::nullopt);
  // An authority's name is not enough.
  const CertificateAndKey forged = TestAuthority("one").Issue("common", {"DNS:app.example.org"});
  EXPECT_EQ(NamesOf(*server, &forged), std::nullopt);
}

TEST_P(ClientCertificateTest, SeveralAuthoritiesMayVouch) {
  const auto server = Make(authority_.certificate_pem() + other_.certificate_pem());
  const CertificateAndKey first = authority_.Issue("first", {});
  const CertificateAndKey second = other_.Issue("second", {});
  EXPECT_THAT(NamesOf(*server, &first).value(), ElementsAre("first"));
  EXPECT_THAT(NamesOf(*server, &second).value(), ElementsAre("second"));
}

TEST_P(ClientCertificateTest, WithoutAuthoritiesNobodyIsAsked) {
  const CertificateAndKey identity = authority_.Issue("common", {});
  EXPECT_THAT(NamesOf(*Make(""), &identity).value(), IsEmpty());
}

TEST_P(ClientCertificateTest, ThereAreNoNamesBeforeTheHandshake) {
  const CertificateAndKey identity = authority_.Issue("common", {});
  const auto server = Make(authority_.certificate_pem());
  const Ends ends(*server, &identity, GetParam());
  EXPECT_THAT(ends.server().PeerNames(), IsEmpty());
  EXPECT_THAT(MakePlainTransport(-1)->PeerNames(), IsEmpty());
}

TEST_P(ClientCertificateTest, AResumedSessionKeepsTheNames) {
  const auto server = Make(authority_.certificate_pem());
  const CertificateAndKey identity = authority_.Issue("common", {"DNS:app.example.org"});
  Ends first(*server, &identity, GetParam());
  ASSERT_EQ(first.Handshake(), Result::kDone);
  const OwnedTls<SSL_SESSION> session = first.Session();
  // The certificate is not sent again.
  Ends second(*server, nullptr, GetParam(), session.get());
  ASSERT_EQ(second.Handshake(), Result::kDone);
  EXPECT_TRUE(second.is_resumed());
  EXPECT_THAT(second.server().PeerNames(), ElementsAre("app.example.org"));
}

TEST_P(ClientCertificateTest, OtherAuthoritiesEndOldSessionsAndCertificates) {
  TlsContextKeeper keeper;
  keeper.Use(Make(authority_.certificate_pem()));
  const CertificateAndKey old = authority_.Issue("old", {});
  const CertificateAndKey fresh = other_.Issue("fresh", {});
  Ends before(*keeper.Current(), &old, GetParam());
  ASSERT_EQ(before.Handshake(), Result::kDone);
  const OwnedTls<SSL_SESSION> session = before.Session();

  keeper.Use(Make(other_.certificate_pem()));
  EXPECT_THAT(NamesOf(*keeper.Current(), &fresh).value(), ElementsAre("fresh"));
  EXPECT_EQ(NamesOf(*keeper.Current(), &old), std::nullopt);
  Ends resumed(*keeper.Current(), nullptr, GetParam(), session.get());
  ASSERT_EQ(resumed.Handshake(), Result::kDone);
  EXPECT_FALSE(resumed.is_resumed());
  EXPECT_THAT(resumed.server().PeerNames(), IsEmpty());
  // The open connection stays what it was.
  EXPECT_THAT(before.server().PeerNames(), ElementsAre("old"));
}

INSTANTIATE_TEST_SUITE_P(Versions, ClientCertificateTest, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

}  // namespace armature::daemon::client_certificate_test
