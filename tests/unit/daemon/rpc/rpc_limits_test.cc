// Limits of calls: their number, their memory, and the time that clients have.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/net/memory_budget.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/daemon/rpc/rpc_server.h"

namespace armature::daemon::rpc_limits_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr absl::Duration kShort = absl::Milliseconds(40);
constexpr std::string_view kNoMemory = "14 There is no memory for the request";

// ---- Number

// A client may have 100 open streams, and reset them while their calls run.
TEST(RpcLimits, CallsThatStillRunCount) {
  constexpr size_t kMost = 400;
  RpcServer server;
  RpcClient client(server.Start());
  for (size_t i = 0; i < kMost; ++i) {
    const int32_t stream = client.Call("/hold", "x");
    client.Send();
    client->Reset(stream);
  }
  client.RoundTrip();
  ASSERT_EQ(server.size(), kMost);
  EXPECT_EQ(client.StatusOf(client.Call("/echo", "x")), "8 Too many calls");
  EXPECT_EQ(server.front.refused_surplus(), 1);
  // Other connections have their own number.
  RpcClient other(server.http->address());
  EXPECT_EQ(other.ResultOf(other.Call("/echo", "x")), "0, x");
  server.Forget();
  EXPECT_EQ(client.ResultOf(client.Call("/echo", "y")), "0, y");
  EXPECT_EQ(server.front.refused_surplus(), 1);
}

TEST(RpcLimits, SurplusCallsEndAsTheLimitsSay) {
  RpcLimits limits = {.calls_max = 2};
  limits.too_many = [] { return RpcStatus{.code = RpcCode::kUnavailable, .message = "later"}; };
  RpcServer server(limits);
  RpcClient client(server.Start());
  const int32_t first = client.Begin("/hold");
  client.Begin("/hold");
  const int32_t surplus = client.Begin("/hold");
  EXPECT_EQ(client.StatusOf(surplus), "14 later");
  client->Reset(first);
  client.RoundTrip();
  server.Forget();
  EXPECT_EQ(client.ResultOf(client.Call("/echo", "x")), "0, x");
}

// ---- Memory

