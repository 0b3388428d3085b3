// Clients that exceed limits or are too slow.

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/notification.h"
#include "daemon/http/http_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tests/support/raw_http_client.h"
#include "tests/unit/daemon/http/handlers.h"

namespace armature::daemon::http_limits_test {

using test::Post;
using test::RawHttpClient;
using test::RawResponse;

constexpr std::string_view kHead = "POST / HTTP/1.1\r\nHost: h\r\n";
constexpr absl::Duration kShort = absl::Milliseconds(40);

// Expects that the server still answers.
void ExpectServing(const HttpServer& server) {
  RawHttpClient client(server.address());
  client.Send(Post("anybody there?"));
  EXPECT_EQ(client.Read().body, "anybody there?");
}

// True if a new connection gets an answer.
bool IsServed(const std::string& address) {
  try {
    RawHttpClient client(address);
    client.Send(Post("x"));
    return client.Read().status == 200;
  } catch (const std::runtime_error&) {
    return false;  // closed before an answer
  }
}

// Waits, because the server notices the end of a client a little later.
void AwaitHeldBytes(const HttpServer& server, size_t bytes) {
  while (server.held_bytes() != bytes) std::this_thread::yield();
}

// One read brings all of them.
TEST(HttpLimits, RequestsSentAheadAreHandledInTurns) {
  constexpr int kAhead = 1000;
  absl::Notification is_begun;
  absl::Notification go_on;
  int handled = 0;
  int before_other = -1;
  InlineHandler handler([&](const HttpRequest& request) {
    if (request.body == "other") {
      before_other = handled;
    } else if (++handled == 1) {
      is_begun.Notify();
      go_on.WaitForNotification();
    }
    return HttpResponse{.headers = {}, .body = request.body};
  });
  const auto server = Serve(&handler, {.io_threads = 1});
  RawHttpClient many(server->address());
  RawHttpClient other(server->address());
  std::string ahead;
  for (int i = 0; i < kAhead; ++i) ahead += Post("x");
  ASSERT_LT(ahead.size(), size_t{64} << 10);
  many.Send(ahead);
  is_begun.WaitForNotification();
  other.Send(Post("other"));
  go_on.Notify();
  EXPECT_EQ(other.Read().body, "other");
  for (int i = 0; i < kAhead; ++i) ASSERT_EQ(many.Read().body, "x");
  EXPECT_GE(before_other, 1);
  EXPECT_LT(before_other, kAhead / 4);
}

TEST(HttpLimits, SlowHeadersAreRefused) {
  InlineHandler handler;
  const auto server = Serve(&handler, {.head_timeout = kShort});
  RawHttpClient client(server->address());
  client.Send(Post("first"));
  EXPECT_EQ(client.Read().body, "first");
  client.Send("POST / HTTP/1.1\r\nHo");
  const RawResponse response = client.Read();
  EXPECT_EQ(response.status, 408);
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_EQ(client.ReadToEnd(), "");
}

// The client keeps its connection open. Its headers must not be held until it closes.
TEST(HttpLimits, RefusedHeadersAreNotKeptUntilTheConnectionEnds) {
  InlineHandler handler;
  const auto server = Serve(&handler, {.head_timeout = kShort, .linger_timeout = absl::Hours(1)});
  RawHttpClient client(server->address());
  client.Send(Cat(kHead, "A: ", std::string(12 << 10, 'x')));  // as much as is counted as held
  EXPECT_EQ(client.Read().status, 408);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (server->held_bytes() > 0 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  EXPECT_EQ(server->held_bytes(), 0u);
  EXPECT_EQ(server->connections(), 1u);
}

TEST(HttpLimits, SendingHeadersByTheByteBuysNoTime) {
  InlineHandler handler;
  const auto server = Serve(&handler, {.head_timeout = kShort, .linger_timeout = kShort});
  RawHttpClient client(server->address());
  client.Send(kHead);
  // Throws when the server has closed the connection.
  const auto trickle = [&client] {
    for (;;) client.Send("a");
  };
  EXPECT_THROW(trickle(), std::runtime_error);
}

TEST(HttpLimits, BodiesThatStandStillAreRefused) {
  InlineHandler handler;
  const auto server = Serve(&handler, {.stall_timeout = kShort});
  RawHttpClient client(server->address());
  client.Send(Cat(kHead, "Content-Length: 100000\r\n\r\n", std::string(50'000, 'x')));
  EXPECT_EQ(client.Read().status, 408);
  EXPECT_EQ(client.ReadToEnd(), "");
  AwaitHeldBytes(*server, 0);
}

TEST(HttpLimits, BodiesThatMoveMayTakeTheirTime) {
  InlineHandler handler;
  constexpr std::chrono::milliseconds kStall(400);
  const auto server = Serve(&handler, {.bytes_per_second_min = 1, .stall_timeout = absl::FromChrono(kStall)});
  RawHttpClient client(server->address());
  client.Send(Cat(kHead, "Transfer-Encoding: chunked\r\n\r\n"));
  size_t sent = 0;
  const auto end = std::chrono::steady_clock::now() + 3 * kStall;
  for (; std::chrono::steady_clock::now() < end; ++sent) {
    client.Send("1\r\nx\r\n");
    ExpectServing(*server);
  }
  client.Send("0\r\n\r\n");
  EXPECT_EQ(client.Read().body, std::string(sent, 'x'));
}

TEST(HttpLimits, IdleConnectionsEndQuietly) {
  InlineHandler handler;
  const auto server = Serve(&handler, {.idle_timeout = kShort});
  RawHttpClient never(server->address());
  RawHttpClient once(server->address());
  once.Send(Post("x"));
  EXPECT_EQ(once.Read().body, "x");
  EXPECT_EQ(never.ReadToEnd(), "");
  EXPECT_EQ(once.ReadToEnd(), "");
  while (server->connections() > 0) std::this_thread::yield();
}

TEST(HttpLimits, EmptyLinesDoNotKeepAConnectionOpen) {
  for (const std::string_view drop : {"\r\n", "\r"}) {
    InlineHandler handler;
    const auto server = Serve(&handler, {.idle_timeout = kShort, .head_timeout = absl::Hours(1)});
    RawHttpClient client(server->address());
    client.Send(Post("x"));
    EXPECT_EQ(client.Read().body, "x");
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::string_view next = drop;
    while (server->connections() > 0 && std::chrono::steady_clock::now() < give_up) {
      // It may have been closed just now.
      try {
        client.Send(next);
      } catch (const std::runtime_error&) {
        break;
      }
      if (drop == "\r") next = next == "\r" ? "\n" : "\r";
    }
    EXPECT_LT(std::chrono::steady_clock::now(), give_up) << drop.size();
  }
}

TEST(HttpLimits, HandlersMayTakeTheirTime) {
  HoldingHandler handler;
  const auto server = Serve(
      &handler, {.idle_timeout = kShort, .head_timeout = kShort, .stall_timeout = kShort, .linger_timeout = kShort});
  RawHttpClient client(server->address());
  client.Send(Post("patience"));
  std::vector<HoldingHandler::Held> held = handler.Take(1);
  // Meanwhile another connection reaches its idle timeout.
  EXPECT_EQ(RawHttpClient(server->address()).ReadToEnd(), "");
  std::move(held[0].done)({.headers = {}, .body = "at last"});
  EXPECT_EQ(client.Read().body, "at last");
}

TEST(HttpLimits, ClientsThatNeverReadAreCutOff) {
  InlineHandler handler(
      [](const HttpRequest&) { return HttpResponse{.headers = {}, .body = std::string(32 << 20, 'x')}; });
  const auto server = Serve(&handler, {.stall_timeout = kShort});
  RawHttpClient client(server->address(), /*receive_buffer=*/4096);
  client.Send(Post("a"));
  while (server->held_bytes() == 0) std::this_thread::yield();
  AwaitHeldBytes(*server, 0);
  while (server->connections() > 0) std::this_thread::yield();
}

TEST(HttpLimits, NothingIsReadFromThoseWhoDoNotRead) {
  size_t requests = 0;  // of one connection, so on one thread
  InlineHandler handler([&requests](const HttpRequest&) {
    ++requests;
    return HttpResponse{.headers = {}, .body = std::string(1 << 20, 'x')};
  });
  std::string pipeline;
  for (int i = 0; i < 2000; ++i) pipeline += Post("more");
  const auto server = Serve(&handler);
  {
    RawHttpClient client(server->address(), /*receive_buffer=*/4096);
    client.Send(pipeline);
    while (server->held_bytes() == 0) std::this_thread::yield();
    EXPECT_LT(server->held_bytes(), 3 << 20);
  }
  AwaitHeldBytes(*server, 0);
  server->Stop(absl::InfiniteDuration());
  EXPECT_LT(requests, 100);
}

TEST(HttpLimits, TooLargeBodiesAreAnsweredToThoseWhoSendAllBeforeTheyRead) {
  InlineHandler handler;
  const auto server = Serve(&handler);
  const std::string body(20 << 20, 'x');
  for (const std::string& request :
       {Cat(kHead, "Content-Length: ", body.size(), "\r\n\r\n", body),
        Cat(kHead, "Transfer-Encoding: chunked\r\n\r\n1400000\r\n", body, "\r\n0\r\n\r\n"),
        Cat(kHead, "Transfer-Encoding: chunked\r\n\r\na00000\r\n", body.substr(0, 10 << 20), "\r\na00000\r\n",
            body.substr(10 << 20), "\r\n0\r\n\r\n")}) {
    RawHttpClient client(server->address());
    client.Send(request);
    const RawResponse response = client.Read();
    EXPECT_EQ(response.status, 413);
    EXPECT_EQ(response.body, "");
    EXPECT_EQ(response.headers.at("connection"), "close");
    EXPECT_EQ(client.ReadToEnd(), "");
  }
  ExpectServing(*server);
}

TEST(HttpLimits, WhatIsThrownAwayIsBoundedToo) {
  InlineHandler handler;
  const auto server = Serve(&handler, {.linger_bytes_max = 1 << 20});
  RawHttpClient client(server->address());
  client.Send(Cat(kHead, "Content-Length: 1000000000000\r\n\r\n"));
  EXPECT_EQ(client.Read().status, 413);
  const auto flood = [&client] {
    const std::string piece(1 << 20, 'x');
    for (;;) client.Send(piece);
  };
  EXPECT_THROW(flood(), std::runtime_error);
  ExpectServing(*server);
}

TEST(HttpLimits, HeaderFloodIsRefused) {
  InlineHandler handler;
  const auto server = Serve(&handler, {.linger_bytes_max = 1 << 20});
  RawHttpClient client(server->address());
  const auto flood = [&client] {
    client.Send(kHead);
    for (;;) client.Send("X-Header: and another one\r\n");
  };
  // The answer, then the end of the connection: later input is discarded only up to a limit.
  EXPECT_THROW(flood(), std::runtime_error);
  EXPECT_THAT(client.ReadToEnd(), testing::AnyOf(testing::StartsWith("HTTP/1.1 400 Bad Request\r\n"), ""));
  ExpectServing(*server);
}

TEST(HttpLimits, HeadersBeyondTheirLimitAre400) {
  InlineHandler handler;
  const auto server = Serve(&handler);
  for (const std::string& request : {Cat(kHead, "A: ", std::string(17 << 10, 'x'), "\r\n\r\n"),
                                     Cat("POST /", std::string(17 << 10, 'x'), " HTTP/1.1\r\nHost: h\r\n\r\n")}) {
    RawHttpClient client(server->address());
    client.Send(request);
    EXPECT_EQ(client.Read().status, 400);
    EXPECT_EQ(client.ReadToEnd(), "");
  }
}

TEST(HttpLimits, BodiesOfAllConnectionsTogetherAreBounded) {
  InlineHandler handler;
  // With one loop the connection that exceeds the limit is the one that takes a turn, and is refused. With several,
  // another one that takes a turn at that moment may be refused as well.
  const auto server = Serve(&handler, {.io_threads = 1, .held_bytes_max = 1 << 20});
  const std::string most(400 << 10, 'x');
  const std::string head = Cat(kHead, "Content-Length: ", most.size() + 1, "\r\n\r\n");
  std::vector<std::unique_ptr<RawHttpClient>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<RawHttpClient>(server->address()));
    clients.back()->Send(head + most);
  }
  while (server->held_bytes() < 800 << 10) std::this_thread::yield();
  // Small requests fit into the memory limit, this one does not.
  ExpectServing(*server);
  RawHttpClient too_much(server->address());
  too_much.Send(head + most);
  const RawResponse response = too_much.Read();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers.at("connection"), "close");
  for (const auto& client : clients) {
    client->Send("y");
    EXPECT_EQ(client->Read().body, most + "y");
  }
  AwaitHeldBytes(*server, 0);
}

TEST(HttpLimits, SmallRequestsAreServedWhileLargeOnesUseTheirPart) {
  HoldingHandler handler;
  const auto server = Serve(&handler, {.held_bytes_max = 1 << 20});
  RawHttpClient holder(server->address());
  holder.Send(Post(std::string(500 << 10, 'x')));
  RawHttpClient second(server->address());
  second.Send(Post(std::string(370 << 10, 'x')));
  std::vector<HoldingHandler::Held> held = handler.Take(2);
  RawHttpClient large(server->address());
  large.Send(Post(std::string(60 << 10, 'x')));
  EXPECT_EQ(large.Read().status, 503);
  RawHttpClient small(server->address());
  small.Send(Post("small"));
  std::vector<HoldingHandler::Held> others = handler.Take(1);
  std::move(others[0].done)({.headers = {}, .body = "served"});
  EXPECT_EQ(small.Read().body, "served");
  for (HoldingHandler::Held& each : held) std::move(each.done)({.headers = {}, .body = "at last"});
  EXPECT_EQ(holder.Read().body, "at last");
  EXPECT_EQ(second.Read().body, "at last");
}

TEST(HttpLimits, ReadsWithLargeAnswersAreRefusedWithoutRoom) {
  InlineHandler handler([](const HttpRequest& request) {
    return HttpResponse{.headers = {}, .body = std::string(2 << 20, 'x'), .may_refuse = request.body == "read"};
  });
  const auto server = Serve(&handler, {.held_bytes_max = 1 << 20});
  RawHttpClient client(server->address());
  client.Send(Post("read"));
  EXPECT_EQ(client.Read().status, 503);
  client.Send(Post("write"));
  EXPECT_EQ(client.Read().body.size(), 2u << 20) << "it has happened";
}

// Bytes that the system keeps to be sent, over all connections from the local port of `address`.
size_t KeptBySystem(const std::string& address) {
  const std::string port = absl::StrFormat(":%04X", std::stoi(address.substr(address.rfind(':') + 1)));
  std::ifstream table("/proc/net/tcp");
  size_t kept = 0;
  for (std::string line; std::getline(table, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    constexpr size_t kLocal = 1;
    constexpr size_t kQueues = 4;
    if (words.size() > kQueues && absl::EndsWith(words[kLocal], port)) kept += std::stoul(words[kQueues], nullptr, 16);
  }
  return kept;
}

TEST(HttpLimits, TheSystemKeepsLittleOfUnreadAnswers) {
  InlineHandler handler(
      [](const HttpRequest&) { return HttpResponse{.headers = {}, .body = std::string(8 << 20, 'x')}; });
  const auto server = Serve(&handler);
  RawHttpClient client(server->address(), /*receive_buffer=*/4096);
  client.Send(Post("a"));
  while (server->held_bytes() == 0) std::this_thread::yield();
  EXPECT_LT(KeptBySystem(server->address()), 512u << 10);
}

TEST(HttpLimits, AnswersCountBeforeTheirConnectionsTakeThem) {
  HoldingHandler handler;
  const auto server = Serve(&handler, {.io_threads = 1, .held_bytes_max = 8 << 20});
  RawHttpClient first(server->address());
  RawHttpClient second(server->address());
  RawHttpClient busy(server->address());
  first.Send(Post("a"));
  second.Send(Post("b"));
  std::vector<HoldingHandler::Held> held = handler.Take(2);
  // Answers of other threads come faster than the only I/O thread takes them.
  absl::Notification goes_on;
  handler.on_request = [&] { goes_on.WaitForNotification(); };
  busy.Send(Post("c"));
  while (!handler.is_in_request) std::this_thread::yield();
  for (HoldingHandler::Held& each : held) {
    std::move(each.done)({.headers = {}, .body = std::string(5 << 20, 'x'), .may_refuse = true});
  }
  EXPECT_EQ(server->held_bytes(), 5u << 20) << "the second was refused at once";
  goes_on.Notify();
  std::move(handler.Take(1).front().done)({.headers = {}, .body = "d"});
  EXPECT_EQ(busy.Read().body, "d");
  const int statuses = first.Read().status + second.Read().status;
  EXPECT_EQ(statuses, 200 + 503);
}

TEST(HttpLimits, UnreadAnswersAreBrokenOffWhenMemoryIsShort) {
  InlineHandler handler(
      [](const HttpRequest&) { return HttpResponse{.headers = {}, .body = std::string(32 << 20, 'x')}; });
  // Stalls alone end nothing here.
  const auto server = Serve(
      &handler,
      {.held_bytes_max = 1 << 20, .head_timeout = kShort, .stall_timeout = absl::Hours(1), .unread_grace = kShort});
  RawHttpClient client(server->address(), /*receive_buffer=*/4096);
  client.Send(Post("a"));
  while (server->held_bytes() == 0) std::this_thread::yield();
  AwaitHeldBytes(*server, 0);
}

TEST(HttpLimits, WhileUnreadAnswersFillTheMemoryRequestsAreTurnedAway) {
  InlineHandler handler([](const HttpRequest& request) {
    return HttpResponse{.headers = {}, .body = request.body == "much" ? std::string(32 << 20, 'x') : request.body};
  });
  const auto server = Serve(&handler, {.held_bytes_max = 1 << 20});
  RawHttpClient other(server->address());
  {
    RawHttpClient hoarder(server->address(), /*receive_buffer=*/4096);
    hoarder.Send(Post("much"));
    while (server->held_bytes() == 0) std::this_thread::yield();
    other.Send(Post("small"));
    const RawResponse response = other.Read();
    EXPECT_EQ(response.status, 503);
    EXPECT_THAT(response.headers, testing::Not(testing::Contains(testing::Key("connection"))));
  }
  AwaitHeldBytes(*server, 0);
  other.Send(Post("small"));
  EXPECT_EQ(other.Read().body, "small");
}

TEST(HttpLimits, ConnectionsBeyondTheLimitAreTurnedAway) {
  InlineHandler handler;
  const auto server = Serve(&handler, {.connections_max = 2});
  auto first = std::make_unique<RawHttpClient>(server->address());
  RawHttpClient second(server->address());
  second.Send(Post("x"));
  EXPECT_EQ(second.Read().status, 200);
  for (int i = 0; i < 100; ++i) {
    RawHttpClient third(server->address());
    EXPECT_THAT(third.ReadToEnd(), testing::StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
  }
  second.Send(Post("x"));
  EXPECT_EQ(second.Read().status, 200);
  first.reset();
  while (server->connections() > 1) std::this_thread::yield();
  ExpectServing(*server);
}

TEST(HttpLimits, FloodOfConnectionsLeavesTheServerServing) {
  InlineHandler handler;
  const auto server = Serve(&handler, {.connections_max = 100});
  RawHttpClient witness(server->address());
  for (int i = 0; i < 3000; ++i) {
    RawHttpClient client(server->address());
    if (i % 100 == 0) {
      witness.Send(Post("still?"));
      EXPECT_EQ(witness.Read().body, "still?");
    }
  }
  // Closed connections may still be in the backlog, so that a new one exceeds the limit.
  while (!IsServed(server->address())) {
  }
}

TEST(HttpLimits, WithoutDescriptorsClientsAreToldAndOthersServed) {
  InlineHandler handler;
  const auto server = Serve(&handler);
  const std::string second = server->Open({}).value();
  RawHttpClient before(server->address());
  before.Send(Post("x"));
  EXPECT_EQ(before.Read().status, 200);

  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(next);
  // One descriptor for the client, none for the server's side.
  const rlimit scarce = {.rlim_cur = static_cast<rlim_t>(next) + 1, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &scarce), 0);
  for (const std::string& address : {server->address(), second, second, server->address()}) {
    RawHttpClient shed(address);
    EXPECT_THAT(shed.ReadToEnd(), testing::StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
    before.Send(Post("x"));
    EXPECT_EQ(before.Read().status, 200);
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  ExpectServing(*server);
}

// The number of descriptors below the limit that are free.
size_t FreeDescriptors(size_t limit) {
  size_t free = 0;
  for (size_t fd = 0; fd < limit; ++fd) free += fcntl(static_cast<int>(fd), F_GETFD) < 0 ? 1 : 0;
  return free;
}

TEST(HttpLimits, SomeDescriptorsAreLeftToOthers) {
  InlineHandler handler;
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  constexpr size_t kScarce = 400;
  const rlimit scarce = {.rlim_cur = kScarce, .rlim_max = limit.rlim_max};
  const auto server = Serve(&handler);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &scarce), 0);
  std::vector<std::unique_ptr<RawHttpClient>> clients;
  bool is_served = true;
  while (is_served && clients.size() < kScarce) {
    clients.push_back(std::make_unique<RawHttpClient>(server->address()));
    clients.back()->Send(Post("x"));
    is_served = clients.back()->Read().status == 200;
  }
  EXPECT_FALSE(is_served);
  EXPECT_GT(clients.size(), 50u);
  EXPECT_GT(FreeDescriptors(kScarce), 190u);
  clients.clear();
  while (server->connections() > 0) std::this_thread::yield();
  ExpectServing(*server);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST(HttpLimits, DescriptorLimitIsRaisedToWhatIsAllowed) {
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit low = {.rlim_cur = 256, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(RaiseDescriptorLimit(), limit.rlim_max);
  rlimit raised = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &raised), 0);
  EXPECT_EQ(raised.rlim_cur, limit.rlim_max);
}

}  // namespace armature::daemon::http_limits_test
