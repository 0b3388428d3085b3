// Time and order of streams: drains, stalls, turns, and the bound of the output.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/h2_session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/h2_client.h"
#include "tests/unit/daemon/http/h2_pair.h"

namespace armature::daemon::h2_pace_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int32_t kLastStreamOfNotice = 0x7fffffff;

// ---- Drain

TEST(H2Drain, StreamsBegunBeforeTheClientKnowsAreServed) {
  H2Pair pair;
  H2Client client;
  const int32_t first = client.Begin("/", /*is_whole=*/true);
  pair.Run(&client);
  pair.session.BeginDrain();
  const std::string notice = pair.Sent();
  const int32_t second = client.Begin("/", /*is_whole=*/true);
  ASSERT_TRUE(pair.session.Receive(client.Output()));
  EXPECT_EQ(pair.requests, 2);
  EXPECT_FALSE(pair.session.has_drained());
  ASSERT_TRUE(client.Input(notice));
  ASSERT_EQ(client.goaways().size(), 1);
  EXPECT_EQ(client.goaways()[0].last_stream, kLastStreamOfNotice);
  EXPECT_EQ(client.goaways()[0].error, NGHTTP2_NO_ERROR);
  pair.Run(&client);
  EXPECT_TRUE(pair.session.has_drained());
  ASSERT_EQ(client.goaways().size(), 2);
  EXPECT_EQ(client.goaways()[1].last_stream, second);
  EXPECT_EQ(client.goaways()[1].error, NGHTTP2_NO_ERROR);
  for (const size_t i : {0, 1}) {
    EXPECT_FALSE(pair.session.is_over());
    pair.handler(i).Answer({"served"});
    pair.Run(&client);
  }
  EXPECT_TRUE(pair.session.is_over());
  EXPECT_EQ(client.answer(first).data, "served");
  EXPECT_EQ(client.answer(second).data, "served");
  EXPECT_THAT(pair.broken, IsEmpty());
}

TEST(H2Drain, AnIdleConnectionIsOverAfterOneRoundTrip) {
  H2Pair pair;
  H2Client client;
  pair.Run(&client);
  pair.session.BeginDrain();
  pair.session.BeginDrain();
  EXPECT_FALSE(pair.session.is_over());
  pair.Run(&client);
  EXPECT_TRUE(pair.session.is_over());
}

// The client answered what it was asked before it could know of the drain.
TEST(H2Drain, AnEarlierPingsAnswerDoesNotEndIt) {
  H2Pair pair;
  H2Client client;
  pair.Run(&client);
  pair.session.Ping();
  EXPECT_TRUE(pair.session.awaits_ping());
  ASSERT_TRUE(client.Input(pair.Sent()));
  pair.session.BeginDrain();
  ASSERT_TRUE(pair.session.Receive(client.Output()));
  EXPECT_FALSE(pair.session.has_drained());
  pair.Run(&client);
  EXPECT_TRUE(pair.session.has_drained());
  EXPECT_FALSE(pair.session.awaits_ping());
}

TEST(H2Drain, EndsWithoutAnAnswer) {
  H2Pair pair;
  H2Client client;
  const int32_t first = client.Begin("/", /*is_whole=*/true);
  pair.Run(&client);
  pair.session.BeginDrain();
  static_cast<void>(pair.Sent());  // is lost
  pair.session.EndDrain();
  EXPECT_TRUE(pair.session.has_drained());
  // This request is late. The client is told so, and nobody begins to handle it.
  const int32_t late = client.Begin("/", /*is_whole=*/true);
  ASSERT_TRUE(pair.session.Receive(client.Output()));
  EXPECT_EQ(pair.requests, 1);
  const std::string later = pair.Sent();
  ASSERT_TRUE(client.Input(later));
  ASSERT_EQ(client.goaways().size(), 1);
  EXPECT_EQ(client.goaways()[0].last_stream, first);
  EXPECT_EQ(client.answer(late).closed_with, NGHTTP2_REFUSED_STREAM);
  pair.handler(0).Answer({"served"});
  pair.Run(&client);
  EXPECT_EQ(client.answer(first).data, "served");
  EXPECT_EQ(pair.handler(0).closes, 1);
  EXPECT_TRUE(pair.session.is_over());
}

