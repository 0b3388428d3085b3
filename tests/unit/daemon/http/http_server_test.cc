#include "daemon/http/http_server.h"

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "storage/base/thread_pool.h"
#include "tests/support/raw_http_client.h"
#include "tests/unit/daemon/http/handlers.h"

namespace armature::daemon::http_server_test {

using test::Post;
using test::RawHttpClient;
using test::RawResponse;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() : server_(Serve(&handler_)), client_(server_->address()) {}

  InlineHandler handler_;
  std::unique_ptr<HttpServer> server_;
  RawHttpClient client_;
};

TEST_F(HttpServerTest, AnswersWithLengthAndDateAndKeepsTheConnection) {
  for (int i = 0; i < 3; ++i) {
    client_.Send(Post("hello"));
    const RawResponse response = client_.Read();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.reason, "OK");
    EXPECT_EQ(response.body, "hello");
    EXPECT_THAT(response.headers.at("date"), testing::EndsWith(" GMT"));
    EXPECT_THAT(response.headers, Not(Contains(Key("connection"))));
  }
}

TEST_F(HttpServerTest, HandlesAHundredPipelinedRequestsInOrder) {
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += Post(Cat("request ", i));
  client_.Send(requests);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client_.Read().body, Cat("request ", i));
}

TEST_F(HttpServerTest, BodiesOfAllSizesComeBackWhole) {
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{16} << 10, (size_t{16} << 10) + 1, size_t{70'000}, size_t{16} << 20}) {
    std::string body(size, 'x');
    for (size_t i = 0; i < size; i += 997) body[i] = static_cast<char>('a' + i % 26);
    client_.Send(Post(body) + Post("next"));
    EXPECT_TRUE(client_.Read().body == body) << size;
    EXPECT_EQ(client_.Read().body, "next");
  }
}

TEST_F(HttpServerTest, ChunkedBodiesAndTrailers) {
  client_.Send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  client_.Send("6;name=value\r\n world\r\n0\r\nX-Trailer: x\r\n\r\n");
  EXPECT_EQ(client_.Read().body, "hello world");
  client_.Send(Post("next"));
  EXPECT_EQ(client_.Read().body, "next");
}

TEST_F(HttpServerTest, BytesMayComeOneByOne) {
  for (const char byte : Post("slow") + Post("and steady")) client_.Send({&byte, 1});
  EXPECT_EQ(client_.Read().body, "slow");
  EXPECT_EQ(client_.Read().body, "and steady");
}

