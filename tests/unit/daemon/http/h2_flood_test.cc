// Clients that send what costs them little and the daemon much, and clients that only look like them.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/h2_session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/h2_client.h"
#include "tests/unit/daemon/http/h2_pair.h"

namespace armature::daemon::h2_flood_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kSecondNs = 1'000'000'000;

void Echo(RecordingHandler& handler) {
  handler.on_end = [](RecordingHandler& self) { self.Answer({self.data}); };
}

// ---- Floods

struct Flooded {
  size_t units = 0;  // that were sent before the session had enough
  bool has_ended = false;
  uint32_t error = 0;  // of the last GOAWAY
};

// Sends up to `most` units, the first alone and then some at once, and reads what there is to read. The clock stands
// still.
Flooded Flood(H2Pair* pair, const std::function<std::string(uint32_t)>& unit, size_t most) {
  constexpr size_t kAtOnceBytes = 16 << 10;
  Flooded outcome;
  EXPECT_TRUE(pair->session.Receive(RawPreface()));
  static_cast<void>(pair->Sent());
  bool is_open = true;
  while (is_open && !pair->session.is_over() && outcome.units < most) {
    std::string bytes;
    do {
      bytes += unit(static_cast<uint32_t>(outcome.units++));
    } while (bytes.size() < kAtOnceBytes && outcome.units > 1 && outcome.units < most);
    is_open = pair->session.Receive(bytes);
    const std::string sent = pair->Sent();
    for (const RawFrameView& frame : SplitFrames(sent)) {
      if (frame.type != NGHTTP2_GOAWAY) continue;
      for (const char c : frame.payload.substr(4, 4)) outcome.error = outcome.error << 8 | static_cast<uint8_t>(c);
    }
  }
  outcome.has_ended = pair->session.is_over();
  return outcome;
}

