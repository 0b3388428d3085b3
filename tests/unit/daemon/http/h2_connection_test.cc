// Connections of HTTP/2: how they begin beside those of HTTP/1.1, and how they end.

#include "daemon/http/h2_connection.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "daemon/http/h2_router.h"
#include "daemon/http/hint_front.h"
#include "daemon/http/http_server.h"
#include "daemon/http/transport.h"
#include "daemon/net/memory_budget.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tests/support/h2_socket.h"
#include "tests/support/raw_http_client.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_certificates.h"
#include "tests/unit/daemon/http/handlers.h"

namespace armature::daemon::h2_connection_test {

using test::H2Socket;
using test::Post;
using test::RawHttpClient;
using test::WaitUntil;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::StartsWith;

constexpr absl::Duration kShort = absl::Milliseconds(40);
constexpr std::string_view kMagic = NGHTTP2_CLIENT_MAGIC;
const H2Fields kGrpc = {{"content-type", "application/grpc"}};

void ExpectServed(H2Socket& client, std::string_view body = "anybody there?") {
  const int32_t stream = client->Request("/", body);
  EXPECT_TRUE(client.Finish(stream).data == body);
  EXPECT_EQ(client->answer(stream).Find(":status"), "200");
}

// A window that hides from the server that its client does not read.
H2Socket::Options WideWindows(int receive_buffer) {
  H2Socket::Options options = {.http = {.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 30}}}};
  options.receive_buffer = receive_buffer;
  return options;
}

// ---- The beginning

TEST(H2Connection, BothProtocolsShareAPort) {
  InlineHandler handler;
  const auto server = Serve(&handler);
  {
    RawHttpClient old(server->address());
    H2Socket client(server->address());
    for (int i = 0; i < 3; ++i) {
      old.Send(Post("old"));
      ExpectServed(client, "new");
      EXPECT_EQ(old.Read().body, "old");
    }
    EXPECT_EQ(server->connections(), 2);
    EXPECT_EQ(server->h2_counts().connections, 1);
  }
  WaitUntil([&] { return server->connections() == 0 && server->h2_counts().connections == 0; });
}

TEST(H2Connection, TheFirstBytesMayComeInPieces) {
  InlineHandler handler;
  const auto server = Serve(&handler);
  for (const size_t bytes : {1, 2, 3, 23, 24, 25, 33}) {
    H2Socket client(server->address());
    const int32_t stream = client->Request("/", "in pieces");
    client.SendInPieces(bytes);
    EXPECT_EQ(client.Finish(stream).data, "in pieces") << bytes;
  }
}

TEST(H2Connection, RequestsThatBeginLikeThePrefaceAreOfHttp1) {
  InlineHandler handler([](const HttpRequest& request) { return HttpResponse{.headers = {}, .body = request.method}; });
  const auto server = Serve(&handler);
  for (const std::string_view request : {"P / HTTP/1.1\r\nHost: h\r\n\r\n", "PR / HTTP/1.1\r\nHost: h\r\n\r\n",
                                         "PRI / HTTP/1.1\r\nHost: h\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\n\r\n"}) {
    RawHttpClient client(server->address());
    for (const char c : request) client.Send({&c, 1});
    EXPECT_EQ(client.Read().body, request.substr(0, request.find(' ')));
  }
  EXPECT_EQ(server->h2_counts().connections, 0);
}

TEST(H2Connection, WhatIsNoHttp2EndsTheConnection) {
  InlineHandler handler;
  const auto server = Serve(&handler);
  H2Socket other(server->address());
  ExpectServed(other);
  H2Socket client(server->address());
  client.SendRaw(RawFrame(NGHTTP2_DATA, 0, 1, "data of no stream"));
  client.AwaitEnd();
  ASSERT_EQ(client->goaways().size(), 1);
  EXPECT_EQ(client->goaways()[0].error, NGHTTP2_PROTOCOL_ERROR);
  RawHttpClient garbage(server->address());
  garbage.Send(Cat(kMagic, std::string(1000, '\xff')));
  EXPECT_NE(garbage.ReadToEnd(), "");
  EXPECT_EQ(server->h2_counts().protocol, 2);
  ExpectServed(other);
}

