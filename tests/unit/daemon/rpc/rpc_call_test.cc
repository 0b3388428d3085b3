// Calls of gRPC on a connection: messages, heads, deadlines, and how they end.

#include "daemon/rpc/rpc_call.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/monotonic_wait.h"
#include "tests/unit/daemon/rpc/rpc_server.h"

namespace armature::daemon::rpc_call_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr size_t kLargestMessage = (16 << 20) + (64 << 10);

// ---- Messages

TEST(RpcCall, AUnaryCallHasOneAnswer) {
  RpcServer server;
  RpcClient client(server.Start());
  const int32_t stream = client.Call("/echo", "ping");
  EXPECT_EQ(client.ResultOf(stream), "0, ping");
  const H2Client::Answer& answer = client->answer(stream);
  EXPECT_THAT(answer.head, ElementsAre(Pair(":status", "200"), Pair("content-type", "application/grpc")));
  EXPECT_THAT(answer.trailers, ElementsAre(Pair("grpc-status", "0")));
  EXPECT_EQ(answer.closed_with, NGHTTP2_NO_ERROR);
  server.call(0).events.Await("done");
  EXPECT_THAT(server.call(0).events.all(), ElementsAre("message ping", "sent 0", "done"));
  EXPECT_FALSE(server.call(0).call->is_cancelled());
}

TEST(RpcCall, SeveralMessagesShareAFrame) {
  RpcServer server;
  RpcClient client(server.Start());
  const int32_t stream = client.CallWith("/stream", Framed("one") + Framed("") + Framed("three"));
  EXPECT_EQ(client.ResultOf(stream), "0, one, , three");
  server.call(0).events.Await("done");
  EXPECT_THAT(server.call(0).events.all(),
              ElementsAre("message one", "message ", "message three", "end", "sent 0", "sent 0", "sent 0", "done"));
}

TEST(RpcCall, AMessageTakesManyFrames) {
  RpcServer server;
  RpcClient client(server.Start());
  const int32_t stream = client.Begin("/stream");
  for (const char c : Framed("first") + Framed("") + Framed("second")) {
    client->Send(stream, {&c, 1});
    client.Send();
  }
  client->End(stream);
  EXPECT_EQ(client.ResultOf(stream), "0, first, , second");
}

TEST(RpcCall, MessagesOfAllSizes) {
  RpcServer server;
  RpcClient client(server.Start());
  std::vector<size_t> sizes = {1 << 20, kLargestMessage};
  for (const size_t size : {32 << 10, 64 << 10}) {
    for (const size_t bytes : {size - 6, size - 5, size - 1, size, size + 1}) sizes.push_back(bytes);
  }
  for (const size_t bytes : sizes) {
    const std::string message = Pattern(bytes);
    const int32_t stream = client.Call("/echo", message);
    ASSERT_EQ(client.StatusOf(stream), "0") << bytes;
    EXPECT_TRUE(client->answer(stream).data == Framed(message)) << bytes;
    client->Forget(stream);
  }
  server.Forget();
  test::WaitUntil([&] { return server.http->held_bytes() == 0; });
}

TEST(RpcCall, MessagesOfAllSizesOnOneStream) {
  RpcServer server;
  RpcClient client(server.Start());
  const int32_t stream = client.Begin("/stream");
  std::string all;
  for (int round = 0; round < 3; ++round) {
    for (const size_t bytes : {32 << 10, (32 << 10) - 5, (32 << 10) + 1, 1, 64 << 10, 0, 300'000, 20'000, 32 << 10}) {
      all += Framed(Pattern(bytes));
    }
  }
  client->Send(stream, all);
  client->End(stream);
  EXPECT_EQ(client.StatusOf(stream), "0");
  EXPECT_TRUE(client->answer(stream).data == all);
}