void ExpectCalmed(const H2Pair& pair, const Flooded& flooded, size_t units_max, H2Break why = H2Break::kFrames) {
  EXPECT_LE(flooded.units, units_max);
  EXPECT_TRUE(flooded.has_ended);
  EXPECT_EQ(flooded.error, NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_THAT(pair.broken, ElementsAre(why));
}

TEST(H2Flood, FramesWithoutUse) {
  const std::string priority = RawFrame(NGHTTP2_PRIORITY, 0, 3, BigEndian(0, 4) + "w");
  const std::string settings =
      RawFrame(NGHTTP2_SETTINGS, 0, 0, BigEndian(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 2) + BigEndian(100, 4));
  for (const std::string& frame :
       {RawFrame(NGHTTP2_PING, 0, 0, "12345678"), RawFrame(NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "12345678"),
        RawFrame(NGHTTP2_SETTINGS, 0, 0, {}), settings, priority, RawFrame(NGHTTP2_DATA, 0, 1, {}),
        RawFrame(NGHTTP2_DATA, 0, 1, "1"), RawFrame(NGHTTP2_WINDOW_UPDATE, 0, 0, BigEndian(1, 4)),
        RawFrame(NGHTTP2_WINDOW_UPDATE, 0, 1, BigEndian(1, 4)), RawFrame(NGHTTP2_RST_STREAM, 0, 1, BigEndian(8, 4)),
        RawFrame(0x42, 0, 0, {}), RawFrame(0xff, 0, 1, std::string(1000, 'u')),
        RawFrame(NGHTTP2_ALTSVC, 0, 0, std::string(10, 0)), RawFrame(NGHTTP2_ORIGIN, 0, 0, {}),
        RawFrame(NGHTTP2_PRIORITY_UPDATE, 0, 0, BigEndian(1, 4) + "u=1"),
        RawFrame(NGHTTP2_GOAWAY, 0, 0, std::string(8, 0))}) {
    H2Pair pair;
    const Flooded flooded = Flood(
        &pair, [&](uint32_t i) { return i == 0 ? RawRequest(1, /*is_whole=*/false) : frame; }, 100'000);
    SCOPED_TRACE(testing::PrintToString(frame.substr(3, 6)));
    ExpectCalmed(pair, flooded, 4000);
    EXPECT_LE(pair.handler(0).calls, 1001);
  }
}

TEST(H2Flood, ComeBackWithTime) {
  H2Pair pair({.frames = {.burst = 100, .per_second = 10}});
  ASSERT_TRUE(pair.session.Receive(RawPreface()));
  const std::string ping = RawFrame(NGHTTP2_PING, 0, 0, "12345678");
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(pair.session.Receive(ping)) << i;
    static_cast<void>(pair.Sent());
    pair.now_ns += kSecondNs / 10;
  }
  pair.now_ns += 1000 * kSecondNs;
  int pings = 0;
  while (pair.session.Receive(ping)) ++pings;
  EXPECT_GE(pings, 90);
  EXPECT_LE(pings, 200);
  EXPECT_THAT(pair.broken, ElementsAre(H2Break::kFrames));
}

TEST(H2Flood, RapidResets) {
  H2Pair pair({.resets = {.burst = 100, .per_second = 10}});
  pair.keeps_handlers = false;
  const Flooded flooded = Flood(
      &pair,
      [](uint32_t i) { return RawRequest(2 * i + 1) + RawFrame(NGHTTP2_RST_STREAM, 0, 2 * i + 1, BigEndian(8, 4)); },
      100'000);
  ExpectCalmed(pair, flooded, 1000);
  EXPECT_LE(pair.requests, 102);
}

// The client does not reset the streams itself, but has the daemon do so by errors.
TEST(H2Flood, ResetsByErrors) {
  H2Pair pair({.resets = {.burst = 100, .per_second = 10}});
  pair.keeps_handlers = false;
  const Flooded flooded = Flood(
      &pair,
      [](uint32_t i) {
        return RawRequest(2 * i + 1) + RawFrame(NGHTTP2_WINDOW_UPDATE, 0, 2 * i + 1, BigEndian(0x7fffffff, 4));
      },
      100'000);
  ExpectCalmed(pair, flooded, 1000);
  EXPECT_LE(pair.requests, 400);
}

TEST(H2Flood, ResetsComeBackWithTime) {
  H2Pair pair({.resets = {.burst = 10, .per_second = 10}});
  H2Client client;
  for (int i = 0; i < 1000; ++i) {
    const int32_t stream = client.Begin("/");
    pair.Run(&client);
    client.Reset(stream);
    pair.Run(&client);
    ASSERT_TRUE(pair.is_open) << i;
    pair.now_ns += kSecondNs / 10;
  }
}

TEST(H2Flood, Continuations) {
  for (const std::string_view payload : {"", "aa"}) {
    H2Pair pair;
    const std::string block = RawHeaderBlock({{"a", std::string(100, 'a')}});
    const Flooded flooded = Flood(
        &pair,
        [&](uint32_t i) {
          if (i == 0) return RawFrame(NGHTTP2_HEADERS, 0, 1, RawHeaderBlock(RawRequestFields()) + block.substr(0, 3));
          return RawFrame(NGHTTP2_CONTINUATION, 0, 1, payload);
        },
        100'000);
    ExpectCalmed(pair, flooded, 2000, H2Break::kHeads);
    EXPECT_EQ(pair.requests, 0);
  }
}

TEST(H2Flood, EndlessHeads) {
  H2Pair pair;
  const std::string block = RawHeaderBlock({{"a", std::string(10'000, 'a')}});
  const Flooded flooded = Flood(
      &pair,
      [&](uint32_t i) {
        return RawFrame(i == 0 ? NGHTTP2_HEADERS : NGHTTP2_CONTINUATION, 0, 1,
                        i == 0 ? RawHeaderBlock(RawRequestFields()) : block);
      },
      100'000);
  ExpectCalmed(pair, flooded, 10, H2Break::kHeads);
}

TEST(H2Flood, ManyEmptyHeaders) {
  H2Pair pair;
  // The static table's entry "age" without a value: one byte each.
  const std::string block = RawHeaderBlock(RawRequestFields()) + std::string(16'000, '\x95');
  const Flooded flooded = Flood(
      &pair, [&](uint32_t i) { return RawFrame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 2 * i + 1, block); }, 100);
  ExpectCalmed(pair, flooded, 2, H2Break::kHeads);
  EXPECT_EQ(pair.requests, 0);
}

// A value of 4 KB is put into the decoder's table once, and referred to by a byte each time.
TEST(H2Flood, ReferencesToALargeHeader) {
  for (const bool in_trailers : {false, true}) {
    H2Pair pair;
    const std::string value = std::string("\x40") + RawLength(1, 7) + "a" + RawLength(4000, 7) + std::string(4000, 'a');
    const std::string many(12'000, '\xbe');
    const int end = NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM;
    const Flooded flooded = Flood(
        &pair,
        [&](uint32_t i) {
          const uint32_t stream = 2 * i + 1;
          const std::string head = RawHeaderBlock(RawRequestFields());
          if (!in_trailers) return RawFrame(NGHTTP2_HEADERS, end, stream, head + value + many);
          return RawRequest(stream, /*is_whole=*/false) + RawFrame(NGHTTP2_HEADERS, end, stream, value + many);
        },
        100);
    ExpectCalmed(pair, flooded, 2, H2Break::kHeads);
    EXPECT_LE(pair.requests, 1);
  }
}

TEST(H2Flood, ManySettings) {
  H2Pair pair;
  std::string entries;
  for (uint32_t i = 0; i < 2000; ++i) entries += BigEndian(1000 + i, 2) + BigEndian(i, 4);
  const Flooded flooded = Flood(
      &pair, [&](uint32_t) { return RawFrame(NGHTTP2_SETTINGS, 0, 0, entries); }, 100);
  ExpectCalmed(pair, flooded, 2);
}

// The library shows nobody the data for streams that have ended.
TEST(H2Flood, DataForStreamsThatHaveEnded) {
  for (const size_t size : {0, 1, 10'000}) {
    H2Pair pair;
    pair.on_request = [](RecordingHandler& handler) { handler.Answer({}); };
    const std::string frame = RawFrame(NGHTTP2_DATA, 0, 1, std::string(size, 'd'));
    const Flooded flooded = Flood(
        &pair, [&](uint32_t i) { return i == 0 ? RawRequest(1, /*is_whole=*/false) : frame; }, 1'000'000);
    ExpectCalmed(pair, flooded, (2 << 20) / frame.size());
  }
}

TEST(H2Flood, RequestsAfterTheGoodbye) {
  H2Pair pair;
  const Flooded flooded = Flood(
      &pair,
      [&](uint32_t i) {
        if (i == 1) pair.session.EndDrain();
        return RawRequest(2 * i + 1, i != 0);
      },
      100'000);
  ExpectCalmed(pair, flooded, 4000);
  EXPECT_EQ(pair.requests, 1);
}

// Each window update lets one byte go, for which the daemon makes a frame.
TEST(H2Flood, AWindowThatIsOpenedByteByByte) {
  H2Pair pair;
  pair.on_request = [](RecordingHandler& handler) { handler.Answer({std::string(1'000'000, 'm')}); };
  const std::string settings =
      RawFrame(NGHTTP2_SETTINGS, 0, 0, BigEndian(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 2) + BigEndian(0, 4));
  const Flooded flooded = Flood(
      &pair,
      [&](uint32_t i) {
        return i == 0 ? settings + RawRequest(1) : RawFrame(NGHTTP2_WINDOW_UPDATE, 0, 1, BigEndian(1, 4));
      },
      100'000);
  ExpectCalmed(pair, flooded, 4000);
}

// Answers to pings are made only as fast as the client reads them.
TEST(H2Flood, AClientThatDoesNotRead) {
  H2Pair pair({.output_bytes_max = 1000, .frames = {.burst = 1e9, .per_second = 100}});
  ASSERT_TRUE(pair.session.Receive(RawPreface()));
  const std::string ping = RawFrame(NGHTTP2_PING, 0, 0, "12345678");
  int pings = 0;
  for (bool is_open = true; is_open; ++pings) {
    is_open = pair.session.Receive(ping);
    static_cast<void>(pair.session.Pull());
    ASSERT_LT(pair.output.size(), 1100);
    ASSERT_LT(pings, 10'000);
  }
  EXPECT_THAT(pair.broken, ElementsAre(H2Break::kFrames));
}

// Small messages take more memory than their bytes.
TEST(H2Flood, SmallAnswersThatNobodyReadsCountWhatTheyTake) {
  H2Pair pair;
  H2Client client({.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}}});
  const int32_t stream = client.Begin("/", /*is_whole=*/true);
  pair.Run(&client);
  pair.handler(0).Answer(std::vector<std::string>(1000, "m"));
  pair.Run(&client);
  EXPECT_GE(pair.session.held_bytes(), 1000 * sizeof(OutMessage));
  client.GiveWindow(stream, 1000);
  pair.Run(&client);
  EXPECT_EQ(client.answer(stream).data, std::string(1000, 'm'));
  EXPECT_EQ(pair.session.held_bytes(), 0);
}

// ---- Heavy clients

TEST(H2Heavy, ManyRequestsInARow) {
  H2Pair pair;
  pair.keeps_handlers = false;
  H2Client client;
  pair.on_request = Echo;
  for (int i = 0; i < 10'000; ++i) {
    const int32_t stream = client.Request("/", "body");
    pair.Run(&client);
    ASSERT_EQ(client.answer(stream).Find("grpc-status"), "0") << i;
    client.Forget(stream);
  }
  EXPECT_THAT(pair.broken, IsEmpty());
  EXPECT_EQ(pair.session.streams(), 0);
}

TEST(H2Heavy, ManyCancelledRequests) {
  H2Pair pair;
  H2Client client;
  for (int i = 0; i < 1000; ++i) {
    const int32_t stream = client.Begin("/", /*is_whole=*/i % 2 == 0);
    pair.Run(&client);
    client.Reset(stream);
    pair.Run(&client);
  }
  EXPECT_TRUE(pair.is_open);
  EXPECT_THAT(pair.broken, IsEmpty());
  for (const auto& handler : pair.handlers) EXPECT_EQ(handler->closes, 1);
}

TEST(H2Heavy, LargeUploads) {
  H2Pair pair;
  H2Client client;
  pair.on_request = [](RecordingHandler& handler) { handler.on_end = [](RecordingHandler& self) { self.Answer({}); }; };
  for (int i = 0; i < 3; ++i) {
    const int32_t stream = client.Request("/", std::string(10'000'000, 'u'));
    pair.Run(&client);
    EXPECT_EQ(client.answer(stream).Find("grpc-status"), "0");
    EXPECT_EQ(pair.handlers.back()->data.size(), 10'000'000);
    pair.handlers.clear();
  }
  EXPECT_THAT(pair.broken, IsEmpty());
}

TEST(H2Heavy, AllStreamsAtOnce) {
  H2Pair pair;
  H2Client client;
  std::vector<int32_t> streams;
  for (int round = 0; round < 20; ++round) {
    streams.clear();
    pair.handlers.clear();
    for (int i = 0; i < 100; ++i) streams.push_back(client.Request("/", "body"));
    pair.Run(&client);
    EXPECT_EQ(pair.session.streams(), 100);
    for (const auto& handler : pair.handlers) handler->Answer({std::string(10'000, 'm')});
    pair.Run(&client);
    for (const int32_t stream : streams) ASSERT_EQ(client.answer(stream).data.size(), 10'000);
  }
  EXPECT_THAT(pair.broken, IsEmpty());
}

TEST(H2Heavy, APingEachSecond) {
  H2Pair pair;
  H2Client client;
  for (int i = 0; i < 10'000; ++i) {
    client.Ping();
    pair.Run(&client);
    pair.now_ns += kSecondNs;
  }
  EXPECT_EQ(client.pings_answered(), 10'000);
  EXPECT_THAT(pair.broken, IsEmpty());
}

// A client that reads 4 KB at a time, and gives back what it has read, to the stream and to the connection.
TEST(H2Heavy, WindowUpdatesForEachPieceOfALargeDownload) {
  for (const uint32_t frame_bytes : {16'384, 1 << 20}) {
    H2Pair pair;
    H2Client client(
        {.settings = {{NGHTTP2_SETTINGS_MAX_FRAME_SIZE, frame_bytes}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20}},
         .gives_windows = false});
    client.GiveWindow(0, 1 << 20);
    const std::string message(20'000'000, 'm');
    pair.on_request = [&](RecordingHandler& handler) { handler.Answer({message}); };
    const int32_t stream = client.Begin("/", /*is_whole=*/true);
    pair.Run(&client);
    for (size_t given = 0; given < message.size() && pair.is_open; given += 4096) {
      std::string updates = RawFrame(NGHTTP2_WINDOW_UPDATE, 0, static_cast<uint32_t>(stream), BigEndian(4096, 4));
      updates += RawFrame(NGHTTP2_WINDOW_UPDATE, 0, 0, BigEndian(4096, 4));
      pair.is_open = pair.session.Receive(updates);
      // The client's library gets to know that its window is wider.
      client.GiveWindow(stream, 4096);
      client.GiveWindow(0, 4096);
      static_cast<void>(client.Output());
      ASSERT_TRUE(client.Input(pair.Sent()));
    }
    EXPECT_EQ(client.answer(stream).data.size(), message.size());
    EXPECT_THAT(pair.broken, IsEmpty());
  }
}

// Many small messages on one stream, each in a frame of its own, and answers that go together.
TEST(H2Heavy, APipelineOfSmallRequests) {
  H2Pair pair;
  pair.on_request = [](RecordingHandler& handler) {
    handler.Head();
    handler.on_data = [](RecordingHandler& self) { self.stream->Send({.head = "answer", .bytes = {}}); };
  };
  ASSERT_TRUE(pair.session.Receive(RawPreface() + RawRequest(1, /*is_whole=*/false)));
  const std::string message = RawFrame(NGHTTP2_DATA, 0, 1, std::string(25, 'r'));
  std::string messages;
  for (int i = 0; i < 2000; ++i) messages += message;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(pair.session.Receive(messages));
    ASSERT_FALSE(pair.Sent().empty());
    ASSERT_TRUE(pair.session.Receive(RawFrame(NGHTTP2_WINDOW_UPDATE, 0, 1, BigEndian(12'000, 4)) +
                                     RawFrame(NGHTTP2_WINDOW_UPDATE, 0, 0, BigEndian(12'000, 4))));
  }
  EXPECT_THAT(pair.broken, IsEmpty());
}

// Chrome sends a frame of an unknown type now and then, so that nobody gets to rely on there being none.
TEST(H2Heavy, UnknownFramesWithEachRequest) {
  H2Pair pair;
  pair.keeps_handlers = false;
  pair.on_request = [](RecordingHandler& handler) { handler.Answer({"m"}); };
  ASSERT_TRUE(pair.session.Receive(RawPreface()));
  for (uint32_t i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(pair.session.Receive(RawRequest(2 * i + 1) + RawFrame(0x1f * 3 + 2, 0, 0, std::string(200, 'g'))));
    static_cast<void>(pair.Sent());
  }
  EXPECT_THAT(pair.broken, IsEmpty());
}

// Uploads that are answered at once: what the client had sent before it learnt of that is nothing bad.
TEST(H2Heavy, RefusedUploads) {
  H2Pair pair;
  pair.keeps_handlers = false;
  H2Client client;
  pair.Run(&client);
  pair.on_request = [](RecordingHandler& handler) { handler.Answer({}, {{"grpc-status", "16"}}); };
  for (int i = 0; i < 200; ++i) {
    const int32_t stream = client.Begin("/");
    client.Send(stream, std::string(60'000, 'u'));
    const std::string bytes = client.Output();
    ASSERT_TRUE(pair.session.Receive(bytes.substr(0, 1000)));
    const std::string answer = pair.Sent();
    ASSERT_TRUE(pair.session.Receive(bytes.substr(1000))) << i;
    ASSERT_TRUE(client.Input(answer));
    pair.Run(&client);
    ASSERT_EQ(client.answer(stream).Find("grpc-status"), "16");
    client.Forget(stream);
  }
  EXPECT_THAT(pair.broken, IsEmpty());
}

}  // namespace armature::daemon::h2_flood_test
