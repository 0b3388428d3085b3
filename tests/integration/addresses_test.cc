// Clients that know several addresses of one database.

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "armature/client/client.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"

namespace armature::test::addresses_test {

constexpr char kTable[] = R"({"TableName": "NAME", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})";

void CreateTable(const client::Client& client, const std::string& name) {
  std::string json = kTable;
  json.replace(json.find("NAME"), 4, name);
  ASSERT_TRUE(client.CreateTable(FromJson<api::v1::CreateTableRequest>(json)).ok());
}

// The only table of the daemon that answers, or the error.
std::string TableOf(const client::Client& client) {
  const auto answer = client.ListTables(api::v1::ListTablesRequest());
  if (!answer.ok()) return answer.status().ToString();
  return answer->table_names_size() == 1 ? answer->table_names(0) : Cat(answer->table_names_size(), " tables");
}

TEST(Addresses, CallsGoToTheNextAddressWhenOneCannotBeReached) {
  DaemonProcess first;
  DaemonProcess second;
  CreateTable(first.client(), "first");
  CreateTable(second.client(), "second");
  client::ClientOptions options;
  options.channel_count = 2;
  const auto client = client::Connect(Cat("127.0.0.1:1,", first.address(), ",", second.address()), options);
  ASSERT_TRUE(client.ok()) << client.status();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(TableOf(*client), "first");
  ASSERT_EQ(first.Stop(), 0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(TableOf(*client), "second");
  second.Kill();
  client::CallOptions once;
  once.timeout = absl::Seconds(1);
  EXPECT_FALSE(client->ListTables(api::v1::ListTablesRequest(), once).ok());
}

// The daemon of a machine that is paused: the system takes its connections, and nobody answers.
class SilentListener {
 public:
  SilentListener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in any = {};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof any;
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&any), size), 0);
    EXPECT_EQ(listen(socket_, 16), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&any), &size), 0);
    address_ = Cat("127.0.0.1:", ntohs(any.sin_port));
  }
  ~SilentListener() { close(socket_); }
  SilentListener(const SilentListener&) = delete;
  SilentListener& operator=(const SilentListener&) = delete;

  const std::string& address() const { return address_; }

 private:
  const int socket_;
  std::string address_;
};

TEST(Addresses, OneThatDoesNotAnswerIsPassedOver) {
  const SilentListener silent;
  DaemonProcess daemon;
  CreateTable(daemon.client(), "only");
  const auto client = client::Connect(Cat(silent.address(), ",", daemon.address()), {});
  ASSERT_TRUE(client.ok()) << client.status();
  // Within the deadline of a call, which is ten seconds.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(TableOf(*client), "only");
}

TEST(Addresses, EachIsChecked) {
  for (const char* wrong : {"localhost:7700,", ",localhost:7700", "localhost:7700,localhost", "a:1,http://b:2"}) {
    EXPECT_EQ(client::Connect(wrong).status().code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
  EXPECT_TRUE(client::Connect("localhost:7700,unix:/run/a,ipv4:127.0.0.1:1").ok());
  client::ClientOptions options;
  options.access_key = {.id = "id", .secret = "secret"};
  EXPECT_TRUE(client::Connect("unix:/run/a,unix:/run/b", options).ok());
  EXPECT_EQ(client::Connect("unix:/run/a,localhost:7700", options).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace armature::test::addresses_test
