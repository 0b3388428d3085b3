// How calls read: not before their handlers are ready, and in their time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/monotonic_wait.h"
#include "tests/unit/daemon/rpc/rpc_server.h"

namespace armature::daemon::rpc_reading_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RpcReading, WithoutReadNoMoreThanAWindowIsTaken) {
  RpcServer server;
  server.Add("/posted", [](TestCall& it) {
    it.on_message = [&it](InMessage) { it.call->Read(); };
    it.on_read_end = [&it] { it.call->Finish(RpcStatus()); };
  });
  RpcClient client(server.Start());
  const std::string bytes = Framed(Pattern(100'000)) + Framed("small") + Framed(Pattern(100'000));
  const int32_t stream = client.CallWith("/posted", bytes);
  ASSERT_TRUE(client.Await([&] { return client->unsent(stream) == bytes.size() - (64 << 10); }));
  client.RoundTrip();
  client.RoundTrip();
  EXPECT_EQ(client->unsent(stream), bytes.size() - (64 << 10));
  TestCall& call = server.call(0);
  EXPECT_THAT(call.events.all(), IsEmpty());
  call.call->Post([&call] { call.call->Read(); });
  EXPECT_EQ(client.StatusOf(stream), "0");
  call.events.Await("done");
  EXPECT_THAT(call.events.all(),
              ElementsAre("message 100000 bytes", "message small", "message 100000 bytes", "end", "done"));
}