TEST(H2Connection, APrefaceMustEnd) {
  InlineHandler handler;
  const auto server = Serve(&handler, {.head_timeout = kShort});
  H2Socket idle(server->address());
  ExpectServed(idle);
  RawHttpClient torn(server->address());
  torn.Send(kMagic.substr(0, 10));
  EXPECT_EQ(torn.Read().status, 408);
  RawHttpClient without_settings(server->address());
  without_settings.Send(kMagic);
  without_settings.ReadToEnd();
  ExpectServed(idle);
}

TEST(H2Connection, AClientThatSendsAllAtOnceMayWaitForItsAnswer) {
  HoldingHandler handler;
  const auto server = Serve(&handler, {.head_timeout = kShort});
  H2Socket client(server->address());
  const int32_t stream = client->Begin("/", true);
  client.Send();
  std::vector<HoldingHandler::Held> held = handler.Take(1);
  for (int i = 0; i < 2; ++i) {
    RawHttpClient torn(server->address());
    torn.Send(kMagic);
    torn.ReadToEnd();
  }
  std::move(held[0].done)({.headers = {}, .body = "late"});
  EXPECT_EQ(client.Finish(stream).data, "late");
}

TEST(H2Connection, OnAUnixSocket) {
  InlineHandler handler([](const HttpRequest& request) { return HttpResponse{.headers = {}, .body = request.peer}; });
  const test::TempDir dir;
  const auto server = Serve(&handler, {.door = {.listen = "unix:" + dir.path("socket")}});
  H2Socket client(server->address());
  EXPECT_EQ(client.Finish(client->Request("/", "x")).data, "unix");
}

// ---- Doors

TEST(H2Connection, WithoutARouterCallsGetTheHint) {
  InlineHandler handler;
  HttpDoor door;
  door.wrong_door = [](Speech speech) { return std::string(speech == Speech::kHttp2 ? "100 % elsewhere." : "?"); };
  const auto server = Serve(&handler, {.door = door});
  H2Socket client(server->address());
  for (const bool is_whole : {true, false}) {
    const H2Client::Answer& answer = client.Finish(client->Begin("/service/Method", is_whole, kGrpc));
    EXPECT_EQ(answer.head, (H2Fields{{":status", "200"},
                                     {"content-type", "application/grpc"},
                                     {"grpc-status", "12"},
                                     {"grpc-message", "100 %25 elsewhere."}}));
    EXPECT_THAT(answer.trailers, IsEmpty());
  }
  ExpectServed(client);
}

TEST(H2Connection, WhereHttpIsNotServedAHintIs) {
  HintFront front([] { return std::string("Elsewhere."); });
  const auto server = Serve(&front);
  H2Socket client(server->address());
  const H2Client::Answer& answer = client.Finish(client->BeginAs("GET", "/", true));
  EXPECT_EQ(answer.Find(":status"), "400");
  EXPECT_EQ(answer.Find("content-type"), "text/plain");
  EXPECT_EQ(answer.data, "Elsewhere.\n");
  const int32_t sdk = client->Begin("/", true, {{"x-amz-target", "DynamoDB_20120810.ListTables"}});
  EXPECT_THAT(client.Finish(sdk).data, EndsWith("\"message\":\"Elsewhere.\"}"));
}

// Notes the clients of requests, and has them answered as plain HTTP.
class PeerRouter final : public H2Router {
 public:
  std::shared_ptr<StreamHandler> Open(H2Stream*, H2Request*, const std::shared_ptr<const H2Peer>& peer,
                                      const std::shared_ptr<IoLoop>&) override {
    const absl::MutexLock lock(&mutex_);
    names_ = peer->certificate_names;
    return nullptr;
  }
  std::vector<std::string> names() const {
    const absl::MutexLock lock(&mutex_);
    return names_;
  }

 private:
  mutable absl::Mutex mutex_;
  std::vector<std::string> names_;
};

class H2TlsTest : public testing::Test {
 protected:
  H2TlsTest() {
    const test::CertificateAndKey own = authority_.Issue("server.test", {});
    context_ = TlsContext::Make({.certificate_pem = own.certificate_pem,
                                 .key_pem = own.key_pem,
                                 .client_ca_pem = authority_.certificate_pem()})
                   .value();
    HttpDoor door = {.tls = [this] { return context_; }, .router = &router_};
    door.wrong_door = [](Speech speech) { return std::string(speech == Speech::kHttp2 ? "With TLS, please." : "?"); };
    server_ = Serve(&handler_, {.door = door});
  }

