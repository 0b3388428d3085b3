// The client over real gRPC, against a small server in this process.

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>

#include "armature/api/v1/service.grpc.pb.h"
#include "armature/client/client.h"
#include "armature/client/errors.h"
#include "armature/client/security.h"
#include "client/src/connecting.h"
#include "gmock/gmock.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"
#include "tests/support/test_certificates.h"

namespace armature::client::connect_test {

class FakeItems final : public api::v1::ItemService::Service {
 public:
  // Answers an attribute of the size that the table's name gives, or fails if the name is not a number.
  grpc::Status GetItem(grpc::ServerContext* context, const api::v1::GetItemRequest* request,
                       api::v1::GetItemResponse* response) override {
    const auto greeting = context->client_metadata().find("greeting");
    metadata_seen = greeting != context->client_metadata().end() && greeting->second == "hello";
    const auto authorization = context->client_metadata().find("authorization");
    authorization_seen = authorization == context->client_metadata().end()
                             ? ""
                             : std::string(authorization->second.data(), authorization->second.size());
    if (request->table_name() != "fail") {
      const size_t bytes = std::stoul(request->table_name());
      (*response->mutable_item()->mutable_attributes())["a"].set_b(std::string(bytes, 'x'));
      return grpc::Status::OK;
    }
    api::v1::ErrorDetail detail;
    detail.set_exception("ValidationException");
    api::v1::RpcStatus status;
    status.set_code(grpc::StatusCode::INVALID_ARGUMENT);
    status.add_details()->PackFrom(detail);
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "wrong", status.SerializeAsString());
  }

  bool metadata_seen = false;
  std::string authorization_seen;
};

class ConnectTest : public ::testing::Test {
 public:
  static api::v1::GetItemRequest Get(const std::string& table) {
    api::v1::GetItemRequest request;
    request.set_table_name(table);
    return request;
  }

 protected:
  ConnectTest() {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&items_);
    server_ = builder.BuildAndStart();
    target_ = "127.0.0.1:" + std::to_string(port);
  }

  FakeItems items_;
  std::unique_ptr<grpc::Server> server_;
  std::string target_;
};

TEST_F(ConnectTest, CarriesAnswersAboveTheUsualLimitOfGrpc) {
  ClientOptions options;
  options.channel_count = 2;
  options.metadata = {{"greeting", "hello"}};
  const auto client = Connect(target_, options);
  ASSERT_TRUE(client.ok()) << client.status();
  for (int i = 0; i < 3; ++i) {
    const auto answer = client->GetItem(Get("17000000"));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->item().attributes().at("a").b().size(), 17'000'000U);
    EXPECT_TRUE(items_.metadata_seen);
  }
}

TEST_F(ConnectTest, GivesTheExceptionOfTheDaemon) {
  const auto client = Connect(target_);
  ASSERT_TRUE(client.ok());
  const auto answer = client->GetItem(Get("fail"));
  EXPECT_TRUE(absl::IsInvalidArgument(answer.status()));
  EXPECT_EQ(answer.status().message(), "wrong");
  EXPECT_EQ(ErrorName(answer.status()), "ValidationException");
}

TEST_F(ConnectTest, KnowsThatACallToNobodyWasNeverSent) {
  server_->Shutdown();
  ClientOptions options;
  options.retry = NoRetries();
  const auto client = Connect(target_, options);
  ASSERT_TRUE(client.ok());
  const auto answer = client->GetItem(Get("1"));
  EXPECT_TRUE(absl::IsUnavailable(answer.status())) << answer.status();
  EXPECT_TRUE(CertainlyNotApplied(answer.status()));
}

TEST_F(ConnectTest, SaysWhyThereIsNoConnection) {
  ClientOptions options;
  options.retry = NoRetries();
  server_->Shutdown();
  const absl::Status refused = Connect(target_, options)->GetItem(Get("1")).status();
  EXPECT_EQ(refused.message(), target_ + " refuses the connection: no daemon listens there");
  EXPECT_FALSE(IsLasting(refused));
  const absl::Status gone = Connect("unix:/nowhere", options)->GetItem(Get("1")).status();
  EXPECT_EQ(gone.message(), "no daemon listens at unix:/nowhere: there is no such socket");
}

TEST_F(ConnectTest, SaysThatTheDaemonDoesNotSpeakTlsAndDoesNotRepeat) {
  ClientOptions options;
  options.credentials = *TlsCredentials({});
  options.timeout = absl::Minutes(10);
  const absl::Status status = Connect(target_, options)->GetItem(Get("1")).status();
  EXPECT_EQ(status.message(), target_ + " does not speak TLS");
  EXPECT_TRUE(IsLasting(status));
  EXPECT_TRUE(CertainlyNotApplied(status));
}

