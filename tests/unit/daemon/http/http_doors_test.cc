#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "daemon/http/http_server.h"
#include "daemon/net/connection_ledger.h"
#include "daemon/net/listening_socket.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tests/support/raw_http_client.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/daemon/http/handlers.h"

namespace armature::daemon::http_doors_test {

using test::Post;
using test::RawHttpClient;
using testing::HasSubstr;
using testing::StartsWith;

class HttpDoorsTest : public testing::Test {
 protected:
  // The peer as the handler sees it.
  static std::string Ask(const std::string& address) {
    RawHttpClient client(address);
    client.Send(Post("x"));
    return client.Read().body;
  }
  static void ExpectClosed(const std::string& address) { EXPECT_THROW(RawHttpClient{address}, std::runtime_error); }

  const test::TempDir directory_;
  const std::string file_ = directory_.path("door");
  const std::string unix_ = Cat("unix:", file_);
  InlineHandler handler_{[](const HttpRequest& request) { return HttpResponse{.headers = {}, .body = request.peer}; }};
};

TEST_F(HttpDoorsTest, OneHandlerServesSeveralDoorsUntilTheServerStops) {
  const auto server = Serve(&handler_);
  const std::string first = server->address();
  const std::string second = server->Open({}).value();
  EXPECT_NE(first, second);
  EXPECT_EQ(server->address(), first);
  RawHttpClient one(first);
  RawHttpClient two(second);
  for (RawHttpClient* client : {&one, &two, &one}) {
    client->Send(Post("x"));
    EXPECT_THAT(client->Read().body, StartsWith("127.0.0.1:"));
  }
  EXPECT_EQ(server->connections(), 2u);
  server->Stop(absl::InfiniteDuration());
  EXPECT_EQ(one.ReadToEnd(), "");
  EXPECT_EQ(two.ReadToEnd(), "");
  ExpectClosed(first);
  ExpectClosed(second);
  EXPECT_EQ(server->Open({}).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(HttpDoorsTest, LimitsHoldForAllDoorsTogether) {
  const auto server = Serve(&handler_, {.connections_max = 1});
  const std::string second = server->Open({}).value();
  RawHttpClient client(second);
  client.Send(Post("x"));
  EXPECT_EQ(client.Read().status, 200);
  for (const std::string& address : {server->address(), second}) {
    EXPECT_THAT(RawHttpClient(address).ReadToEnd(), StartsWith("HTTP/1.1 503 "));
  }
}

TEST_F(HttpDoorsTest, ADoorThatDoesNotOpenLeavesTheOthersAsTheyAre) {
  const auto server = Serve(&handler_);
  EXPECT_EQ(server->Open({.listen = "nowhere"}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(server->Open({.listen = server->address()}).status().message()),
              HasSubstr("Address already in use"));
  EXPECT_THAT(Ask(server->address()), StartsWith("127.0.0.1:"));
}

TEST_F(HttpDoorsTest, AUnixSocketIsADoor) {
  ConnectionLedger ledger({.per_address_max = 1});
  auto server = Serve(&handler_, {.ledger = &ledger});
  EXPECT_EQ(server->Open({.listen = unix_}).value(), unix_);
  EXPECT_TRUE(std::filesystem::is_socket(file_));
  // Its clients have no addresses, and so no limit for each.
  RawHttpClient one(unix_);
  RawHttpClient two(unix_);
  for (RawHttpClient* client : {&one, &two}) {
    client->Send(Post("x"));
    EXPECT_EQ(client->Read().body, "unix");
  }
  EXPECT_THAT(Ask(server->address()), StartsWith("127.0.0.1:"));
  server->Stop(absl::InfiniteDuration());
  EXPECT_FALSE(std::filesystem::exists(file_));
  ExpectClosed(unix_);
}

TEST_F(HttpDoorsTest, AUnixSocketIsTheOnlyDoor) {
  for (int i = 0; i < 2; ++i) {
    const auto server = Serve(&handler_, {.door = {.listen = unix_}});
    EXPECT_EQ(server->address(), unix_);
    EXPECT_EQ(Ask(unix_), "unix");
  }
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(HttpDoorsTest, TheFileOfAKilledServerIsReplaced) {
  {
    const int left = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    file_.copy(name.sun_path, file_.size());
    ASSERT_EQ(bind(left, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    close(left);
  }
  const auto server = Serve(&handler_, {.door = {.listen = unix_}});
  EXPECT_EQ(Ask(unix_), "unix");
}

TEST_F(HttpDoorsTest, OtherFilesAreNotReplaced) {
  std::ofstream(file_) << "a text";
  EXPECT_EQ(HttpServer::Start({.door = {.listen = unix_}}, &handler_).status().message(),
            Cat("cannot listen on ", unix_, ": Address already in use"));
  const auto server = Serve(&handler_);
  EXPECT_FALSE(server->Open({.listen = unix_}).ok());
  EXPECT_EQ(std::filesystem::file_size(file_), 6u);
}

TEST_F(HttpDoorsTest, ANameStandsForAllItsAddresses) {
  const auto server = Serve(&handler_, {.door = {.listen = "localhost:0"}});
  EXPECT_THAT(server->address(), StartsWith("localhost:"));
  const std::string port = SplitAddress(server->address()).value().port;
  const std::string v4 = Cat("127.0.0.1:", port);
  EXPECT_THAT(Ask(v4), StartsWith("127.0.0.1:"));
  if (!test::HasV6Address("localhost")) GTEST_SKIP() << "localhost has one address on this machine";
  const std::string v6 = Cat("[::1]:", port);
  EXPECT_THAT(Ask(v6), StartsWith("[::1]:"));
  server->Stop(absl::ZeroDuration());
  ExpectClosed(v4);
  ExpectClosed(v6);
}

}  // namespace armature::daemon::http_doors_test