TEST(RpcLimits, MessagesWithoutRoomAreRefused) {
  RpcServer server;
  RpcClient client(server.Start({.held_bytes_max = 1 << 20}));
  // Its prefix suffices.
  const int32_t large = client.Begin("/echo");
  client->Send(large, Framed(std::string(950'000, 'x')).substr(0, 5));
  EXPECT_EQ(client.StatusOf(large), kNoMemory);
  EXPECT_EQ(server.front.refused_memory(), 1);
  // Two that have room one after another.
  const std::string half = Framed(std::string(500'000, 'x'));
  const int32_t first = client.Begin("/echo");
  client->Send(first, half.substr(0, 300'000));
  ASSERT_TRUE(client.Await([&] { return client->unsent(first) == 0; }));
  client.RoundTrip();
  EXPECT_GE(server.http->held_bytes(), 500'000);
  EXPECT_EQ(client.StatusOf(client.CallWith("/echo", half)), kNoMemory);
  client->Send(first, half.substr(300'000));
  client->End(first);
  EXPECT_EQ(client.ResultOf(first), "0, 500000 bytes");
  server.Forget();
  EXPECT_EQ(client.ResultOf(client.CallWith("/echo", half)), "0, 500000 bytes");
  EXPECT_EQ(server.front.refused_memory(), 2);
  client.RoundTrip();
  server.Forget();
  test::WaitUntil([&] { return server.http->held_bytes() == 0; });
}

TEST(RpcLimits, AnnouncedMessagesTakeNoMemory) {
  RpcServer server;
  RpcClient client(server.Start({.held_bytes_max = 4 << 20}));
  const std::string begun = Framed(std::string(3 << 20, 'x')).substr(0, 10);
  for (int i = 0; i < 50; ++i) client->Send(client.Begin("/echo"), begun);
  client.RoundTrip();
  // The streams themselves count, too.
  EXPECT_LT(server.http->held_bytes(), 500'000);
  EXPECT_EQ(client.ResultOf(client.CallWith("/echo", Framed(std::string(3 << 20, 'x')))), "0, 3145728 bytes");
  EXPECT_EQ(server.front.refused_memory(), 0);
  server.Forget();
}

TEST(RpcLimits, RefusalsSayWhatTheLimitsSay) {
  RpcLimits limits;
  limits.no_memory = [] { return RpcStatus{.code = RpcCode::kResourceExhausted, .message = "full"}; };
  RpcServer server(limits);
  RpcClient client(server.Start({.held_bytes_max = 100'000}));
  EXPECT_EQ(client.StatusOf(client.Call("/echo", std::string(100'000, 'x'))), "8 full");
}

TEST(RpcLimits, MemoryOfAMessageIsReturnedIfTheClientGoes) {
  RpcServer server;
  const std::string address = server.Start();
  const std::string message = Framed(std::string(1 << 20, 'x'));
  for (const bool is_reset : {true, false}) {
    std::optional<RpcClient> client(address);
    const int32_t stream = client->Begin("/echo");
    (*client)->Send(stream, message.substr(0, 500'000));
    ASSERT_TRUE(client->Await([&] { return (*client)->unsent(stream) == 0; }));
    client->RoundTrip();
    EXPECT_GE(server.http->held_bytes(), 1 << 20);
    if (is_reset) {
      (*client)->Reset(stream);
      client->RoundTrip();
    } else {
      client.reset();
    }
    server.Forget();
    test::WaitUntil([&] { return server.http->held_bytes() == 0; });
  }
}

// Answers with as many bytes as the request says, and takes the memory for them.
void AddLarge(RpcServer* server, std::string_view path, bool is_patient = false) {
  server->Add(path, [is_patient](TestCall& it) {
    if (is_patient) it.call->SetPatient();
    it.on_message = [&it](const InMessage& message) {
      const size_t bytes = std::stoul(message.bytes);
      OutMessage answer{.head = {}, .bytes = std::string(bytes, 'x'), .memory = HeldMemory(it.call->memory())};
      answer.memory.Set(bytes);
      it.call->Finish(std::move(answer));
    };
    it.call->Read();
  });
}

TEST(RpcLimits, MemoryOfAnAnswerIsReturnedWhenItIsSent) {
  RpcServer server;
  AddLarge(&server, "/large");
  const std::string address = server.Start();
  std::optional<RpcClient> client(std::in_place, address, RpcClient::Options{.http = {.gives_windows = false}});
  const int32_t stream = client->Call("/large", "1000000");
  ASSERT_TRUE(client->Await([&] { return (*client)->answer(stream).data.size() == 65'535; }));
  EXPECT_THAT(server.http->held_bytes(), testing::AllOf(testing::Ge(1'000'000), testing::Lt(1'200'000)));
  (*client)->GiveWindow(0, 1 << 20);
  (*client)->GiveWindow(stream, 1 << 20);
  EXPECT_EQ(client->ResultOf(stream), "0, 1000000 bytes");
  server.Forget();
  test::WaitUntil([&] { return server.http->held_bytes() == 0; });

  client.emplace(address, RpcClient::Options{.http = {.gives_windows = false}});
  const int32_t reset = client->Call("/large", "1000000");
  ASSERT_TRUE(client->Await([&] { return !(*client)->answer(reset).data.empty(); }));
  EXPECT_THAT(server.http->held_bytes(), testing::AllOf(testing::Ge(1'000'000), testing::Lt(1'200'000)));
  (*client)->Reset(reset);
  client->RoundTrip();
  server.Forget();
  test::WaitUntil([&] { return server.http->held_bytes() == 0; });
  client->Call("/large", "2000000");
  ASSERT_TRUE(client->Await([&] { return server.http->held_bytes() >= 2'000'000; }));
  client.reset();
  server.Forget();
  test::WaitUntil([&] { return server.http->held_bytes() == 0; });
}

TEST(RpcLimits, AFullBudgetRefusesSmallCalls) {
  MemoryBudget budget(1 << 20, 1 << 20);
  RpcServer server;
  RpcClient client(server.Start({.budget = &budget}));
  budget.Take({}, 2 << 20);
  const int32_t plain = client->Request("/", "x");
  EXPECT_EQ(client.StatusOf(client.Call("/echo", "x")), kNoMemory);
  EXPECT_EQ(client.Finish(plain).Find(":status"), "503");
  EXPECT_EQ(server.front.refused_memory(), 1);
  EXPECT_EQ(server.size(), 0);
  budget.Return({}, 2 << 20);
  EXPECT_EQ(client.ResultOf(client.Call("/echo", "x")), "0, x");
}

// The connection counts bytes that belong to no message.
TEST(RpcLimits, UnreadBytesAreCountedAndRefused) {
  MemoryBudget budget(1 << 20, 1 << 20);
  RpcServer server;
  RpcClient client(server.Start({.budget = &budget}));
  std::vector<int32_t> streams;
  for (int i = 0; i < 6; ++i) {
    streams.push_back(client.Begin("/unread"));
    client->Send(streams.back(), std::string(60'000, 'x'));
  }
  ASSERT_TRUE(client.Await([&] { return server.http->held_bytes() >= 360'000; }));
  budget.Take({}, 700'000);
  // No further call is taken, and more bytes end those that are there.
  EXPECT_EQ(client.StatusOf(client.Call("/echo", "x")), kNoMemory);
  for (const int32_t stream : streams) client->Send(stream, std::string(5'000, 'x'));
  for (const int32_t stream : streams) EXPECT_EQ(client.StatusOf(stream), kNoMemory);
  EXPECT_EQ(server.front.refused_memory(), streams.size() + 1);
  EXPECT_GE(server.http->h2_counts().memory, 1);
  budget.Return({}, 700'000);
  client.RoundTrip();
  server.Forget();
  test::WaitUntil([&] { return server.http->held_bytes() == 0; });
  EXPECT_EQ(client.ResultOf(client.Call("/echo", "x")), "0, x");
}

// ---- Time

TEST(RpcLimits, OwedMessagesMustCome) {
  RpcServer server;
  server.Add("/owed", [](TestCall& it) { it.call->Read(/*is_owed=*/true); });
  RpcClient client(server.Start({.stall_timeout = kShort}));
  const int32_t idle = client.Begin("/hold");
  const int32_t unread = client.CallWith("/unread", "begun");
  const int32_t owed = client.Begin("/owed");
  const int32_t begun = client.Begin("/hold");
  client->Send(begun, Framed("message").substr(0, 6));
  for (const int32_t stream : {owed, begun}) {
    EXPECT_EQ(client.StatusOf(stream), "14 The request did not arrive in time");
    EXPECT_EQ(client->answer(stream).closed_with, NGHTTP2_NO_ERROR);
  }
  for (const size_t i : {2, 3}) {
    server.call(i).events.Await("done");
    EXPECT_THAT(server.call(i).events.all(), ElementsAre("cancel", "done"));
  }
  EXPECT_EQ(server.http->h2_counts().stalled, 2);
  for (const int32_t stream : {idle, unread}) EXPECT_FALSE(client->answer(stream).closed_with.has_value());
  client->Send(idle, Framed("late"));
  client.RoundTrip();
  EXPECT_THAT(server.call(0).events.all(), ElementsAre("message late"));
}

TEST(RpcLimits, UnreadAnswersAreBrokenOffUnlessTheyMayWait) {
  RpcServer server;
  AddLarge(&server, "/large");
  AddLarge(&server, "/patient", /*is_patient=*/true);
  RpcClient client(server.Start({.stall_timeout = kShort}), {.http = {.gives_windows = false}});
  const int32_t patient = client.Call("/patient", "200000");
  ASSERT_TRUE(client.Await([&] { return !client->answer(patient).data.empty(); }));
  const int32_t large = client.Call("/large", "200000");
  EXPECT_EQ(client.Finish(large).closed_with, NGHTTP2_CANCEL);
  EXPECT_EQ(server.http->h2_counts().stalled, 1);
  client->GiveWindow(0, 1 << 20);
  client->GiveWindow(patient, 1 << 20);
  EXPECT_EQ(client.ResultOf(patient), "0, 200000 bytes");
}

TEST(RpcLimits, PatienceEndsWhenMemoryIsTight) {
  RpcServer server;
  AddLarge(&server, "/patient", /*is_patient=*/true);
  const std::string address =
      server.Start({.held_bytes_max = 1 << 20, .unread_grace = kShort, .linger_timeout = kShort});
  RpcClient client(address, {.http = {.gives_windows = false}});
  const int32_t stream = client.Call("/patient", "800000");
  client.AwaitEnd();
  EXPECT_FALSE(client->answer(stream).has_ended);
  EXPECT_GE(server.http->h2_counts().memory, 1);
  EXPECT_EQ(server.http->h2_counts().stalled, 0);
  server.call(0).events.Await("done");
  server.Forget();
  test::WaitUntil([&] { return server.http->held_bytes() == 0; });
}

}  // namespace armature::daemon::rpc_limits_test