  const test::TestAuthority authority_{"authority.test"};
  std::shared_ptr<const TlsContext> context_;
  InlineHandler handler_;
  PeerRouter router_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(H2TlsTest, ClientsThatOfferOnlyHttp2GetIt) {
  const std::string large(3 << 20, 'x');
  for (const auto& [offered, chosen] :
       {std::pair<std::string, std::string>{"\x02h2", "h2"}, {"\x02h2\x08http/1.1", "http/1.1"}, {"", ""}}) {
    H2Socket client(server_->address(), {.tls = H2Socket::Tls{.protocols = offered}});
    EXPECT_EQ(client.protocol(), chosen);
    // The first bytes decide all the same.
    ExpectServed(client);
    ExpectServed(client, large);
  }
  EXPECT_THAT(router_.names(), IsEmpty());
}

TEST_F(H2TlsTest, ThePeerHasTheNamesOfItsCertificate) {
  const test::CertificateAndKey identity = authority_.Issue("common", {"DNS:app.example.org", "IP:10.0.0.1"});
  H2Socket client(server_->address(), {.tls = H2Socket::Tls{.protocols = "\x02h2", .identity = &identity}});
  ExpectServed(client);
  EXPECT_THAT(router_.names(), ElementsAre("app.example.org", "10.0.0.1"));
  H2Socket other(server_->address(), {.tls = H2Socket::Tls{.protocols = "\x02h2"}});
  ExpectServed(other);
  EXPECT_THAT(router_.names(), IsEmpty());
}

TEST_F(H2TlsTest, PlainTextIsToldOfTls) {
  H2Socket client(server_->address());
  for (int i = 0; i < 2; ++i) {
    const H2Client::Answer& plain = client.Finish(client->Request("/", "x"));
    EXPECT_EQ(plain.Find(":status"), "400");
    EXPECT_EQ(plain.data, "With TLS, please.\n");
    const H2Client::Answer& call = client.Finish(client->Begin("/", true, kGrpc));
    EXPECT_EQ(call.Find("grpc-status"), "12");
    EXPECT_EQ(call.Find("grpc-message"), "With TLS, please.");
  }
}

// ---- Silence

TEST(H2Connection, IdleConnectionsAreToldAndClosed) {
  HoldingHandler handler;
  const auto server = Serve(&handler, {.idle_timeout = kShort});
  H2Socket busy(server->address());
  const int32_t stream = busy->Begin("/", true);
  busy.Send();
  std::vector<HoldingHandler::Held> held = handler.Take(1);
  H2Socket idle(server->address());
  idle.AwaitEnd();
  ASSERT_FALSE(idle->goaways().empty());
  EXPECT_EQ(idle->goaways()[0].last_stream, INT32_MAX);
  EXPECT_EQ(idle->goaways()[0].error, NGHTTP2_NO_ERROR);
  // It answers no ping, and does not close.
  RawHttpClient deaf(server->address());
  deaf.Send(RawPreface());
  const std::string frames = deaf.ReadToEnd();
  EXPECT_EQ(SplitFrames(frames).back().type, NGHTTP2_GOAWAY);
  EXPECT_EQ(SplitFrames(frames).back().payload, std::string(8, '\0'));
  WaitUntil([&] { return server->connections() == 1; });
  std::move(held[0].done)({.headers = {}, .body = "answer"});
  EXPECT_EQ(busy.Finish(stream).data, "answer");
  EXPECT_THAT(busy->goaways(), IsEmpty());
  busy.AwaitEnd();
  EXPECT_FALSE(busy->goaways().empty());
}

TEST(H2Connection, ClientsThatNeverReadAreCutOff) {
  InlineHandler handler(
      [](const HttpRequest&) { return HttpResponse{.headers = {}, .body = std::string(32 << 20, 'x')}; });
  const auto server = Serve(&handler, {.stall_timeout = kShort});
  H2Socket client(server->address(), WideWindows(64 << 10));
  client->GiveWindow(0, 1 << 30);
  client->Begin("/", true);
  client.Send();
  WaitUntil([&] { return server->held_bytes() > 0; });
  WaitUntil([&] { return server->held_bytes() == 0 && server->connections() == 0; });
  EXPECT_GE(server->h2_counts().stalled, 1);
  EXPECT_EQ(server->h2_counts().memory, 0);
}

TEST(H2Connection, WhenMemoryIsTightUnreadAnswersAreCutOffSooner) {
  MemoryBudget budget(100 << 20, 40 << 20);
  InlineHandler handler(
      [](const HttpRequest&) { return HttpResponse{.headers = {}, .body = std::string(32 << 20, 'x')}; });
  const auto server = Serve(&handler, {.budget = &budget, .unread_grace = kShort, .linger_timeout = kShort});
  H2Socket client(server->address(), WideWindows(64 << 10));
  client->GiveWindow(0, 1 << 30);
  client->Begin("/", true);
  client.Send();
  WaitUntil([&] { return server->held_bytes() > 0; });
  WaitUntil([&] { return server->held_bytes() == 0 && server->connections() == 0; });
  EXPECT_EQ(server->h2_counts().memory, 1);
  EXPECT_EQ(server->h2_counts().stalled, 0);
}

// ---- The server stops

TEST(H2Connection, ADrainClosesIdleConnectionsAndFinishesRequests) {
  HoldingHandler handler;
  const auto server = Serve(&handler);
  H2Socket idle(server->address());
  idle.RoundTrip();
  H2Socket busy(server->address());
  const int32_t stream = busy->Begin("/", true);
  busy.RoundTrip();
  std::vector<HoldingHandler::Held> held = handler.Take(1);
  std::thread stopping([&] { server->Stop(absl::InfiniteDuration()); });
  idle.AwaitEnd();
  EXPECT_FALSE(idle->goaways().empty());
  ASSERT_TRUE(busy.Await([&] { return busy->goaways().size() == 2; }));
  std::move(held[0].done)({.headers = {}, .body = "answer"});
  EXPECT_EQ(busy.Finish(stream).data, "answer");
  busy.AwaitEnd();
  stopping.join();
  EXPECT_EQ(server->h2_counts().connections, 0);
}

// The system may have all of an answer long before its client. Bytes from the client must not destroy it meanwhile.
TEST(H2Connection, TheLastAnswerOfADrainArrives) {
  const std::string body(8 << 20, 'x');
  HoldingHandler handler;
  const auto server = Serve(&handler);
  H2Socket client(server->address(), WideWindows(0));
  client->GiveWindow(0, 1 << 20);
  const int32_t stream = client->Begin("/", true);
  client.RoundTrip();
  std::vector<HoldingHandler::Held> held = handler.Take(1);
  std::thread stopping([&] { server->Stop(absl::InfiniteDuration()); });
  ASSERT_TRUE(client.Await([&] { return client->goaways().size() == 2; }));
  std::move(held[0].done)({.headers = {}, .body = body});
  const auto is_whole = [&] { return client->answer(stream).data.size() == body.size(); };
  while (!is_whole() && !client.has_ended()) {
    const size_t before = client->answer(stream).data.size();
    client.Await([&] { return client->answer(stream).data.size() > before; });
    client->Ping();
    client.Send();
  }
  EXPECT_EQ(client.Finish(stream).data.size(), body.size());
  client.AwaitEnd();
  stopping.join();
}

TEST(H2Connection, AfterTheGraceAllIsClosed) {
  HoldingHandler handler;
  auto server = Serve(&handler);
  H2Socket client(server->address());
  for (int i = 0; i < 10; ++i) client->Begin("/", true);
  client->Begin("/");
  client.RoundTrip();
  std::vector<HoldingHandler::Held> held = handler.Take(10);
  std::thread answering([&] {
    for (size_t i = 0; i < 5; ++i) std::move(held[i].done)({.headers = {}, .body = std::string(100'000, 'x')});
  });
  server->Stop(absl::ZeroDuration());
  answering.join();
  client.AwaitEnd();
  EXPECT_EQ(server->connections(), 0);
  server.reset();
  for (size_t i = 5; i < 10; ++i) std::move(held[i].done)({.headers = {}, .body = std::string(100'000, 'x')});
}

}  // namespace armature::daemon::h2_connection_test