TEST(RpcCall, ATooLargeMessageIsRefusedBeforeItComes) {
  RpcServer server;
  RpcClient client(server.Start());
  const int32_t stream = client.Begin("/echo");
  client->Send(stream, Framed(std::string(kLargestMessage + 1, 'x')).substr(0, 5));
  EXPECT_EQ(client.StatusOf(stream), "8 Received message larger than max (16842753 vs. 16842752)");
  EXPECT_EQ(client.ResultOf(client.Call("/echo", "another")), "0, another");
  server.Forget();
  test::WaitUntil([&] { return server.http->held_bytes() == 0; });
}

TEST(RpcCall, CompressedMessagesAreRefused) {
  struct Case {
    char flag;
    std::string encoding;
    std::string status;
  };
  RpcServer server;
  RpcClient client(server.Start());
  for (const Case& it : std::vector<Case>{{0, "gzip", "0"},
                                          {1, "gzip", "12 Compressed messages are not supported"},
                                          {1, "identity", "13 Compressed messages are not supported"},
                                          {1, "", "13 Compressed messages are not supported"},
                                          {2, "gzip", "13 Compressed messages are not supported"},
                                          {-1, "", "13 Compressed messages are not supported"}}) {
    const H2Fields metadata = it.encoding.empty() ? H2Fields() : H2Fields{{"grpc-encoding", it.encoding}};
    const int32_t stream = client.CallWith("/echo", Framed("x", it.flag), metadata);
    EXPECT_EQ(client.StatusOf(stream), it.status) << static_cast<int>(it.flag) << it.encoding;
    EXPECT_EQ(client->answer(stream).Find("grpc-accept-encoding"), it.status.starts_with("12") ? "identity" : "");
  }
}

