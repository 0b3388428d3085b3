// Shutdown of the server.

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "daemon/http/http_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tests/support/raw_http_client.h"
#include "tests/unit/daemon/http/handlers.h"

namespace armature::daemon::http_drain_test {

using test::Post;
using test::RawHttpClient;
using test::RawResponse;
using testing::Contains;
using testing::Pair;

// Stops the server on another thread, and waits until it refuses new connections.
class Stopping {
 public:
  explicit Stopping(HttpServer* server, absl::Duration grace = absl::InfiniteDuration())
      : thread_([server, grace] { server->Stop(grace); }) {
    try {
      for (;;) RawHttpClient probe(server->address());
    } catch (const std::runtime_error&) {
    }
  }
  ~Stopping() { thread_.join(); }

 private:
  std::thread thread_;
};

TEST(HttpDrain, IdleConnectionsAreClosedAndNoNewOnesTaken) {
  InlineHandler handler;
  const auto server = Serve(&handler);
  RawHttpClient never(server->address());
  RawHttpClient once(server->address());
  once.Send(Post("x"));
  EXPECT_EQ(once.Read().body, "x");
  server->Stop(absl::InfiniteDuration());
  EXPECT_EQ(server->connections(), 0);
  EXPECT_EQ(never.ReadToEnd(), "");
  EXPECT_EQ(once.ReadToEnd(), "");
  EXPECT_THROW(RawHttpClient{server->address()}, std::runtime_error);
}

TEST(HttpDrain, RequestsUnderWayAreFinished) {
  HoldingHandler handler;
  const auto server = Serve(&handler);
  RawHttpClient client(server->address());
  client.Send(Post("under way"));
  std::vector<HoldingHandler::Held> held = handler.Take(1);
  const Stopping stopping(server.get());
  const std::string large(1 << 20, 'x');
  std::move(held[0].done)({.headers = {}, .body = large});
  const RawResponse response = client.Read();
  EXPECT_TRUE(response.body == large);
  EXPECT_THAT(response.headers, Contains(Pair("connection", "close")));
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST(HttpDrain, PipelinedRequestsThatHaveArrivedAreFinished) {
  HoldingHandler handler;
  const auto server = Serve(&handler);
  RawHttpClient client(server->address());
  client.Send(Post("one") + Post("two") + Post("three"));
  std::vector<HoldingHandler::Held> held = handler.Take(1);
  const Stopping stopping(server.get());
  for (const char* body : {"one", "two", "three"}) {
    if (held.empty()) held = handler.Take(1);
    std::move(held[0].done)({.headers = {}, .body = held[0].request.body});
    held.clear();
    const RawResponse response = client.Read();
    EXPECT_EQ(response.body, body);
    EXPECT_EQ(response.headers.count("connection"), body == std::string_view("three") ? 1 : 0);
  }
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST(HttpDrain, AnEmptyLineIsNoFurtherRequest) {
  HoldingHandler handler;
  const auto server = Serve(&handler);
  RawHttpClient client(server->address());
  client.Send(Post("last") + "\r\n");
  std::vector<HoldingHandler::Held> held = handler.Take(1);
  const Stopping stopping(server.get());
  std::move(held[0].done)({.headers = {}, .body = "x"});
  EXPECT_EQ(client.Read().body, "x");
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST(HttpDrain, RequestsThatHaveBegunToArriveAreFinished) {
  InlineHandler handler;
  const auto server = Serve(&handler);
  RawHttpClient client(server->address());
  client.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.Read().status, 100);
  const Stopping stopping(server.get());
  client.Send("body");
  const RawResponse response = client.Read();
  EXPECT_EQ(response.body, "body");
  EXPECT_THAT(response.headers, Contains(Pair("connection", "close")));
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST(HttpDrain, ConnectionsThatWereMadeBeforeAreHeard) {
  InlineHandler handler;
  const auto server = Serve(&handler);
  std::vector<std::unique_ptr<RawHttpClient>> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(std::make_unique<RawHttpClient>(server->address()));
    clients.back()->Send(Post("sent before"));
  }
  server->Stop(absl::InfiniteDuration());
  for (const auto& client : clients) EXPECT_EQ(client->Read().body, "sent before");
}

TEST(HttpDrain, GraceEndsForThoseWhoDoNotEnd) {
  HoldingHandler handler;
  auto server = Serve(&handler);
  RawHttpClient waiting(server->address());
  waiting.Send(Post("for ever"));
  std::vector<HoldingHandler::Held> held = handler.Take(1);
  RawHttpClient sending(server->address());
  sending.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(sending.Read().status, 100);
  server->Stop(absl::Milliseconds(20));
  EXPECT_EQ(waiting.ReadToEnd(), "");
  EXPECT_EQ(sending.ReadToEnd(), "");
  EXPECT_EQ(server->connections(), 0);
  server.reset();
  // A late answer has no effect.
  std::move(held[0].done)({.headers = {}, .body = "hello?"});
}

TEST(HttpDrain, AnswersThatAreNotReadEndWithTheGrace) {
  InlineHandler handler(
      [](const HttpRequest&) { return HttpResponse{.headers = {}, .body = std::string(32 << 20, 'x')}; });
  const auto server = Serve(&handler);
  RawHttpClient client(server->address(), /*receive_buffer=*/4096);
  client.Send(Post("x"));
  while (server->held_bytes() == 0) std::this_thread::yield();
  server->Stop(absl::Milliseconds(20));
  EXPECT_EQ(server->held_bytes(), 0);
}

TEST(HttpDrain, StoppingTwiceIsStoppingOnce) {
  InlineHandler handler;
  const auto server = Serve(&handler);
  server->Stop(absl::ZeroDuration());
  server->Stop(absl::ZeroDuration());
}

}  // namespace armature::daemon::http_drain_test
