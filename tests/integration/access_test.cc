// Authorisation of calls over gRPC: keys, certificates, the admin service, strangers, and the command line.

#include <chrono>
#include <cstdlib>
#include <sstream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/client/table_export.h"
#include "armature/client/wait.h"
#include "daemon/auth/secret_hash.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"
#include "tests/support/security_files.h"
#include "tools/armature/command.h"

namespace armature::test::access_test {

using client::Client;
using client::ErrorName;
using testing::HasSubstr;

constexpr char kOrders[] = R"({"TableName": "orders", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})";

class AccessTest : public testing::Test {
 protected:
  AccessTest() : daemon_(files_.Flags(), files_.WithKey("AKROOT")) {}

  Client ClientWithKey(std::string_view id, std::string_view secret = SecurityFiles::kRootSecret) const {
    return daemon_.ConnectWith(files_.WithKey(id, secret));
  }
  // "OK", or the name of the exception.
  static std::string Name(const absl::Status& status) {
    if (status.ok()) return "OK";
    const std::string name = ErrorName(status);
    return name.empty() ? status.ToString() : name;
  }
  static std::string ListTables(const Client& client) { return Name(client.ListTables({}).status()); }

  SecurityFiles files_;
  DaemonProcess daemon_;
};

TEST_F(AccessTest, KeysAreKnownByTheirSecret) {
  EXPECT_EQ(ListTables(daemon_.client()), "OK");
  const absl::Status nobody = ClientWithKey("").ListTables({}).status();
  EXPECT_EQ(nobody.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(nobody, IsRefused("MissingAuthenticationTokenException", "Request is missing Authentication Token"));
  for (const auto& [id, secret] : {std::pair<std::string_view, std::string_view>{"AKROOT", "the-secret-of-toor"},
                                   {"AKNOBODY", SecurityFiles::kRootSecret},
                                   {"akroot", SecurityFiles::kRootSecret}}) {
    const absl::Status stranger = ClientWithKey(id, secret).ListTables({}).status();
    EXPECT_EQ(stranger.code(), absl::StatusCode::kUnauthenticated);
    EXPECT_THAT(stranger,
                IsRefused("UnrecognizedClientException", "The security token included in the request is invalid."));
  }
  const std::string log = daemon_.ReadStderr();
  EXPECT_THAT(log, HasSubstr("key=AKROOT reason=wrong_secret"));
  EXPECT_THAT(log, HasSubstr("key=AKNOBODY reason=unknown_key"));
  EXPECT_THAT(log, testing::Not(HasSubstr("the-secret-of")));
  EXPECT_THAT(log, testing::Not(HasSubstr(absl::Base64Escape("AKROOT:the-secret-of-toor"))));
}

TEST_F(AccessTest, CertificatesAreKnownByTheirNames) {
  const TestAuthority& ours = files_.authority();
  const auto list = [&](const TestAuthority& issuer, const std::string& name, const std::vector<std::string>& others) {
    return ListTables(daemon_.ConnectWith(files_.WithCertificate(issuer, name, others)));
  };
  EXPECT_EQ(list(ours, "ops.example.org", {}), "OK");
  EXPECT_EQ(list(ours, "anything", {"DNS:other.example.org", "DNS:ops.example.org"}), "OK");
  EXPECT_EQ(list(ours, "x", {"URI:spiffe://example.org/reader"}), "AccessDeniedException");
  EXPECT_EQ(list(ours, "stranger", {"DNS:stranger.example.org"}), "UnrecognizedClientException");
  EXPECT_EQ(list(ours, "ops.example.org", {"DNS:stranger.example.org"}), "UnrecognizedClientException")
      << "the common name counts only without alternative names";
  const TestAuthority other("Another authority");
  EXPECT_THAT(list(other, "ops.example.org", {}), HasSubstr("UNAVAILABLE"));

  client::ClientOptions both = files_.WithCertificate(ours, "ops.example.org", {});
  both.access_key = {"AKREADER", SecurityFiles::kRootSecret};
  EXPECT_EQ(ListTables(daemon_.ConnectWith(both)), "AccessDeniedException") << "the key counts";
}

TEST_F(AccessTest, ClientsThatDoNotTrustTheDaemonDoNotTalkToIt) {
  const TestAuthority other("Another authority");
  const absl::Status status = daemon_.ConnectWith(SecurityFiles::WithKey(other, "AKROOT")).ListTables({}).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(client::CertainlyNotApplied(status));
  const absl::Status plain = daemon_.ConnectWith({}).ListTables({}).status();
  EXPECT_TRUE(absl::IsUnimplemented(plain)) << "nor without TLS: " << plain;
  EXPECT_THAT(std::string(plain.message()), testing::HasSubstr("over TLS"));
}

TEST_F(AccessTest, AHashedSecretServesAsWell) {
  const std::string hash = daemon::SecretHash::Of("a secret of hash").ToString();
  files_.WriteCredentials({Cat(R"({"id": "AKHASHED", "policy": "root", "secret_hash": ")", hash, R"("})")});
  daemon_.Restart();
  const Client client = ClientWithKey("AKHASHED", "a secret of hash");
  EXPECT_EQ(ListTables(client), "OK");
  EXPECT_EQ(ListTables(client), "OK");
  EXPECT_EQ(ListTables(ClientWithKey("AKHASHED", "a secret of hush")), "UnrecognizedClientException");
}

// access_cases_test.cc has the operations of the API.
TEST_F(AccessTest, APolicyDoesNotReachTheAdminService) {
  ASSERT_TRUE(daemon_.client().CreateTable(FromJson<api::v1::CreateTableRequest>(kOrders)).ok());
  ASSERT_TRUE(client::WaitForTable(daemon_.client(), "orders", absl::Now() + absl::Seconds(30)).ok());
  const Client reader = ClientWithKey("AKREADER");
  EXPECT_EQ(Name(reader.GetServerInfo({}).status()), "AccessDeniedException");
  EXPECT_EQ(Name(reader.ListIndexStatus({}).status()), "AccessDeniedException");
  EXPECT_EQ(Name(reader.Echo({}).status()), "AccessDeniedException");
  EXPECT_EQ(Name(reader.GetIndexStatus({}).status()), "AccessDeniedException");
  admin::v1::ExportTableRequest orders;
  orders.set_table_name("orders");
  EXPECT_EQ(Name(reader.ExportTable(orders).status()), "AccessDeniedException");
  EXPECT_EQ(Name(daemon_.client().ExportTable(orders).status()), "OK");
  EXPECT_EQ(Name(daemon_.client().GetServerInfo({}).status()), "OK");
  EXPECT_EQ(Name(daemon_.client().Echo({}).status()), "OK");
}

// The codes of calls with an empty message. They run concurrently, because refusals are delayed after some failures.
std::vector<grpc::StatusCode> CallAll(const std::shared_ptr<grpc::Channel>& channel,
                                      const std::vector<std::string>& methods) {
  struct Call {
    grpc::ClientContext context;
    grpc::ByteBuffer response;
    grpc::Status status;
    std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  };
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  const grpc::Slice nothing("");
  const grpc::ByteBuffer request(&nothing, 1);
  std::vector<std::unique_ptr<Call>> calls;
  for (const std::string& method : methods) {
    Call& call = *calls.emplace_back(std::make_unique<Call>());
    call.context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    call.reader = stub.PrepareUnaryCall(&call.context, method, request, &queue);
    call.reader->StartCall();
    call.reader->Finish(&call.response, &call.status, &call);
  }
  std::vector<grpc::StatusCode> codes;
  for (size_t i = 0; i < calls.size(); ++i) {
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
  }
  for (const auto& call : calls) codes.push_back(call->status.error_code());
  return codes;
}

// Every method of every service, and some unknown ones.
TEST_F(AccessTest, StrangersGetNothingButHealth) {
  std::vector<std::string> methods = {"/nothing.Here/Call", "/armature.api.v1.ItemService/Nothing",
                                      "/grpc.health.v1.Health/Nothing",
                                      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"};
  for (const auto& [package, file] : {std::pair{"armature.api.v1", "../../proto/armature/api/v1/service.proto"},
                                      {"armature.admin.v1", "../../proto/armature/admin/v1/admin.proto"}}) {
    std::string service;
    for (const std::string& line : std::vector<std::string>(absl::StrSplit(SampleFile(file), '\n'))) {
      const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" ("), absl::SkipEmpty());
      if (words.size() > 1 && words[0] == "service") service = words[1];
      if (words.size() > 1 && words[0] == "rpc") methods.push_back(Cat("/", package, ".", service, "/", words[1]));
    }
  }
  EXPECT_GT(methods.size(), 35u);
  const auto channel = grpc::CreateChannel(daemon_.address(), grpc::SslCredentials({files_.Read("ca.pem"), "", ""}));
  const std::vector<grpc::StatusCode> codes = CallAll(channel, methods);
  for (size_t i = 0; i < codes.size(); ++i) EXPECT_EQ(codes[i], grpc::UNAUTHENTICATED) << methods[i];
  EXPECT_EQ(CallAll(channel, {"/grpc.health.v1.Health/Check"}).front(), grpc::OK);
}

TEST_F(AccessTest, TheToolTakesTrustAndKeyFromOptionsAndEnvironment) {
  const auto run = [&](std::vector<std::string> arguments) {
    std::ostringstream out;
    std::ostringstream err;
    arguments.insert(arguments.begin(), {"--endpoint", daemon_.address(), "--tls-ca", files_.Path("ca.pem")});
    const int code = cli::RunCli(arguments, out, err);
    return Cat(code, " ", err.str());
  };
  unsetenv("ARMATURE_SECRET_KEY");
  EXPECT_EQ(run({"table", "list"}), "1 MissingAuthenticationTokenException: Request is missing Authentication Token\n");
  EXPECT_EQ(run({"--access-key", "AKROOT", "table", "list"}),
            "2 armature: --access-key needs its secret: set ARMATURE_SECRET_KEY, or name a file by --secret-file\n");
  files_.Write("secret", Cat(SecurityFiles::kRootSecret, "\n"));
  EXPECT_EQ(run({"--access-key", "AKROOT", "--secret-file", files_.Path("secret"), "table", "list"}), "0 ");
  setenv("ARMATURE_SECRET_KEY", SecurityFiles::kRootSecret, 1);
  EXPECT_EQ(run({"--access-key", "AKREADER", "table", "list"}),
            "1 AccessDeniedException: User: AKREADER is not authorized to perform: dynamodb:ListTables on resource: "
            "*\n");
  unsetenv("ARMATURE_SECRET_KEY");
}

TEST(Access, OverAUnixSocketKeysNeedNoTls) {
  const SecurityFiles files;
  const std::string socket = Cat("unix:", files.Path("socket"));
  const DaemonProcess daemon({"--credentials_file=" + files.Path("credentials.json"), "--grpc_listen=" + socket});
  EXPECT_EQ(daemon.address(), socket);
  EXPECT_EQ(ErrorName(daemon.client().ListTables({}).status()), "MissingAuthenticationTokenException");
  client::ClientOptions options;
  options.access_key = {"AKROOT", SecurityFiles::kRootSecret};
  EXPECT_TRUE(daemon.ConnectWith(options).ListTables({}).ok());
}

}  // namespace armature::test::access_test