// ---- Stalls

// gRPC's protocol page: a server breaks off only what cannot be ended by a status.
TEST(H2Stall, AnOwedRequestIsAnsweredByItsHandler) {
  H2Pair pair({.pace = {.stall_ns = 20 * kSecondNs}});
  H2Client client({.gives_windows = false});
  pair.on_request = [&](RecordingHandler& handler) {
    handler.stream->SetOwed(true);
    handler.on_stalled = [](RecordingHandler& self) { self.Answer({}, {{"grpc-status", "14"}}); };
    // An answer of which the client does not take the rest.
    if (pair.requests == 2) {
      handler.Head();
      handler.stream->Send({.head = {}, .bytes = std::string(100'000, 'm')});
    }
  };
  const int32_t owed = client.Begin("/");
  const int32_t unread = client.Begin("/");
  pair.Run(&client);
  pair.now_ns += 20 * kSecondNs;
  pair.session.Sweep(pair.now_ns);
  pair.session.Sweep(pair.now_ns);
  EXPECT_THAT(pair.broken, ElementsAre(H2Break::kStalled, H2Break::kStalled));
  pair.Run(&client);
  EXPECT_EQ(client.answer(owed).Find("grpc-status"), "14");
  EXPECT_EQ(client.answer(owed).closed_with, NGHTTP2_NO_ERROR);
  EXPECT_EQ(client.answer(unread).closed_with, NGHTTP2_CANCEL);
  EXPECT_EQ(pair.session.streams(), 0);
}

TEST(H2Stall, AnOwedRequestWithoutAnAnswerIsReset) {
  H2Pair pair({.pace = {.stall_ns = 20 * kSecondNs}});
  H2Client client;
  pair.on_request = [&](RecordingHandler& handler) {
    if (pair.requests == 1) handler.stream->SetOwed(true);
  };
  const int32_t owed = client.Begin("/");
  const int32_t other = client.Begin("/");
  pair.Run(&client);
  pair.now_ns += 20 * kSecondNs - 1;
  EXPECT_EQ(pair.session.Sweep(pair.now_ns), 0);
  EXPECT_THAT(pair.broken, IsEmpty());
  pair.now_ns += 1;
  pair.session.Sweep(pair.now_ns);
  pair.session.Sweep(pair.now_ns);
  EXPECT_THAT(pair.broken, ElementsAre(H2Break::kStalled));
  pair.Run(&client);
  EXPECT_EQ(client.answer(owed).closed_with, NGHTTP2_CANCEL);
  EXPECT_EQ(client.answer(other).closed_with, std::nullopt);
  EXPECT_EQ(pair.handler(0).closes, 1);
}

TEST(H2Stall, BytesEarnTimeAtTheMinimumRate) {
  H2Pair pair({.pace = {.stall_ns = 20 * kSecondNs, .bytes_per_second_min = 1000}});
  H2Client client;
  pair.on_request = [](RecordingHandler& handler) { handler.stream->SetOwed(true); };
  const int32_t steady = client.Begin("/");
  const int32_t slow = client.Begin("/");
  for (int i = 0; i < 100; ++i) {
    client.Send(steady, std::string(1000, 's'));
    client.Send(slow, std::string(500, 's'));
    pair.Run(&client);
    pair.now_ns += kSecondNs;
    pair.session.Sweep(pair.now_ns);
  }
  EXPECT_THAT(pair.broken, ElementsAre(H2Break::kStalled));
  EXPECT_EQ(pair.handler(0).closes, 0);
  EXPECT_EQ(pair.handler(1).closes, 1);
  EXPECT_NEAR(static_cast<double>(pair.handler(1).data.size()), 20'000, 1000);
  // All of it: nothing is owed any more.
  client.End(steady);
  pair.Run(&client);
  pair.now_ns += 1000 * kSecondNs;
  pair.session.Sweep(pair.now_ns);
  EXPECT_EQ(pair.handler(0).closes, 0);
}

TEST(H2Stall, AHeadThatDoesNotEndIsReset) {
  H2Pair pair({.pace = {.stall_ns = 20 * kSecondNs}});
  const std::string request = RawRequest(1);
  ASSERT_TRUE(pair.session.Receive(RawPreface() + request.substr(0, request.size() - 1)));
  EXPECT_EQ(pair.session.streams(), 1);
  pair.now_ns += 20 * kSecondNs;
  pair.session.Sweep(pair.now_ns);
  EXPECT_THAT(pair.broken, ElementsAre(H2Break::kStalled));
  static_cast<void>(pair.Sent());
  EXPECT_EQ(pair.session.streams(), 0);
  ASSERT_TRUE(pair.session.Receive(request.substr(request.size() - 1)));
  EXPECT_EQ(pair.requests, 0);
  EXPECT_TRUE(pair.session.Receive(RawRequest(3)));
  EXPECT_EQ(pair.requests, 1);
}

TEST(H2Stall, ACompleteHeadOwesNothing) {
  H2Pair pair;
  H2Client client;
  client.Begin("/");
  pair.Run(&client);
  pair.now_ns += 1000 * kSecondNs;
  pair.session.Sweep(pair.now_ns);
  EXPECT_THAT(pair.broken, IsEmpty());
}

TEST(H2Stall, AnUnreadAnswerIsReset) {
  H2Pair pair({.pace = {.stall_ns = 20 * kSecondNs, .bytes_per_second_min = 1000}});
  H2Client client({.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1000}}, .gives_windows = false});
  pair.on_request = [&](RecordingHandler& handler) {
    if (pair.requests == 3) handler.stream->set_patient();
    handler.Answer({std::string(1'000'000, 'm')});
  };
  const int32_t stalled = client.Begin("/", /*is_whole=*/true);
  const int32_t steady = client.Begin("/", /*is_whole=*/true);
  const int32_t patient = client.Begin("/", /*is_whole=*/true);
  const int64_t begin_ns = pair.now_ns;
  pair.Run(&client);
  for (int i = 0; i < 50; ++i) {
    client.GiveWindow(steady, 1000);
    client.GiveWindow(0, 1000);
    pair.Run(&client);
    pair.now_ns += kSecondNs;
    EXPECT_EQ(pair.session.Sweep(pair.now_ns), begin_ns);
  }
  pair.Run(&client);
  EXPECT_THAT(pair.broken, ElementsAre(H2Break::kStalled));
  EXPECT_EQ(client.answer(stalled).closed_with, NGHTTP2_CANCEL);
  EXPECT_EQ(client.answer(steady).closed_with, std::nullopt);
  EXPECT_EQ(client.answer(steady).data.size(), 51'000);
  EXPECT_EQ(client.answer(patient).closed_with, std::nullopt);
}

TEST(H2Stall, SweepReturnsTheOldestUnsentAnswersTime) {
  H2Pair pair;
  H2Client client({.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}}, .gives_windows = false});
  const int32_t first = client.Begin("/", /*is_whole=*/true);
  client.Begin("/", /*is_whole=*/true);
  pair.Run(&client);
  EXPECT_EQ(pair.session.Sweep(pair.now_ns), 0);
  const int64_t begin_ns = pair.now_ns;
  pair.handler(0).Answer({"m"});
  pair.Run(&client);
  pair.now_ns += kSecondNs;
  pair.handler(1).Answer({"m"});
  pair.Run(&client);
  pair.now_ns += kSecondNs;
  EXPECT_EQ(pair.session.Sweep(pair.now_ns), begin_ns);
  client.GiveWindow(first, 1);
  pair.Run(&client);
  EXPECT_EQ(client.answer(first).Find("grpc-status"), "0");
  EXPECT_EQ(pair.session.Sweep(pair.now_ns), begin_ns + kSecondNs);
}

// ---- Order and bounds of what is sent

TEST(H2Send, TheOutputIsBounded) {
  constexpr size_t kMost = 100'000;
  H2Pair pair({.output_bytes_max = kMost});
  H2Client client({.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 30},
                                {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, (1 << 24) - 1}}});
  client.GiveWindow(0, 1 << 30);
  const std::string message(5'000'000, 'm');
  pair.on_request = [&](RecordingHandler& handler) { handler.Answer({message, message}); };
  const int32_t stream = client.Begin("/", /*is_whole=*/true);
  ASSERT_TRUE(pair.session.Receive(client.Output()));
  ASSERT_TRUE(pair.session.Pull());
  EXPECT_TRUE(pair.session.is_blocked());
  EXPECT_GE(pair.output.size(), kMost);
  const size_t size = pair.output.size();
  ASSERT_TRUE(pair.session.Pull());
  EXPECT_EQ(pair.output.size(), size);
  while (pair.session.is_blocked()) {
    ASSERT_LT(pair.output.size(), kMost + (16 << 10) + 100);
    ASSERT_LT(pair.output.copied_bytes(), 64 << 10);
    ASSERT_TRUE(client.Input(pair.Read(70'000)));
    ASSERT_TRUE(pair.session.Pull());
  }
  pair.Run(&client);
  EXPECT_EQ(client.answer(stream).data, message + message);
  EXPECT_EQ(client.answer(stream).Find("grpc-status"), "0");
}

TEST(H2Send, FramesAreNotLongerThanTheClientTakes) {
  H2Pair pair;
  H2Client client({.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20}}});
  pair.on_request = [&](RecordingHandler& handler) { handler.Answer({std::string(1 << 16, 'm')}); };
  client.Begin("/", /*is_whole=*/true);
  ASSERT_TRUE(pair.session.Receive(client.Output()));
  const std::string sent = pair.Sent();
  for (const RawFrameView& frame : SplitFrames(sent)) EXPECT_LE(frame.payload.size(), 16 << 10);
}