TEST_F(HttpServerTest, ContinueIsSaidOnceToThoseWhoWaitForIt) {
  const std::string body(20'000, 'x');
  client_.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 20000\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client_.Read().status, 100);
  client_.Send(std::string_view(body).substr(0, 10'000));
  while (server_->held_bytes() == 0) std::this_thread::yield();  // the server has read it
  client_.Send(std::string_view(body).substr(10'000));
  EXPECT_EQ(client_.Read().body, body);
  // A client that sends the body at once does not wait for 100 Continue.
  client_.Send(Post("at once", "Expect: 100-continue\r\n"));
  EXPECT_EQ(client_.Read().status, 200);
}

TEST_F(HttpServerTest, TooLargeABodyIsRefusedInsteadOfContinued) {
  client_.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 16777217\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client_.Read().status, 413);
}

TEST_F(HttpServerTest, OtherExpectationsFail) {
  client_.Send(Post("x", "Expect: 200-ok\r\n"));
  EXPECT_EQ(client_.Read().status, 417);
  EXPECT_EQ(client_.ReadToEnd(), "");
}

TEST_F(HttpServerTest, OldClientsSayIfTheyStay) {
  client_.Send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(client_.Read().headers, Contains(Pair("connection", "keep-alive")));
  client_.Send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(client_.Read().headers, Contains(Pair("connection", "close")));
  EXPECT_EQ(client_.ReadToEnd(), "");
}

TEST_F(HttpServerTest, CloseIsHonouredAndWhatFollowsIsNot) {
  client_.Send(Post("last", "Connection: close\r\n") + Post("too late"));
  const RawResponse response = client_.Read();
  EXPECT_EQ(response.body, "last");
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_EQ(client_.ReadToEnd(), "");
}

TEST_F(HttpServerTest, HeadHasTheLengthButNoBody) {
  client_.Send("HEAD / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" + Post("next"));
  EXPECT_EQ(client_.Read(/*has_body=*/false).headers.at("content-length"), "3");
  EXPECT_EQ(client_.Read().body, "next");
}

TEST(HttpServer, AnswersForACacheHaveNoLength) {
  InlineHandler handler([](const HttpRequest& request) {
    return HttpResponse{.status = request.method == "GET" ? 304u : 200u, .headers = {}, .body = request.body};
  });
  const auto server = Serve(&handler);
  RawHttpClient client(server->address());
  client.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n" + Post("next"));
  const RawResponse known = client.Read(/*has_body=*/false);
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(known.reason, "Not Modified");
  EXPECT_THAT(known.headers, Not(Contains(Key("content-length"))));
  EXPECT_EQ(client.Read().body, "next");
}

TEST_F(HttpServerTest, HalfClosedConnectionsGetTheirAnswers) {
  client_.Send(Post("one") + Post("two"));
  client_.EndSending();
  EXPECT_EQ(client_.Read().body, "one");
  EXPECT_EQ(client_.Read().body, "two");
  EXPECT_EQ(client_.ReadToEnd(), "");
}

TEST_F(HttpServerTest, TruncatedRequestsAreRefused) {
  for (const std::string_view part :
       {"POST", "POST / HTTP/1.1\r\nHo", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"}) {
    RawHttpClient client(server_->address());
    client.Send(part);
    client.EndSending();
    EXPECT_EQ(client.Read().status, 400) << part;
    EXPECT_EQ(client.ReadToEnd(), "");
  }
}

TEST_F(HttpServerTest, MalformedRequestsAreRefusedAfterThoseBefore) {
  client_.Send(Post("good") +
               "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nPOST");
  EXPECT_EQ(client_.Read().body, "good");
  const RawResponse response = client_.Read();
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_EQ(client_.ReadToEnd(), "");
}

TEST_F(HttpServerTest, HandlersSeeTheRequestAsItWasSent) {
  std::string seen;
  InlineHandler handler([&seen](const HttpRequest& request) {
    seen = Cat(request.method, " ", request.target, "\n");
    for (const auto& header : request.headers) seen += Cat(header.name, "=", header.value, "\n");
    return HttpResponse{.headers = {{"X-Peer", request.peer}}, .body = {}};
  });
  const auto server = Serve(&handler);
  RawHttpClient client(server->address());
  client.Send("PUT /a%20b?c=d HTTP/1.1\r\nHost: one:1\r\nX-A:  b  c \r\nx-a: d\r\n\r\n");
  EXPECT_THAT(client.Read().headers.at("x-peer"), StartsWith("127.0.0.1:"));
  EXPECT_EQ(seen, "PUT /a%20b?c=d\nhost=one:1\nx-a=b  c\nx-a=d\n");
}

TEST(HttpServer, ServesIpv6) {
  InlineHandler handler([](const HttpRequest& request) { return HttpResponse{.headers = {}, .body = request.peer}; });
  const auto server = Serve(&handler, {.door = {.listen = "[::1]:0"}});
  EXPECT_THAT(server->address(), StartsWith("[::1]:"));
  RawHttpClient client(server->address());
  client.Send(Post("x"));
  EXPECT_THAT(client.Read().body, StartsWith("[::1]:"));
}

TEST(HttpServer, AddressesThatCannotBeListenedOn) {
  InlineHandler handler;
  for (const char* address :
       {"", "127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:65536", "127.0.0.1:x", "::1:80", "[]:80"}) {
    const auto server = HttpServer::Start({.door = {.listen = address}}, &handler);
    EXPECT_EQ(server.status().message(), Cat("'", address, "' is not an address; write HOST:PORT or [IPV6]:PORT"));
  }
  const auto first = Serve(&handler);
  const auto second = HttpServer::Start({.door = {.listen = first->address()}}, &handler);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(second.status().message(), Cat("cannot listen on ", first->address(), ": Address already in use"));
}

TEST(HttpServer, AnswersMayComeLaterAndFromAnyThread) {
  HoldingHandler handler;
  const auto server = Serve(&handler);
  RawHttpClient client(server->address());
  client.Send(Post("one") + Post("two"));
  for (const char* body : {"one", "two"}) {
    // The second request is not handled before the first is answered.
    std::vector<HoldingHandler::Held> held = handler.Take(1);
    ASSERT_EQ(held.size(), 1);
    EXPECT_EQ(held[0].request.body, body);
    std::move(held[0].done)({.headers = {}, .body = held[0].request.body});
    EXPECT_EQ(client.Read().body, body);
  }
}

TEST(HttpServer, AnAnswerWithoutItsClientIsForgotten) {
  HoldingHandler handler;
  const auto server = Serve(&handler);
  {
    RawHttpClient client(server->address());
    client.Send(Post("x"));
    EXPECT_EQ(handler.Take(1).size(), 1);  // drops `done`, which real handlers must not do
  }
  std::vector<HoldingHandler::Held> held;
  {
    RawHttpClient client(server->address());
    client.Send(Post("y"));
    held = handler.Take(1);
  }
  std::move(held[0].done)({.headers = {}, .body = std::string(1 << 20, 'z')});
  RawHttpClient client(server->address());
  client.Send(Post("still there"));
  held = handler.Take(1);
  std::move(held[0].done)({.headers = {}, .body = held[0].request.body});
  EXPECT_EQ(client.Read().body, "still there");
}

// Answers "now" directly with a long answer, other requests from another thread with a short one.
class NowOrLaterHandler final : public HttpHandler {
 public:
  NowOrLaterHandler() : thread_("later", 1, 1 << 20) {}

  void Handle(HttpRequest request, Done done) override {
    if (request.body == "now") return std::move(done)({.headers = {}, .body = std::string(12'000, 'n')});
    Task task = [done = std::move(done)]() mutable { std::move(done)({.headers = {}, .body = "later"}); };
    ASSERT_TRUE(thread_.TryRun(task));
  }

 private:
  ThreadPool thread_;
};

TEST(HttpServer, AnswersWaitForEarlierOnesThatCannotBeWritten) {
  NowOrLaterHandler handler;
  const auto server = Serve(&handler);
  RawHttpClient client(server->address(), /*receive_buffer=*/4096);
  constexpr int kPairs = 1000;
  std::string requests;
  for (int i = 0; i < kPairs; ++i) requests += Post("now") + Post("later");
  client.Send(requests);
  while (server->held_bytes() == 0) std::this_thread::yield();
  for (int i = 0; i < kPairs; ++i) {
    ASSERT_EQ(client.Read().body.size(), 12'000);
    ASSERT_EQ(client.Read().body, "later");
  }
}

// Answers some requests directly, some from the thread of another request, some from its own threads.
class MixingHandler final : public HttpHandler {
 public:
  MixingHandler() : threads_("mixing", 2, 1 << 20) {}

  void Handle(HttpRequest request, Done done) override {
    const unsigned way = ways_.fetch_add(1) % 3;
    const auto answer = [](HttpRequest& asked) {
      return HttpResponse{.headers = {{"X-Id", *asked.Find("x-id")}}, .body = std::move(asked.body)};
    };
    if (way == 0) return std::move(done)(answer(request));
    if (way == 1) {
      Task task = [request = std::move(request), done = std::move(done), answer]() mutable {
        std::move(done)(answer(request));
      };
      ASSERT_TRUE(threads_.TryRun(task));
      return;
    }
    HoldingHandler::Held parked{std::move(request), std::move(done)};
    {
      absl::MutexLock lock(&mutex_);
      std::swap(parked, parked_);
    }
    if (parked.done) std::move(parked.done)(answer(parked.request));
  }

  void AnswerParked() {
    HoldingHandler::Held parked;
    {
      absl::MutexLock lock(&mutex_);
      std::swap(parked, parked_);
    }
    if (parked.done)
      std::move(parked.done)({.headers = {{"X-Id", *parked.request.Find("x-id")}}, .body = parked.request.body});
  }

 private:
  std::atomic<unsigned> ways_ = 0;
  absl::Mutex mutex_;
  HoldingHandler::Held parked_;
  ThreadPool threads_;
};

// Sends bursts of requests of all sizes, and checks that each answer belongs to its request.
void TalkToServer(const std::string& address, unsigned seed, int bursts) {
  std::mt19937 random(seed);
  RawHttpClient client(address);
  for (int burst = 0; burst < bursts; ++burst) {
    std::vector<std::string> bodies;
    std::string requests;
    for (unsigned i = 0; i < 1 + random() % 8; ++i) {
      const size_t size = random() % 10 == 0 ? random() % 100'000 : random() % 500;
      bodies.push_back(Cat(seed, "/", burst, "/", i, ":", std::string(size, static_cast<char>('a' + random() % 26))));
      requests += Post(bodies.back(), Cat("X-Id: ", seed, "/", burst, "/", i, "\r\n"));
    }
    client.Send(requests);
    for (size_t i = 0; i < bodies.size(); ++i) {
      const RawResponse response = client.Read();
      ASSERT_TRUE(response.body == bodies[i]) << "not the answer to request " << i << " of burst " << burst;
      ASSERT_EQ(response.headers.at("x-id"), Cat(seed, "/", burst, "/", i));
    }
  }
}

TEST(HttpServer, UnderLoadEachAnswerBelongsToItsRequest) {
  MixingHandler handler;
  const auto server = Serve(&handler);
  constexpr unsigned kClients = 16;
  std::atomic<unsigned> talking = kClients;
  std::vector<std::thread> clients;
  for (unsigned i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      TalkToServer(server->address(), i, 60);
      --talking;
    });
  }
  // The last parked request is answered by the test.
  while (talking > 0) {
    handler.AnswerParked();
    std::this_thread::yield();
  }
  for (std::thread& client : clients) client.join();
}

}  // namespace armature::daemon::http_server_test
