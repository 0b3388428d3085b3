// Plain HTTP over HTTP/2.

#include "daemon/http/h2_exchange.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/http/http_server.h"
#include "daemon/net/memory_budget.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tests/support/h2_socket.h"
#include "tests/unit/daemon/http/handlers.h"

namespace armature::daemon::h2_exchange_test {

using test::H2Socket;
using test::WaitUntil;
using testing::Contains;
using testing::ElementsAre;
using testing::Key;
using testing::Not;
using testing::Pair;

constexpr size_t kBodyMax = RequestLimits().body_bytes_max;

// Says what has arrived.
HttpResponse Describe(const HttpRequest& request) {
  std::string text = Cat(request.method, " ", request.target, " ", request.body.size(), "\n");
  for (const auto& [name, value] : request.headers) text += Cat(name, "=", value, "\n");
  return {.headers = {}, .body = std::move(text)};
}

int32_t RequestWithLength(H2Socket& client, std::string_view body) {
  const int32_t stream = client->Begin("/", false, {{"content-length", Cat(body.size())}});
  client->Send(stream, body);
  client->End(stream);
  return stream;
}

TEST(H2Exchange, TheHandlerSeesTheRequest) {
  InlineHandler handler(Describe);
  const auto server = Serve(&handler);
  H2Socket client(server->address());
  EXPECT_EQ(client.Finish(client->BeginAs("GET", "/path?query=1", true, {{"x-header", "Value"}, {"empty", ""}})).data,
            "GET /path?query=1 0\nhost=host\nx-header=Value\nempty=\n");
  EXPECT_EQ(client.Finish(client->Request("/", "12345")).data, "POST / 5\nhost=host\n");
  EXPECT_EQ(client.Finish(RequestWithLength(client, "12345")).data, "POST / 5\nhost=host\ncontent-length=5\n");
  EXPECT_EQ(client.Finish(client->Begin("/", true)).data, "POST / 0\nhost=host\n");
}

TEST(H2Exchange, AnswersHaveLowerCaseHeadersOfTheirOwnVersion) {
  InlineHandler handler([](const HttpRequest&) {
    return HttpResponse{.status = 201,
                        .headers = {{"Content-Type", "Text/Plain"},
                                    {"X-Amzn-RequestId", "ID"},
                                    {"Connection", "close"},
                                    {"Keep-Alive", "x"},
                                    {"Transfer-Encoding", "chunked"}},
                        .body = "body",
                        .close = true};
  });
  const auto server = Serve(&handler);
  H2Socket client(server->address());
  for (int i = 0; i < 2; ++i) {
    const H2Client::Answer& answer = client.Finish(client->Begin("/", true));
    EXPECT_THAT(answer.head, ElementsAre(Pair(":status", "201"), Key("date"), Pair("content-length", "4"),
                                         Pair("content-type", "Text/Plain"), Pair("x-amzn-requestid", "ID")));
    EXPECT_TRUE(answer.Find("date").ends_with(" GMT"));
    EXPECT_EQ(answer.data, "body");
    EXPECT_EQ(answer.closed_with, NGHTTP2_NO_ERROR);
  }
}

TEST(H2Exchange, AnswersWithoutBody) {
  InlineHandler handler([](const HttpRequest& request) {
    return HttpResponse{.headers = {}, .body = std::string(request.target.substr(1))};
  });
  const auto server = Serve(&handler);
  H2Socket client(server->address());
  const H2Client::Answer& head = client.Finish(client->BeginAs("HEAD", "/body", true));
  EXPECT_EQ(head.Find("content-length"), "4");
  EXPECT_EQ(head.data, "");
  EXPECT_EQ(head.closed_with, NGHTTP2_NO_ERROR);
  const H2Client::Answer& empty = client.Finish(client->BeginAs("GET", "/", true));
  EXPECT_EQ(empty.Find("content-length"), "0");
  EXPECT_EQ(empty.data_frames, 0);
  EXPECT_EQ(client.Finish(client->BeginAs("GET", "/body", true)).data, "body");
}

TEST(H2Exchange, AnswersForACacheHaveNoLength) {
  InlineHandler handler([](const HttpRequest&) { return HttpResponse{.status = 304, .headers = {}, .body = {}}; });
  const auto server = Serve(&handler);
  H2Socket client(server->address());
  const H2Client::Answer& known = client.Finish(client->BeginAs("GET", "/", true));
  EXPECT_THAT(known.head, ElementsAre(Pair(":status", "304"), Key("date")));
  EXPECT_EQ(known.closed_with, NGHTTP2_NO_ERROR);
}

TEST(H2Exchange, LargeBodiesBothWays) {
  InlineHandler handler;
  const auto server = Serve(&handler);
  H2Socket client(server->address());
  std::string body(kBodyMax, 'x');
  for (size_t i = 0; i < body.size(); i += 997) body[i] = static_cast<char>('a' + i % 26);
  for (const bool has_length : {true, false}) {
    const int32_t stream = has_length ? RequestWithLength(client, body) : client->Request("/", body);
    EXPECT_TRUE(client.Finish(stream).data == body);
    EXPECT_EQ(client->answer(stream).Find("content-length"), Cat(body.size()));
    client->Forget(stream);
  }
  WaitUntil([&] { return server->held_bytes() == 0; });
}

TEST(H2Exchange, TooLargeBodiesAreRefused) {
  InlineHandler handler;
  const auto server = Serve(&handler, {.limits = {.body_bytes_max = 100'000}});
  H2Socket client(server->address());
  for (const size_t bytes : {100'001, 1'000'000}) {
    const std::string body(bytes, 'x');
    for (const bool has_length : {true, false}) {
      const int32_t stream = has_length ? RequestWithLength(client, body) : client->Request("/", body);
      EXPECT_EQ(client.Finish(stream).Find(":status"), "413");
    }
  }
  EXPECT_EQ(client.Finish(RequestWithLength(client, std::string(100'000, 'x'))).data.size(), 100'000);
  WaitUntil([&] { return server->held_bytes() == 0; });
}

TEST(H2Exchange, TooLargeHeadsAreRefused) {
  InlineHandler handler;
  const auto server = Serve(&handler);
  H2Socket client(server->address());
  const H2Fields many = {{"a", std::string(9'000, 'a')}, {"b", std::string(9'000, 'b')}};
  EXPECT_EQ(client.Finish(client->Begin("/", true, many)).Find(":status"), "400");
  EXPECT_EQ(client.Finish(client->Request("/", "x")).data, "x");
}

TEST(H2Exchange, WithoutMemoryBodiesAreRefused) {
  MemoryBudget budget(1 << 20, 1 << 20);
  InlineHandler handler;
  const auto server = Serve(&handler, {.budget = &budget});
  H2Socket client(server->address());
  const std::string body(500'000, 'x');
  budget.Take({}, 600'000);
  for (const bool has_length : {true, false}) {
    const int32_t stream = has_length ? RequestWithLength(client, body) : client->Request("/", body);
    EXPECT_EQ(client.Finish(stream).Find(":status"), "503");
  }
  EXPECT_EQ(client.Finish(client->Request("/", "small")).data, "small");
  budget.Take({}, 600'000);
  EXPECT_EQ(client.Finish(client->Request("/", "small")).Find(":status"), "503");
  budget.Return({}, 1'200'000);
  EXPECT_EQ(client.Finish(RequestWithLength(client, body)).data.size(), body.size());
  WaitUntil([&] { return server->held_bytes() == 0; });
}

TEST(H2Exchange, AnswersWithoutMemoryAreRefusedIfTheyMay) {
  MemoryBudget budget(1 << 20, 1 << 20);
  InlineHandler handler([](const HttpRequest& request) {
    return HttpResponse{
        .headers = {}, .body = std::string(2 << 20, 'x'), .may_refuse = request.target == "/may_be_refused"};
  });
  const auto server = Serve(&handler, {.budget = &budget});
  H2Socket client(server->address());
  EXPECT_EQ(client.Finish(client->Begin("/may_be_refused", true)).Find(":status"), "503");
  EXPECT_EQ(client.Finish(client->Begin("/", true)).data.size(), 2 << 20);
  WaitUntil([&] { return server->held_bytes() == 0; });
}

TEST(H2Exchange, OtherThreadsAnswerInAnyOrder) {
  constexpr size_t kRequests = 50;
  HoldingHandler handler;
  const auto server = Serve(&handler);
  H2Socket client(server->address());
  std::vector<int32_t> streams;
  for (size_t i = 0; i < kRequests; ++i) streams.push_back(client->Begin(Cat("/", i), true));
  client.RoundTrip();
  std::vector<HoldingHandler::Held> held = handler.Take(kRequests);
  for (size_t i = 0; i < kRequests; i += 5) client->Reset(streams[i]);
  client.Send();
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 5; ++t) {
    threads.emplace_back([&held, t] {
      for (size_t i = kRequests; i-- > 0;) {
        if (i % 5 == t) std::move(held[i].done)({.headers = {}, .body = held[i].request.target});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < kRequests; ++i) {
    const std::string expected = i % 5 == 0 ? "" : Cat("/", i);
    EXPECT_EQ(client.Finish(streams[i]).data, expected);
  }
}

// Requests that a client has broken off may still run.
TEST(H2Exchange, RequestsThatStillRunAreBounded) {
  constexpr size_t kMax = H2Peer::kRunningMax;
  HoldingHandler handler;
  const auto server = Serve(&handler);
  H2Socket client(server->address());
  constexpr size_t kAtOnce = 50;
  for (size_t begun = 0; begun < kMax; begun += kAtOnce) {
    std::vector<int32_t> streams;
    for (size_t i = 0; i < kAtOnce; ++i) streams.push_back(client->Begin("/", true));
    client.RoundTrip();
    for (const int32_t stream : streams) client->Reset(stream);
    client.RoundTrip();
  }
  std::vector<HoldingHandler::Held> held = handler.Take(kMax);
  EXPECT_EQ(client.Finish(client->Begin("/", true)).Find(":status"), "503");
  for (HoldingHandler::Held& each : held) std::move(each.done)({});
  held.clear();
  const int32_t served = client->Begin("/", true);
  client.RoundTrip();
  std::move(handler.Take(1).front().done)({.headers = {}, .body = "served"});
  EXPECT_EQ(client.Finish(served).data, "served");
}

TEST(H2Exchange, SlowBodiesAreRefused) {
  InlineHandler handler;
  const auto server = Serve(&handler, {.stall_timeout = absl::Milliseconds(40)});
  H2Socket client(server->address());
  const int32_t stream = client->Begin("/", false, {{"content-length", "1000000"}});
  client->Send(stream, "begin");
  EXPECT_EQ(client.Finish(stream).Find(":status"), "408");
  EXPECT_EQ(client->answer(stream).closed_with, NGHTTP2_NO_ERROR);
  EXPECT_EQ(server->h2_counts().stalled, 1);
  WaitUntil([&] { return server->held_bytes() == 0; });
  EXPECT_EQ(client.Finish(client->Request("/", "x")).data, "x");
}

}  // namespace armature::daemon::h2_exchange_test