// Accepts connections, reads the first bytes of each and closes it, as a daemon does that ends within a handshake.
class ClosingListener {
 public:
  ClosingListener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_, 10), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    target_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] {
      while (true) {
        const int accepted = accept(socket_, nullptr, nullptr);
        if (accepted < 0) return;
        char first[1024];
        static_cast<void>(recv(accepted, first, sizeof(first), 0));
        close(accepted);
      }
    });
  }
  ~ClosingListener() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    close(socket_);
  }
  ClosingListener(const ClosingListener&) = delete;
  ClosingListener& operator=(const ClosingListener&) = delete;

  const std::string& target() const { return target_; }

 private:
  const int socket_;
  std::string target_;
  std::thread thread_;
};

TEST(ConnectWithTls, AHandshakeThatEndsMayBeRepeated) {
  const ClosingListener listener;
  ClientOptions options;
  options.credentials = *TlsCredentials({});
  options.retry = NoRetries();
  const absl::Status status = Connect(listener.target(), options)->GetItem(ConnectTest::Get("1")).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_FALSE(IsLasting(status)) << status;
}

TEST_F(ConnectTest, ALastingFaultOfOneAddressDoesNotEndTheTriesOfOthers) {
  ClientOptions options;
  options.credentials = *TlsCredentials({});
  options.retry = NoRetries();
  const absl::Status status = Connect(target_ + ",unix:/nowhere", options)->GetItem(Get("1")).status();
  EXPECT_EQ(status.message(), "no daemon listens at unix:/nowhere: there is no such socket");
  EXPECT_FALSE(IsLasting(status));
  const absl::Status reversed = Connect("unix:/nowhere," + target_, options)->GetItem(Get("1")).status();
  EXPECT_EQ(reversed.message(), status.message());
}

TEST(ConnectWithTls, SaysThatTheCertificateIsNotTrusted) {
  const test::TestAuthority authority("ours");
  const test::TestAuthority stranger("theirs");
  const test::CertificateAndKey issued = authority.Issue("localhost", {"IP:127.0.0.1"});
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs = {{issued.key_pem, issued.certificate_pem}};
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(tls), &port);
  FakeItems items;
  builder.RegisterService(&items);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  const auto get = [&](const std::string& trusted, const std::string& host) {
    ClientOptions options;
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = trusted;
    options.credentials = grpc::SslCredentials(ssl);
    return Connect(host + ":" + std::to_string(port), options)->GetItem(ConnectTest::Get("1")).status();
  };
  EXPECT_TRUE(get(authority.certificate_pem(), "127.0.0.1").ok());
  const absl::Status unknown = get(stranger.certificate_pem(), "127.0.0.1");
  EXPECT_EQ(unknown.message(), "the certificate of 127.0.0.1:" + std::to_string(port) + " is not trusted");
  EXPECT_TRUE(IsLasting(unknown));
  const absl::Status other = get(authority.certificate_pem(), "localhost");
  EXPECT_EQ(other.message(),
            "the certificate of localhost:" + std::to_string(port) + " is not trusted: it is for other names");
}

TEST(ConnectionError, OfAHandshakeLastsOnlyByAFaultOfTheSettings) {
  for (const char* const settings :
       {"Handshake failed with error SSL_ERROR_SSL: error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER",
        "Ssl handshake failed: error:0A00010B:SSL routines::wrong version number",
        "Ssl handshake failed: error:0A000410:SSL routines::sslv3 alert handshake failure",
        "Ssl handshake failed: error:0A0000C6:SSL routines::packet length too long",
        "Ssl handshake failed: error:0A00042E:SSL routines::tlsv1 alert protocol version",
        "Handshake failed: SSL_ERROR_SSL: error:1000042e:SSL routines:OPENSSL_internal:TLSV1_ALERT_PROTOCOL_VERSION",
        "Ssl handshake failed: error:0A000102:SSL routines::unsupported protocol",
        "Ssl handshake failed: error:0A000460:SSL routines::tlsv1 alert no application protocol",
        "Cannot check peer: missing selected ALPN property."}) {
    const absl::Status status = ConnectionError(settings, "db:1", true);
    EXPECT_EQ(status.message(), "db:1 does not speak TLS");
    EXPECT_TRUE(IsLasting(status)) << settings;
  }
  for (const char* const moment : {"Ssl handshake failed: TSI_PROTOCOL_FAILURE: SSL_ERROR_SYSCALL",
                                   "Handshake read failed: Connection reset by peer", "Handshaker shutdown"}) {
    const absl::Status status = ConnectionError(moment, "db:1", true);
    EXPECT_EQ(status.message(), "the TLS handshake with db:1 failed");
    EXPECT_FALSE(IsLasting(status)) << moment;
  }
  EXPECT_EQ(ConnectionError("ipv4:handshake.local:1: connect: Connection refused", "handshake.local:1", true).message(),
            "handshake.local:1 refuses the connection: no daemon listens there");
}