// A large message opens the window widely. The bytes after it arrive in small frames, and nobody reads them.
TEST(RpcReading, UnreadBytesAfterALargeMessageCostLittleTime) {
  RpcServer server;
  RpcClient client(server.Start());
  const int32_t stream = client.Begin("/hold");
  client->Send(stream, Framed(Pattern(16 << 20)));
  ASSERT_TRUE(client.Await([&] { return server.size() == 1 && server.call(0).events.size() == 1; }));
  std::string frames;
  for (int i = 0; i < 60'000; ++i) frames += RawFrame(NGHTTP2_DATA, 0, 1, std::string(100, 'x'));
  const int64_t begin_ns = MonotonicNs();
  client.SendRaw(frames);
  client.RoundTrip();
  EXPECT_LT(MonotonicNs() - begin_ns, 20'000'000'000);
  EXPECT_EQ(server.http->h2_counts().flooding, 0);
  EXPECT_THAT(server.call(0).events.all(), ElementsAre("message 16777216 bytes"));
}

// The handler of a pipeline takes one message after another, each when it is done with the one before.
TEST(RpcReading, ManySmallMessagesAfterALargeOneAreTakenOneByOne) {
  constexpr int kMessages = 200'000;
  RpcServer server;
  int left = kMessages;
  server.Add("/one_by_one", [&](TestCall& it) {
    it.on_message = [&](InMessage message) {
      if (message.bytes.size() > 1 || --left > 0) it.call->Post([&it] { it.call->Read(); });
    };
    it.on_read_end = [&it] { it.call->Finish(RpcStatus()); };
    it.call->Read();
  });
  RpcClient client(server.Start());
  const int32_t stream = client.Begin("/one_by_one");
  client->Send(stream, Framed(Pattern(16 << 20)));
  std::string bytes;
  for (int i = 0; i < kMessages; ++i) bytes += Framed("m");
  client->Send(stream, bytes);
  client->End(stream);
  const int64_t begin_ns = MonotonicNs();
  ASSERT_TRUE(client.Await([&] { return server.size() == 1 && server.call(0).events.size() > kMessages; }));
  EXPECT_LT(MonotonicNs() - begin_ns, 20'000'000'000);
  server.call(0).call->Post([&] { server.call(0).call->Read(); });
  EXPECT_EQ(client.StatusOf(stream), "0");
}

// Thousands of small messages may be there at once: other work of the loop does not wait for all of them.
TEST(RpcReading, ManySmallMessagesAreHandledInTurns) {
  constexpr size_t kMessages = 2000;
  RpcServer server;
  size_t handled = 0;
  size_t handled_first = 0;  // before other work
  server.Add("/many", [&](TestCall& it) {
    it.on_message = [&](InMessage) {
      if (++handled == 1) it.call->Post([&] { handled_first = handled; });
      it.call->Read();
    };
    it.on_read_end = [&] { it.call->Finish(RpcStatus()); };
    it.call->Read();
  });
  RpcClient client(server.Start());
  std::string bytes;
  for (size_t i = 0; i < kMessages; ++i) bytes += Framed("m");
  EXPECT_EQ(client.StatusOf(client.CallWith("/many", bytes)), "0");
  EXPECT_EQ(handled, kMessages);
  EXPECT_LE(handled_first, 65);
}

// Messages in a frame each, on several streams: other work of the loop comes between them, too.
TEST(RpcReading, ManySmallFramesAreHandledInTurns) {
  constexpr uint32_t kStreams = 10;
  constexpr size_t kMessages = 2000;
  RpcServer server;
  size_t handled = 0;
  size_t handled_first = 0;  // before other work
  server.Add("/many", [&](TestCall& it) {
    it.on_message = [&](InMessage) {
      if (++handled == kStreams + 1) it.call->Post([&] { handled_first = handled; });
      it.call->Read();
    };
    it.on_read_end = [&] { it.call->Finish(RpcStatus()); };
    it.call->Read();
  });
  RpcClient client(server.Start());
  std::vector<int32_t> streams;
  for (uint32_t i = 0; i < kStreams; ++i) {
    streams.push_back(client.Begin("/many"));
    client->Send(streams.back(), Framed("the first one"));
  }
  ASSERT_TRUE(client.Await([&] { return server.size() == kStreams; }));
  client.RoundTrip();
  std::string frames;
  for (size_t i = 0; i < kMessages; ++i) {
    frames += RawFrame(NGHTTP2_DATA, 0, static_cast<uint32_t>(streams[i % kStreams]), Framed("one of many"));
  }
  client.SendRaw(frames);
  for (const int32_t stream : streams) client->End(stream);
  for (const int32_t stream : streams) EXPECT_EQ(client.StatusOf(stream), "0");
  EXPECT_EQ(handled, kMessages + kStreams);
  EXPECT_GT(handled_first, 0);
  EXPECT_LE(handled_first, 2 * kStreams + 65);
}

TEST(RpcReading, ReadDoesNotRecurse) {
  constexpr int kMessages = 20'000;
  RpcServer server;
  int depth = 0;
  int deepest = 0;
  int messages = 0;
  server.Add("/deep", [&](TestCall& it) {
    it.on_message = [&](InMessage) {
      deepest = std::max(deepest, ++depth);
      ++messages;
      it.call->Read();
      --depth;
    };
    it.on_read_end = [&] { it.call->Finish(RpcStatus()); };
    it.call->Read();
  });
  RpcClient client(server.Start());
  std::string bytes;
  for (int i = 0; i < kMessages; ++i) bytes += Framed("m");
  EXPECT_EQ(client.StatusOf(client.CallWith("/deep", bytes)), "0");
  EXPECT_EQ(messages, kMessages);
  EXPECT_EQ(deepest, 1);
}

TEST(RpcReading, SeveralReadsAreSeveralMessages) {
  RpcServer server;
  server.Add("/two", [](TestCall& it) {
    it.call->Read();
    it.call->Read();
  });
  RpcClient client(server.Start());
  client.CallWith("/two", Framed("a") + Framed("b") + Framed("c"));
  client.RoundTrip();
  EXPECT_THAT(server.call(0).events.all(), ElementsAre("message a", "message b"));
}

TEST(RpcReading, TheEndIsToldBeforeReadIfThereIsNoMessage) {
  RpcServer server;
  RpcClient client(server.Start());
  client.Begin("/unread", {}, /*is_whole=*/true);
  client.RoundTrip();
  EXPECT_THAT(server.call(0).events.all(), ElementsAre("end"));
}

TEST(RpcReading, TheEndWaitsForUnreadMessages) {
  RpcServer server;
  RpcClient client(server.Start());
  client.CallWith("/unread", Framed("a") + Framed("b"));
  client.RoundTrip();
  TestCall& call = server.call(0);
  EXPECT_THAT(call.events.all(), IsEmpty());
  for (int i = 0; i < 2; ++i) call.call->Post([&call] { call.call->Read(); });
  call.events.Await("end");
  EXPECT_THAT(call.events.all(), ElementsAre("message a", "message b", "end"));
}

TEST(RpcReading, UnreadBytesThatAreCutOffAreFoundByRead) {
  RpcServer server;
  RpcClient client(server.Start());
  const int32_t stream = client.CallWith("/unread", Framed("a") + Framed("b").substr(0, 5));
  client.RoundTrip();
  TestCall& call = server.call(0);
  call.call->Post([&call] { call.call->Read(); });
  call.events.Await("message a");
  EXPECT_FALSE(client->answer(stream).closed_with.has_value());
  call.call->Post([&call] { call.call->Read(); });
  EXPECT_EQ(client.StatusOf(stream), "13 The message is cut off");
}

}  // namespace armature::daemon::rpc_reading_test