TEST(H2Send, AnswersTakeTurns) {
  H2Pair pair({.output_bytes_max = 50'000});
  H2Client client({.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 30}}});
  client.GiveWindow(0, 1 << 30);
  const int32_t large = client.Begin("/", /*is_whole=*/true);
  pair.Run(&client);
  pair.handler(0).Answer({std::string(10'000'000, 'm')});
  ASSERT_TRUE(pair.session.Pull());
  const int32_t small = client.Begin("/", /*is_whole=*/true);
  ASSERT_TRUE(pair.session.Receive(client.Output()));
  pair.handler(1).Answer({std::string(1000, 's')});
  while (!client.answer(small).has_ended) {
    ASSERT_LT(client.answer(large).data.size(), 500'000);
    ASSERT_TRUE(client.Input(pair.Read(20'000)));
    ASSERT_TRUE(pair.session.Pull());
  }
}

// Neither window is open: an error needs none.
TEST(H2Send, TrailersWithoutMessagesNeedNoWindow) {
  for (const bool is_closed : {false, true}) {
    H2Pair pair;
    H2Client client(
        {.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, is_closed ? 0U : 65'535U}}, .gives_windows = false});
    const int32_t large = client.Begin("/", /*is_whole=*/true);
    const int32_t early = client.Begin("/", /*is_whole=*/true);
    const int32_t late = client.Begin("/", /*is_whole=*/true);
    pair.Run(&client);
    pair.handler(0).Answer({std::string(100'000, 'm')});  // uses up the connection's window
    pair.Run(&client);
    pair.handler(1).Answer({});
    pair.handler(2).Head();
    pair.Run(&client);
    pair.handler(2).End();
    pair.Run(&client);
    EXPECT_EQ(client.answer(early).Find("grpc-status"), "0");
    EXPECT_EQ(client.answer(late).Find("grpc-status"), "0");
    EXPECT_FALSE(client.answer(large).has_ended);
    EXPECT_EQ(pair.session.streams(), 1);
  }
}

}  // namespace armature::daemon::h2_pace_test