TEST(ConnectionError, HasNoTextOfALibrary) {
  const auto text = [](std::string_view library, bool is_secure) {
    return std::string(ConnectionError(library, "db:1", is_secure).message());
  };
  EXPECT_EQ(text("DNS resolution failed for db:1: C-ares status is not ARES_SUCCESS", false),
            "the name in db:1 cannot be resolved");
  EXPECT_EQ(text("Ssl handshake failed: SSL_ERROR_SSL: error:0A000086:SSL routines::certificate verify failed", true),
            "the certificate of db:1 is not trusted");
  EXPECT_EQ(text("handshake failed: error:0A00045C:SSL routines::tlsv13 alert certificate required", true),
            "db:1 wants a certificate of the client that it trusts");
  EXPECT_EQ(text("Peer name db is not in peer certificate", true),
            "the certificate of db:1 is not trusted: it is for other names");
  EXPECT_EQ(text("connect: Connection timed out", true), "db:1 does not answer a connection in time");
  EXPECT_EQ(text("Failed parsing HTTP/2", false), "db:1 speaks HTTP/1, and not gRPC");
  EXPECT_EQ(text("something new", false), "db:1 cannot be reached");
}

TEST_F(ConnectTest, SendsItsAccessKeyOnlyWhereNobodyListens) {
  ClientOptions options;
  options.access_key = {"AKAPP", "a secret"};
  EXPECT_TRUE(absl::IsInvalidArgument(Connect(target_, options).status()));
  options.access_key->secret.clear();
  EXPECT_TRUE(absl::IsInvalidArgument(Connect("unix:/run/a", options).status()));
  options.access_key->secret = "a secret";

  const std::string socket = testing::TempDir() + "/connect_test." + std::to_string(getpid());
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  FakeItems items;
  builder.RegisterService(&items);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  const auto client = Connect("unix:" + socket, options);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE(client->GetItem(Get("1")).ok());
  EXPECT_EQ(items.authorization_seen, "Basic QUtBUFA6YSBzZWNyZXQ=");
}

TEST(TlsCredentials, FilesMustBeReadable) {
  EXPECT_TRUE(TlsCredentials({}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(TlsCredentials({"/none", "", ""}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(TlsCredentials({"", "/etc/hostname", ""}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(TlsCredentials({"", "", "/etc/hostname"}).status()));
}

TEST_F(ConnectTest, SaysUnimplementedForServicesThatAreNotThere) {
  const auto client = Connect(target_);
  ASSERT_TRUE(client.ok());
  EXPECT_TRUE(absl::IsUnimplemented(client->ListTables({}).status()));
  EXPECT_TRUE(absl::IsUnimplemented(client->GetServerInfo({}).status()));
  EXPECT_TRUE(absl::IsUnimplemented(client->ListStreams({}).status()));
}

TEST(Connect, RefusesTargetsThatCouldNeverBeReached) {
  for (const char* target :
       {"localhost", "localhost:", "localhost:0", "localhost:65536", "10.0.0.1", "[::1]", "[::1]:"}) {
    const absl::Status status = Connect(target).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << target;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("has no port; give \"host:port\"")) << target;
  }
  for (const char* target : {"http://localhost:7700", "HTTPS://localhost"}) {
    EXPECT_THAT(std::string(Connect(target).status().message()), testing::HasSubstr("is one of HTTP")) << target;
  }
  for (const char* target :
       {"localhost:1", "[::1]:65535", "unix:socket", "unix:/run/a", "dns:///localhost", "ipv4:10.0.0.1:1,10.0.0.2:1"}) {
    EXPECT_TRUE(Connect(target).ok()) << target;
  }
}

TEST(Connect, RefusesOptionsOutOfRange) {
  EXPECT_TRUE(absl::IsInvalidArgument(Connect("").status()));
  ClientOptions options;
  options.channel_count = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(Connect("localhost:1", options).status()));
  options.channel_count = 1;
  options.timeout = absl::ZeroDuration();
  EXPECT_TRUE(absl::IsInvalidArgument(Connect("localhost:1", options).status()));
}

}  // namespace armature::client::connect_test