TEST(RpcCall, AMessageThatIsCutOffEndsTheCall) {
  RpcServer server;
  RpcClient client(server.Start());
  const std::string large = Framed(Pattern(100'000));
  for (const std::string& bytes : {large.substr(0, 1), large.substr(0, 5), large.substr(0, 1000),
                                   large.substr(0, large.size() - 1), Framed("whole") + large.substr(0, 6)}) {
    const size_t calls = server.size();
    const int32_t stream = client.CallWith("/stream", bytes);
    EXPECT_EQ(client.StatusOf(stream), "13 The message is cut off") << bytes.size();
    Events& events = server.call(calls).events;
    events.Await("done");
    EXPECT_FALSE(events.Has("end"));
    EXPECT_FALSE(events.Has("cancel"));
  }
  server.Forget();
  test::WaitUntil([&] { return server.http->held_bytes() == 0; });
}

TEST(RpcCall, ACallMayHaveNoMessage) {
  RpcServer server;
  RpcClient client(server.Start());
  for (const bool is_whole : {true, false}) {
    const size_t calls = server.size();
    const int32_t stream = client.Begin("/stream", {}, is_whole);
    if (!is_whole) client->End(stream);
    EXPECT_EQ(client.ResultOf(stream), "0");
    server.call(calls).events.Await("done");
    EXPECT_THAT(server.call(calls).events.all(), ElementsAre("end", "done"));
  }
}

// ---- Answering

TEST(RpcCall, WeightsTellWhatHasBeenSent) {
  RpcServer server;
  bool is_writing = false;
  server.Add("/weights", [&](TestCall& it) {
    it.on_read_end = [&] {
      is_writing = true;
      it.call->Write({.head = {}, .bytes = "one", .weight = 1});
      it.call->Write({.head = {}, .bytes = std::string(100'000, 'x'), .weight = 2});
      is_writing = false;
    };
    // Each is answered by the next one, and the last by the end.
    it.on_sent = [&](uint32_t weight) {
      EXPECT_FALSE(is_writing);
      if (weight == 1) return;
      if (weight == 4) return it.call->Finish(RpcStatus());
      it.call->Write({.head = {}, .bytes = "more", .weight = weight + 1});
    };
  });
  RpcClient client(server.Start());
  EXPECT_EQ(client.ResultOf(client.Begin("/weights", {}, true)), "0, one, 100000 bytes, more, more");
  server.call(0).events.Await("done");
  EXPECT_THAT(server.call(0).events.all(), ElementsAre("end", "sent 1", "sent 2", "sent 3", "sent 4", "done"));
}

TEST(RpcCall, TheHeadOfAMessageIsPartOfIt) {
  RpcServer server;
  server.Add("/head", [](TestCall& it) {
    it.call->Write({.head = "head ", .bytes = "and rest"});
    it.call->Write({.head = "only head", .bytes = {}});
    it.call->Write({.head = "head ", .bytes = std::string(70'000, 'b')});
    it.call->Write({.head = {}, .bytes = {}});
    EXPECT_GT(it.call->unsent_bytes(), 70'000);
    it.call->Finish(RpcStatus());
  });
  RpcClient client(server.Start());
  EXPECT_EQ(client.ResultOf(client.Begin("/head", {}, true)), "0, head and rest, only head, 70005 bytes, ");
}

TEST(RpcCall, WithoutMessagesTheStatusIsInTheHead) {
  RpcServer server;
  for (const RpcCode code : {RpcCode::kOk, RpcCode::kUnauthenticated, RpcCode::kUnimplemented}) {
    server.Add(Cat("/", static_cast<int>(code)), [code](TestCall& it) { it.call->Finish({.code = code}); });
  }
  RpcClient client(server.Start());
  for (const std::string code : {"0", "12", "16"}) {
    // The client has not ended its request.
    for (const bool is_whole : {true, false}) {
      const int32_t stream = client.Begin("/" + code, {}, is_whole);
      EXPECT_EQ(client.StatusOf(stream), code);
      const H2Client::Answer& answer = client->answer(stream);
      EXPECT_EQ(answer.head.size(), code == "12" ? 4 : 3);
      EXPECT_THAT(answer.trailers, IsEmpty());
      EXPECT_EQ(answer.data_frames, 0);
      EXPECT_TRUE(answer.has_ended);
      EXPECT_EQ(answer.closed_with, NGHTTP2_NO_ERROR);
    }
  }
}

TEST(RpcCall, TextsAndTrailersAreEncoded) {
  const RpcStatus status = {.code = RpcCode::kAborted,
                            .message = "100 % \n\xc3\xbc",
                            .details = std::string("\0\xff\x01\x02", 4),
                            .trailers = {{"plain", "as it is"}, {"some-bin", "\xff\xfe"}, {"other-bin", "abc"}}};
  const H2Fields encoded = {{"grpc-status", "10"},
                            {"grpc-message", "100 %25 %0A%C3%BC"},
                            {"grpc-status-details-bin", "AP8BAg"},
                            {"plain", "as it is"},
                            {"some-bin", "//4"},
                            {"other-bin", "YWJj"}};
  RpcServer server;
  server.Add("/only", [&](TestCall& it) { it.call->Finish(status); });
  server.Add("/after", [&](TestCall& it) { it.call->Finish({.head = {}, .bytes = "answer"}, status); });
  RpcClient client(server.Start());
  const int32_t only = client.Begin("/only", {}, true);
  const int32_t after = client.Begin("/after", {}, true);
  client.Finish(only);
  client.Finish(after);
  H2Fields head = {{":status", "200"}, {"content-type", "application/grpc"}};
  EXPECT_EQ(client->answer(after).head, head);
  EXPECT_EQ(client->answer(after).trailers, encoded);
  head.insert(head.end(), encoded.begin(), encoded.end());
  EXPECT_EQ(client->answer(only).head, head);
}

TEST(RpcCall, MetadataComesBeforeTheFirstMessage) {
  RpcServer server;
  for (const bool has_message : {true, false}) {
    server.Add(has_message ? "/message" : "/none", [=](TestCall& it) {
      it.call->set_metadata({{"one", "1"}, {"two", "second"}});
      if (has_message) it.call->Write({.head = {}, .bytes = "answer"});
      it.call->Finish(RpcStatus());
    });
  }
  RpcClient client(server.Start());
  H2Fields head = {{":status", "200"}, {"content-type", "application/grpc"}, {"one", "1"}, {"two", "second"}};
  const int32_t message = client.Begin("/message", {}, true);
  EXPECT_EQ(client.ResultOf(message), "0, answer");
  EXPECT_EQ(client->answer(message).head, head);
  EXPECT_THAT(client->answer(message).trailers, ElementsAre(Pair("grpc-status", "0")));
  const int32_t none = client.Begin("/none", {}, true);
  client.Finish(none);
  head.emplace_back("grpc-status", "0");
  EXPECT_EQ(client->answer(none).head, head);
}

TEST(RpcCall, OnlyTheFirstFinishCounts) {
  RpcServer server;
  server.Add("/own", [](TestCall& it) {
    it.call->Finish({.head = {}, .bytes = "first"}, {.code = RpcCode::kAborted});
    it.call->Finish({.head = {}, .bytes = "second"});
    it.call->Finish({.code = RpcCode::kInternal});
    it.call->Write({.head = {}, .bytes = "third"});
  });
  // The loop waits for the thread, and sees all its calls at once.
  server.Add("/other", [](TestCall& it) {
    std::thread([&] {
      it.call->Finish({.head = {}, .bytes = "first"}, {.code = RpcCode::kAborted});
      it.call->Finish({.head = {}, .bytes = "second"});
      it.call->Finish({.code = RpcCode::kInternal});
      it.call->Write({.head = {}, .bytes = "third"});
    }).join();
  });
  server.Add("/both", [](TestCall& it) {
    std::thread([&] { it.call->Finish({.head = {}, .bytes = "first"}, {.code = RpcCode::kAborted}); }).join();
    it.call->Finish({.head = {}, .bytes = "second"});
  });
  RpcClient client(server.Start());
  for (const std::string_view path : {"/own", "/other", "/both"}) {
    EXPECT_EQ(client.ResultOf(client.Begin(path, {}, true)), "10, first") << path;
  }
}

TEST(RpcCall, MessagesOfAllThreadsKeepTheirOrder) {
  RpcServer server;
  server.Add("/mixed", [](TestCall& it) {
    const auto on_other_thread = [&](std::string_view text) {
      std::thread([&] { it.call->Write({.head = {}, .bytes = std::string(text)}); }).join();
    };
    on_other_thread("a");
    on_other_thread("b");
    it.call->Write({.head = {}, .bytes = "c"});
    on_other_thread("d");
    it.call->Finish(RpcStatus());
  });
  RpcClient client(server.Start());
  EXPECT_EQ(client.ResultOf(client.Begin("/mixed", {}, true)), "0, a, b, c, d");
}

// ---- The head

TEST(RpcCall, TheHeadSaysWhoCallsWhat) {
  RpcServer server;
  RpcClient client(server.Start());
  client.Begin("/hold");
  client.Begin("/hold", {{"authorization", "Bearer one"}});
  client.Begin("/hold", {{"authorization", "Bearer one"}, {"authorization", "Bearer two"}});
  client.RoundTrip();
  const RpcCall& call = *server.call(0).call;
  EXPECT_EQ(call.path(), "/hold");
  EXPECT_EQ(call.authority(), "host");
  EXPECT_TRUE(call.peer().text.starts_with("127.0.0.1:")) << call.peer().text;
  EXPECT_TRUE(call.peer().network.has_value());
  EXPECT_EQ(call.deadline_ns(), std::nullopt);
  EXPECT_EQ(call.authorization(), std::nullopt);
  EXPECT_EQ(server.call(1).call->authorization(), "Bearer one");
  EXPECT_EQ(server.call(2).call->authorization(), "");
}

TEST(RpcCall, TooMuchMetadataIsRefused) {
  RpcServer server;
  RpcClient client(server.Start());
  const H2Fields many = {{"a", std::string(9'000, 'a')}, {"b", std::string(9'000, 'b')}};
  EXPECT_EQ(client.StatusOf(client.Call("/echo", "x", many)), "8 The metadata is too large");
  // Clients may send the content type last.
  H2Fields other_order = many;
  other_order.emplace_back("content-type", "application/grpc");
  EXPECT_EQ(client.StatusOf(client->Begin("/echo", true, other_order)), "8 The metadata is too large");
  EXPECT_EQ(server.size(), 0);
  EXPECT_EQ(client.ResultOf(client.Call("/echo", "x", {{"a", std::string(9'000, 'a')}})), "0, x");
}

TEST(RpcCall, UnknownMethods) {
  RpcServer server;
  RpcClient client(server.Start());
  EXPECT_EQ(client.StatusOf(client.Call("/ech", "x")), "12 There is no such method");
}

// Requests that are no calls go to the handler of HTTP.
TEST(RpcCall, OtherRequestsOfTheSameConnection) {
  RpcServer server;
  RpcClient client(server.Start());
  const int32_t plain = client->Request("/echo", "plain");
  const int32_t web = client->Begin("/echo", true, {{"content-type", "application/grpc-web"}});
  const int32_t call = client.Call("/echo", "call");
  EXPECT_EQ(client.Finish(plain).data, "plain");
  EXPECT_EQ(client.StatusOf(web), "12 This port speaks HTTP/1.1.");
  EXPECT_EQ(client.ResultOf(call), "0, call");
  EXPECT_EQ(server.size(), 1);
}

// ---- Deadlines

TEST(RpcCall, MalformedTimeoutsAreRefused) {
  RpcServer server;
  RpcClient client(server.Start());
  for (const std::string timeout : {"", "1", "S", "1x", "-1S", "123456789S"}) {
    EXPECT_EQ(client.StatusOf(client.Call("/echo", "x", {{"grpc-timeout", timeout}})),
              "13 The grpc-timeout is malformed");
  }
  EXPECT_EQ(server.size(), 0);
}

TEST(RpcCall, CallsEndAtTheirDeadline) {
  RpcServer server;
  RpcClient client(server.Start());
  for (const std::string timeout : {"0n", "1n", "3m"}) {
    const size_t calls = server.size();
    const int32_t stream = client.Call("/hold", "x", {{"grpc-timeout", timeout}});
    EXPECT_EQ(client.ResultOf(stream), "4 Deadline Exceeded");
    TestCall& call = server.call(calls);
    call.events.Await("done");
    EXPECT_TRUE(call.call->is_cancelled());
    EXPECT_LE(call.call->deadline_ns(), MonotonicNs());
    call.call->Finish({.head = {}, .bytes = "late"});
    client.RoundTrip();
    std::vector<std::string> events = call.events.all();
    if (events.front() == "message x") events.erase(events.begin());
    if (events.front() == "end") events.erase(events.begin());
    EXPECT_THAT(events, ElementsAre("cancel", "done"));
  }
}

TEST(RpcCall, FarDeadlinesAreNone) {
  RpcServer server;
  RpcClient client(server.Start());
  for (const std::string timeout : {"99999999H", "99999999M", "1H", "10S"}) {
    EXPECT_EQ(client.ResultOf(client.Call("/echo", "x", {{"grpc-timeout", timeout}})), "0, x") << timeout;
  }
}

// The timers of many calls, of which a few come to their deadlines, in another order than the calls have come.
TEST(RpcCall, EachCallHasItsOwnDeadline) {
  constexpr int kCalls = 60;
  RpcServer server;
  RpcClient client(server.Start());
  std::vector<int32_t> streams;
  for (int i = 0; i < kCalls; ++i) {
    const std::string timeout = i % 3 == 0 ? Cat(kCalls - i, "m") : i % 3 == 1 ? "1H" : "9S";
    streams.push_back(client.Call(i % 3 == 1   ? "/hold"
                                  : i % 3 == 0 ? "/hold"
                                               : "/echo",
                                  "x", {{"grpc-timeout", timeout}}));
  }
  for (size_t i = 0; i < streams.size(); ++i) {
    if (i % 3 == 0) {
      EXPECT_EQ(client.StatusOf(streams[i]), "4 Deadline Exceeded");
    }
    if (i % 3 == 2) {
      EXPECT_EQ(client.StatusOf(streams[i]), "0");
    }
  }
  client.RoundTrip();
  for (size_t i = 1; i < streams.size(); i += 3) EXPECT_FALSE(client->answer(streams[i]).has_ended);
}

// The status that a handler gives when it is told of the deadline comes too late.
TEST(RpcCall, TheDeadlineIsTheStatus) {
  RpcServer server;
  server.Add("/cancel", [](TestCall& it) {
    it.on_cancel = [&it] { it.call->Finish({.head = {}, .bytes = "late"}, {.code = RpcCode::kUnknown}); };
    it.call->Read();
  });
  RpcClient client(server.Start());
  EXPECT_EQ(client.ResultOf(client.Call("/cancel", "x", {{"grpc-timeout", "1m"}})), "4 Deadline Exceeded");
}

// ---- The client goes

TEST(RpcCall, AResetCancelsTheCall) {
  RpcServer server;
  RpcClient client(server.Start());
  const int32_t stream = client.Call("/hold", "x");
  client.RoundTrip();
  client->Reset(stream);
  client.RoundTrip();
  TestCall& call = server.call(0);
  EXPECT_THAT(call.events.all(), ElementsAre("message x", "end", "cancel", "done"));
  EXPECT_TRUE(call.call->is_cancelled());
  EXPECT_EQ(call.call->unsent_bytes(), 0);
  call.call->Write({.head = {}, .bytes = "late"});
  call.call->Finish({.head = {}, .bytes = "late"});
  call.call->Post([&call] { call.call->Read(); });
  absl::Notification posted;
  call.call->Post([&] {
    EXPECT_TRUE(call.call->IsOwnThread());
    call.call->Finish(RpcStatus());
    posted.Notify();
  });
  posted.WaitForNotification();
  EXPECT_EQ(client.ResultOf(client.Call("/echo", "another")), "0, another");
  EXPECT_EQ(call.events.size(), 4);
  EXPECT_TRUE(client->answer(stream).data.empty());
}

TEST(RpcCall, TheEndOfTheConnectionCancelsItsCalls) {
  RpcServer server;
  const std::string address = server.Start();
  {
    RpcClient client(address);
    client.Call("/hold", "x");
    client.Begin("/unread");
    client.RoundTrip();
  }
  for (const size_t i : {0, 1}) server.call(i).events.Await("done");
  EXPECT_THAT(server.call(0).events.all(), ElementsAre("message x", "end", "cancel", "done"));
  EXPECT_THAT(server.call(1).events.all(), ElementsAre("cancel", "done"));
  test::WaitUntil([&] { return server.http->connections() == 0; });
}

TEST(RpcCall, AHandlerMayFinishWhenItIsCancelled) {
  RpcServer server;
  server.Add("/cancel", [](TestCall& it) {
    it.on_cancel = [&it] { it.call->Finish({.head = {}, .bytes = "late"}, {.code = RpcCode::kUnknown}); };
  });
  RpcClient client(server.Start());
  const int32_t stream = client.Begin("/cancel");
  client.RoundTrip();
  client->Reset(stream);
  client.RoundTrip();
  EXPECT_THAT(server.call(0).events.all(), ElementsAre("cancel", "done"));
  EXPECT_EQ(client.ResultOf(client.Call("/echo", "another")), "0, another");
}

}  // namespace armature::daemon::rpc_call_test
