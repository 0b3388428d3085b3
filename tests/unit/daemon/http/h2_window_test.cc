// How much clients may send ahead.

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/http/h2_session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/h2_client.h"
#include "tests/unit/daemon/http/h2_pair.h"

namespace armature::daemon::h2_window_test {

using testing::IsEmpty;

constexpr int64_t kMillisecondNs = 1'000'000;
constexpr size_t kWindow = 64 << 10;

TEST(H2Window, AClientSendsNoMoreUntilTheHandlerConsumes) {
  H2Pair pair;
  H2Client client;
  pair.Run(&client);
  pair.on_request = [](RecordingHandler& handler) { handler.consumes = false; };
  const int32_t stream = client.Begin("/");
  client.Send(stream, std::string(1'000'000, 'x'));
  pair.Run(&client);
  RecordingHandler& handler = pair.handler(0);
  EXPECT_EQ(handler.data.size(), kWindow);
  EXPECT_EQ(pair.session.held_bytes(), kWindow);
  handler.stream->Consume(kWindow / 2);
  EXPECT_EQ(pair.session.held_bytes(), kWindow / 2);
  pair.Run(&client);
  EXPECT_EQ(handler.data.size(), kWindow + kWindow / 2);
  // Other streams have windows of their own.
  const int32_t other = client.Begin("/");
  client.Send(other, std::string(1'000'000, 'x'));
  pair.Run(&client);
  EXPECT_EQ(pair.handler(1).data.size(), kWindow);
  EXPECT_EQ(pair.session.held_bytes(), 2 * kWindow);
  client.Reset(stream);
  client.Reset(other);
  pair.Run(&client);
  EXPECT_EQ(pair.session.held_bytes(), 0);
}

TEST(H2Window, AClientThatSendsMoreIsReset) {
  H2Pair pair;
  H2Client client;
  pair.Run(&client);
  pair.on_request = [](RecordingHandler& handler) { handler.consumes = false; };
  client.Begin("/");
  pair.Run(&client);
  const std::string frame = RawFrame(NGHTTP2_DATA, 0, 1, std::string(1 << 14, 'x'));
  for (int i = 0; i < 6; ++i) static_cast<void>(pair.session.Receive(frame));
  pair.Run(&client);
  EXPECT_EQ(pair.handler(0).closes, 1);
  EXPECT_EQ(client.answer(1).closed_with, NGHTTP2_FLOW_CONTROL_ERROR);
  EXPECT_LE(pair.handler(0).data.size(), kWindow + (1 << 14));
}

TEST(H2Window, SetWindowWidens) {
  H2Pair pair;
  pair.may_widen = false;
  H2Client client;
  pair.Run(&client);
  pair.on_request = [](RecordingHandler& handler) {
    handler.consumes = false;
    handler.on_data = [](RecordingHandler& self) {
      if (self.data.size() > 5) self.stream->SetWindow(300'000);
    };
  };
  const int32_t stream = client.Begin("/");
  client.Send(stream, std::string(1'000'000, 'x'));
  pair.Run(&client);
  EXPECT_EQ(pair.handler(0).data.size(), 300'000);
  // A narrower one changes nothing.
  pair.handler(0).stream->SetWindow(1000);
  pair.handler(0).stream->Consume(300'000);
  pair.Run(&client);
  EXPECT_EQ(pair.handler(0).data.size(), 600'000);
}

// Sends as a client does whose bytes and window updates take a time each way.
size_t SendInRoundTrips(H2Pair* pair, H2Client* client, int round_trips) {
  size_t most = 0;
  for (int i = 0; i < round_trips; ++i) {
    const size_t before = pair->handlers.empty() ? 0 : pair->handler(0).data.size();
    const std::string bytes = client->Output();
    pair->now_ns += 25 * kMillisecondNs;
    EXPECT_TRUE(pair->session.Receive(bytes));
    const std::string sent = pair->Sent();
    pair->now_ns += 25 * kMillisecondNs;
    EXPECT_TRUE(client->Input(sent));
    most = std::max(most, pair->handler(0).data.size() - before);
  }
  return most;
}

TEST(H2Window, ALongUploadOverALongWayGetsAWiderOne) {
  H2Pair pair({.window_bytes_max = 1 << 20});
  H2Client client;
  pair.Run(&client);
  const int32_t stream = client.Begin("/");
  client.Send(stream, std::string(40'000'000, 'x'));
  EXPECT_EQ(SendInRoundTrips(&pair, &client, 2), kWindow);
  EXPECT_EQ(SendInRoundTrips(&pair, &client, 30), 1 << 20);
  EXPECT_EQ(pair.session.held_bytes(), (1 << 20) - kWindow);
  EXPECT_THAT(pair.broken, IsEmpty());
  client.Reset(stream);
  pair.Run(&client);
  EXPECT_EQ(pair.session.held_bytes(), 0);
  // The next long upload on this connection begins with the wide window as soon as it is long.
  const int32_t next = client.Begin("/");
  client.Send(next, std::string(100'000, 'x'));
  pair.Run(&client);
  EXPECT_EQ(pair.session.held_bytes(), (1 << 20) - kWindow);
  client.End(next);
  pair.Run(&client);
  pair.handler(1).Answer({});
  pair.Run(&client);
  EXPECT_EQ(pair.session.held_bytes(), 0);
}

// Bytes on their way, which takes a time, in one direction.
class DelayLine {
 public:
  explicit DelayLine(int64_t delay_ns) : delay_ns_(delay_ns) {}
  void Put(std::string bytes, int64_t now_ns) {
    if (!bytes.empty()) under_way_.emplace_back(now_ns + delay_ns_, std::move(bytes));
  }
  // The next part that has arrived; empty: none.
  std::string Take(int64_t now_ns) {
    if (under_way_.empty() || under_way_.front().first > now_ns) return {};
    std::string bytes = std::move(under_way_.front().second);
    under_way_.pop_front();
    return bytes;
  }

 private:
  const int64_t delay_ns_;
  std::deque<std::pair<int64_t, std::string>> under_way_;
};

// The bytes that a client uploads in the last second of three, over a way with a round trip of 100 ms and so many bytes
// in a millisecond. The library tells the client of a wider window when half of one has been taken.
size_t UploadedInLastSecond(const H2Limits& limits, size_t bytes_per_ms) {
  H2Pair pair(limits);
  H2Client client;
  DelayLine up(50 * kMillisecondNs);
  DelayLine down(50 * kMillisecondNs);
  const int32_t stream = client.Begin("/");
  std::string waiting = client.Output();
  size_t uploaded = 0;
  for (int ms = 0; ms < 3'000; ++ms, pair.now_ns += kMillisecondNs) {
    if (!pair.handlers.empty()) {
      std::string& data = pair.handler(0).data;
      if (ms >= 2'000) uploaded += data.size();
      data.clear();
    }
    if (client.unsent(stream) < 2 * bytes_per_ms) client.Send(stream, std::string(8 * bytes_per_ms, 'x'));
    if (waiting.size() < bytes_per_ms) waiting += client.Output();
    up.Put(waiting.substr(0, bytes_per_ms), pair.now_ns);
    waiting.erase(0, bytes_per_ms);
    for (std::string part = up.Take(pair.now_ns); !part.empty(); part = up.Take(pair.now_ns)) {
      EXPECT_TRUE(pair.session.Receive(part));
      down.Put(pair.Sent(), pair.now_ns);
    }
    for (std::string part = down.Take(pair.now_ns); !part.empty(); part = down.Take(pair.now_ns)) {
      EXPECT_TRUE(client.Input(part));
    }
  }
  return uploaded;
}

TEST(H2Window, AnUploadFillsALongWay) {
  EXPECT_GE(UploadedInLastSecond({}, 10'000), 9'900'000);
  // The widest window that there is limits what is under way.
  const size_t bounded = UploadedInLastSecond({.window_bytes_max = 1 << 20}, 30'000);
  EXPECT_GE(bounded, 5 << 20);
  EXPECT_LE(bounded, 11 << 20);
}

TEST(H2Window, IsNotWidenedWithoutMemory) {
  H2Pair pair;
  pair.may_widen = false;
  H2Client client;
  pair.Run(&client);
  const int32_t stream = client.Begin("/");
  client.Send(stream, std::string(40'000'000, 'x'));
  EXPECT_EQ(SendInRoundTrips(&pair, &client, 30), kWindow);
  EXPECT_EQ(pair.session.held_bytes(), 0);
  pair.may_widen = true;
  EXPECT_GT(SendInRoundTrips(&pair, &client, 3), kWindow);
}

TEST(H2Window, IsNotWidenedForOneMessage) {
  H2Pair pair;
  pair.has_long_requests = false;
  H2Client client;
  pair.Run(&client);
  const int32_t stream = client.Begin("/");
  client.Send(stream, std::string(40'000'000, 'x'));
  EXPECT_EQ(SendInRoundTrips(&pair, &client, 10), kWindow);
  EXPECT_EQ(pair.session.held_bytes(), 0);
}

TEST(H2Window, AnUploadThatIsNotHeldUpKeepsItsWindow) {
  H2Pair pair;
  H2Client client;
  pair.Run(&client);
  const int32_t stream = client.Begin("/");
  size_t pings = 0;
  for (int i = 0; i < 1000; ++i) {
    client.Send(stream, std::string(1000, 'x'));
    ASSERT_TRUE(pair.session.Receive(client.Output()));
    const std::string sent = pair.Sent();
    for (const RawFrameView& frame : SplitFrames(sent)) {
      pings += frame.type == NGHTTP2_PING && frame.flags == 0 ? 1 : 0;
    }
    pair.now_ns += 10 * kMillisecondNs;
    ASSERT_TRUE(client.Input(sent));
  }
  EXPECT_EQ(pair.session.held_bytes(), 0);
  EXPECT_GE(pings, 3);
  EXPECT_LE(pings, 10);
}

// Together they send more in a round trip than one window, and none of them is held up.
TEST(H2Window, UploadsSideBySideKeepTheirWindows) {
  H2Pair pair;
  H2Client client;
  pair.Run(&client);
  std::vector<int32_t> streams;
  for (int i = 0; i < 20; ++i) streams.push_back(client.Begin("/"));
  for (int i = 0; i < 100; ++i) {
    for (const int32_t stream : streams) client.Send(stream, std::string(10'000, 'x'));
    ASSERT_TRUE(pair.session.Receive(client.Output()));
    const std::string sent = pair.Sent();
    pair.now_ns += 100 * kMillisecondNs;
    ASSERT_TRUE(client.Input(sent));
  }
  EXPECT_EQ(pair.session.held_bytes(), 0);
}

TEST(H2Window, ShortRequestsAreNotProbed) {
  H2Pair pair;
  H2Client client;
  pair.on_request = [](RecordingHandler& handler) {
    handler.on_end = [](RecordingHandler& self) { self.Answer({"m"}); };
  };
  for (int i = 0; i < 100; ++i) {
    client.Request("/", std::string(10'000, 'x'));
    ASSERT_TRUE(pair.session.Receive(client.Output()));
    const std::string sent = pair.Sent();
    for (const RawFrameView& frame : SplitFrames(sent)) EXPECT_NE(frame.type, NGHTTP2_PING);
    ASSERT_TRUE(client.Input(sent));
  }
}

// A ping that nobody sent has no round trip.
TEST(H2Window, AnswersToNoProbeWidenNothing) {
  H2Pair pair;
  ASSERT_TRUE(pair.session.Receive(RawPreface() + RawRequest(1, /*is_whole=*/false)));
  const std::string data = RawFrame(NGHTTP2_DATA, 0, 1, std::string(16'000, 'x'));
  const std::string answer = RawFrame(NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, std::string_view("probe\0\0\0", 8));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pair.session.Receive(data + answer));
  EXPECT_EQ(pair.session.held_bytes(), 0);
}

}  // namespace armature::daemon::h2_window_test
