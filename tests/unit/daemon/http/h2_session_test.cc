#include "daemon/http/h2_session.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tests/support/h2_client.h"
#include "tests/unit/daemon/http/h2_pair.h"

namespace armature::daemon::h2_session_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

void Echo(RecordingHandler& handler) {
  handler.on_end = [](RecordingHandler& self) { self.Answer({self.data}); };
}

// ---- Requests and answers

TEST(H2Session, ARequestIsAnsweredWithHeadMessagesAndTrailers) {
  H2Pair pair;
  H2Client client;
  pair.on_request = Echo;
  const int32_t stream = client.Begin("/Service/Method", /*is_whole=*/false, {{"te", "trailers"}, {"x", "1"}});
  client.Send(stream, "hello");
  client.End(stream);
  pair.Run(&client);
  RecordingHandler& handler = pair.handler(0);
  EXPECT_EQ(handler.request.method.view(), "POST");
  EXPECT_EQ(handler.request.path.view(), "/Service/Method");
  EXPECT_EQ(handler.request.authority.view(), "host");
  EXPECT_EQ(handler.request.Find("te"), "trailers");
  EXPECT_EQ(handler.request.Find("x"), "1");
  EXPECT_EQ(handler.request.Find("y"), "");
  EXPECT_FALSE(handler.request.is_too_large);
  EXPECT_EQ(handler.data, "hello");
  EXPECT_EQ(handler.ends, 1);
  EXPECT_EQ(handler.closes, 1);
  const H2Client::Answer& answer = client.answer(stream);
  EXPECT_THAT(answer.head, ElementsAre(Pair(":status", "200"), Pair("content-type", "application/grpc")));
  EXPECT_EQ(answer.data, "hello");
  EXPECT_THAT(answer.trailers, ElementsAre(Pair("grpc-status", "0")));
  EXPECT_EQ(answer.closed_with, NGHTTP2_NO_ERROR);
  EXPECT_EQ(pair.session.streams(), 0);
  EXPECT_EQ(pair.session.held_bytes(), 0);
  EXPECT_THAT(pair.broken, IsEmpty());
}

TEST(H2Session, BytesMayArriveInPiecesOfAnySize) {
  for (const size_t piece : {1, 2, 7, 100}) {
    H2Pair pair;
    H2Client client;
    pair.on_request = Echo;
    const std::string body(3000, 'b');
    const int32_t stream = client.Request("/", body);
    const std::string bytes = client.Output();
    for (size_t i = 0; i < bytes.size(); i += piece) {
      ASSERT_TRUE(pair.session.Receive(std::string_view(bytes).substr(i, piece)));
    }
    pair.Run(&client);
    EXPECT_EQ(client.answer(stream).data, body) << piece;
    EXPECT_EQ(pair.handler(0).closes, 1);
  }
}

TEST(H2Session, MessagesOfAllSizesArriveInOrder) {
  H2Pair pair;
  H2Client client;
  const std::vector<std::string> messages = {"a", "", std::string(2049, 'b'), std::string(300'000, 'c'), "", "d"};
  pair.on_request = [&](RecordingHandler& handler) {
    handler.Head();
    for (uint32_t i = 0; i < messages.size(); ++i) {
      handler.stream->Send({.head = Cat("<", i, ">"), .bytes = messages[i], .weight = i});
    }
    handler.End();
  };
  const int32_t stream = client.Begin("/", /*is_whole=*/true);
  pair.Run(&client);
  std::string expected;
  for (size_t i = 0; i < messages.size(); ++i) expected += Cat("<", i, ">", messages[i]);
  EXPECT_EQ(client.answer(stream).data, expected);
  EXPECT_EQ(client.answer(stream).closed_with, NGHTTP2_NO_ERROR);
  EXPECT_THAT(pair.handler(0).sent, ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(H2Session, LargeMessagesAreSentFromWhereTheyAre) {
  H2Pair pair;
  H2Client client;
  std::string message(50'000, 'm');
  const char* const bytes = message.data();
  pair.on_request = [&](RecordingHandler& handler) {
    handler.Head();
    handler.stream->Send({.head = "12345", .bytes = std::move(message)});
  };
  client.Begin("/", /*is_whole=*/true);
  ASSERT_TRUE(pair.session.Receive(client.Output()));
  ASSERT_TRUE(pair.session.Pull());
  std::array<std::string_view, 64> pieces;
  const size_t count = pair.output.Gather(pieces);
  EXPECT_EQ(std::count_if(pieces.begin(), pieces.begin() + static_cast<ptrdiff_t>(count),
                          [&](std::string_view piece) { return piece.data() == bytes; }),
            1);
  EXPECT_LT(pair.output.copied_bytes(), 4 << 10);
}

TEST(H2Session, AnAnswerMayHaveNoBody) {
  H2Pair pair;
  H2Client client;
  pair.on_request = [](RecordingHandler& handler) {
    const HeaderField head[] = {{":status", "404", true}, {"grpc-status", "12"}};
    handler.stream->SendHead(head, /*is_last=*/true);
  };
  const int32_t whole = client.Begin("/", /*is_whole=*/true);
  const int32_t part = client.Begin("/");
  pair.Run(&client);
  for (const int32_t stream : {whole, part}) {
    EXPECT_EQ(client.answer(stream).Find(":status"), "404");
    EXPECT_TRUE(client.answer(stream).has_ended);
    EXPECT_EQ(client.answer(stream).closed_with, NGHTTP2_NO_ERROR);
  }
  EXPECT_EQ(pair.session.streams(), 0);
}

TEST(H2Session, AnAnswerMayEndWithoutTrailersAndAfterItsMessages) {
  H2Pair pair;
  H2Client client;
  pair.on_request = [](RecordingHandler& handler) { handler.Head(); };
  const int32_t plain = client.Begin("/", /*is_whole=*/true);
  const int32_t trailed = client.Begin("/", /*is_whole=*/true);
  pair.Run(&client);
  for (size_t i = 0; i < 2; ++i) pair.handler(i).stream->Send({.head = {}, .bytes = "message"});
  pair.Run(&client);
  EXPECT_FALSE(client.answer(plain).has_ended);
  pair.handler(0).stream->SendEnd({});
  pair.handler(1).End();
  pair.Run(&client);
  EXPECT_TRUE(client.answer(plain).has_ended);
  EXPECT_THAT(client.answer(plain).trailers, IsEmpty());
  EXPECT_EQ(client.answer(trailed).Find("grpc-status"), "0");
  EXPECT_EQ(pair.session.streams(), 0);
}

// The last message is sent, and its handler ends the answer in OnSent.
TEST(H2Session, AHandlerMayGoOnAndEndWhenAMessageIsSent) {
  H2Pair pair;
  H2Client client;
  pair.on_request = [](RecordingHandler& handler) {
    handler.on_sent = [](RecordingHandler& self) {
      if (self.sent.size() == 10) return self.End();
      self.stream->Send({.head = "m", .bytes = std::string(1000, 'x')});
    };
    handler.Head();
    handler.stream->Send({.head = "m", .bytes = {}});
  };
  const int32_t stream = client.Begin("/", /*is_whole=*/true);
  pair.Run(&client);
  EXPECT_EQ(client.answer(stream).data.size(), 10 + 9 * 1000);
  EXPECT_EQ(client.answer(stream).Find("grpc-status"), "0");
  EXPECT_EQ(pair.handler(0).closes, 1);
}

TEST(H2Session, RequestsMayHaveTrailers) {
  H2Pair pair;
  H2Client client;
  pair.on_request = Echo;
  const int32_t stream = client.Begin("/");
  client.Send(stream, "body");
  client.End(stream, {{"x-trailer", std::string(1000, 't')}});
  pair.Run(&client);
  EXPECT_EQ(client.answer(stream).data, "body");
  EXPECT_EQ(pair.handler(0).ends, 1);
  EXPECT_EQ(pair.handler(0).request.Find("x-trailer"), "");
}

TEST(H2Session, HeadsMayBeContinued) {
  H2Pair pair;
  const std::string block = RawHeaderBlock(RawRequestFields()) + RawHeaderBlock({{"x", std::string(100, 'x')}});
  std::string bytes = RawPreface() + RawFrame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 1, block.substr(0, 10));
  bytes += RawFrame(NGHTTP2_CONTINUATION, 0, 1, block.substr(10, 50));
  bytes += RawFrame(NGHTTP2_CONTINUATION, 0, 1, {});
  bytes += RawFrame(NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, 1, block.substr(60));
  ASSERT_TRUE(pair.session.Receive(bytes));
  ASSERT_EQ(pair.requests, 1);
  EXPECT_EQ(pair.handler(0).request.path.view(), "/raw");
  EXPECT_EQ(pair.handler(0).request.Find("x"), std::string(100, 'x'));
  EXPECT_EQ(pair.handler(0).ends, 1);
}

TEST(H2Session, PaddingIsNoData) {
  H2Pair pair;
  H2Client client({.settings = {}, .gives_windows = true, .padding = 200});
  pair.on_request = Echo;
  const std::string body(300'000, 'b');  // several windows
  const int32_t stream = client.Request("/", body);
  pair.Run(&client);
  EXPECT_EQ(client.answer(stream).data, body);
  EXPECT_EQ(pair.session.held_bytes(), 0);
}

// ---- Heads

TEST(H2Session, ATooLargeHeadIsFlagged) {
  H2Pair pair({.head_bytes_max = 1000});
  H2Client client;
  client.Begin("/", true, {{"a", std::string(400, 'a')}, {"b", std::string(300, 'b')}});
  client.Begin("/", true,
               {{"a", std::string(400, 'a')}, {"b", std::string(500, 'b')}, {"c", "c"}, {"content-type", "t"}});
  client.Begin("/" + std::string(3000, 'p'), true);
  pair.Run(&client);
  ASSERT_EQ(pair.requests, 3);
  EXPECT_FALSE(pair.handler(0).request.is_too_large);
  EXPECT_EQ(pair.handler(0).request.headers.size(), 2);
  for (const size_t i : {1, 2}) {
    EXPECT_TRUE(pair.handler(i).request.is_too_large);
    EXPECT_EQ(pair.handler(i).request.Find("b"), "");
    EXPECT_EQ(pair.handler(i).request.Find("c"), "");
  }
  EXPECT_EQ(pair.handler(1).request.Find("content-type"), "t");
  EXPECT_EQ(pair.handler(2).request.path.view(), "");
  EXPECT_THAT(pair.broken, IsEmpty());
}

TEST(H2Session, AMuchTooLargeHeadBreaksTheConnection) {
  for (const bool in_trailers : {false, true}) {
    H2Pair pair({.head_bytes_max = 1000});
    H2Client client;
    const H2Fields many = {{"a", std::string(3000, 'a')}, {"b", std::string(1000, 'b')}};
    const int32_t stream = client.Begin("/", !in_trailers, in_trailers ? H2Fields() : many);
    if (in_trailers) client.End(stream, many);
    pair.Run(&client);
    EXPECT_EQ(pair.requests, in_trailers ? 1 : 0);
    EXPECT_THAT(pair.broken, ElementsAre(H2Break::kHeads));
    ASSERT_EQ(client.goaways().size(), 1);
    EXPECT_EQ(client.goaways()[0].error, NGHTTP2_ENHANCE_YOUR_CALM);
    EXPECT_FALSE(pair.is_open);
    EXPECT_TRUE(pair.session.is_over());
  }
}

TEST(H2Session, AHeadThatIsTooLargeToSendResetsTheStream) {
  H2Pair pair;
  H2Client client;
  pair.on_request = [&](RecordingHandler& handler) {
    const std::string large(100'000, 'l');
    if (pair.requests == 1) {
      const HeaderField head[] = {{":status", "200", true}, {"large", large}};
      handler.stream->SendHead(head, /*is_last=*/false);
      handler.stream->Send({.head = "body", .bytes = {}});
    } else {
      handler.Answer({"body"}, {{"large", large}});
    }
  };
  const int32_t head = client.Begin("/", /*is_whole=*/true);
  const int32_t trailers = client.Begin("/", /*is_whole=*/true);
  pair.Run(&client);
  EXPECT_EQ(client.answer(head).closed_with, NGHTTP2_INTERNAL_ERROR);
  EXPECT_EQ(client.answer(trailers).closed_with, NGHTTP2_INTERNAL_ERROR);
  EXPECT_EQ(pair.session.streams(), 0);
  EXPECT_THAT(pair.broken, IsEmpty());
}

TEST(H2Session, MalformedRequestsAreReset) {
  const std::vector<H2Fields> more = {{{"connection", "upgrade"}},  {{"upgrade", "h2c"}}, {{":status", "100"}},
                                      {{":protocol", "websocket"}}, {{"Upper", "case"}},  {{":path", "/2"}},
                                      {{"te", "compression"}}};
  for (const H2Fields& fields : more) {
    H2Pair pair;
    H2Fields all = RawRequestFields();
    all.insert(all.end(), fields.begin(), fields.end());
    const int flags = NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM;
    ASSERT_TRUE(pair.session.Receive(RawPreface() + RawFrame(NGHTTP2_HEADERS, flags, 1, RawHeaderBlock(all))));
    const std::string sent = pair.Sent();
    EXPECT_EQ(pair.requests, 0) << fields[0].first;
    EXPECT_EQ(pair.session.streams(), 0);
    const RawFrameView last = SplitFrames(sent).back();
    EXPECT_EQ(last.type, NGHTTP2_RST_STREAM);
    EXPECT_EQ(last.payload, BigEndian(NGHTTP2_PROTOCOL_ERROR, 4));
    // The connection goes on.
    EXPECT_TRUE(pair.session.Receive(RawRequest(3)));
    EXPECT_EQ(pair.requests, 1);
  }
}

TEST(H2Session, ABodyOfAnotherLengthThanAnnouncedIsReset) {
  for (const std::string_view body : {"short", "too long a body"}) {
    H2Pair pair;
    H2Client client;
    const int32_t stream = client.Begin("/", /*is_whole=*/false, {{"content-length", "10"}});
    client.Send(stream, body);
    client.End(stream);
    pair.Run(&client);
    EXPECT_EQ(client.answer(stream).closed_with, NGHTTP2_PROTOCOL_ERROR);
    EXPECT_EQ(pair.handler(0).ends, 0);
    EXPECT_EQ(pair.handler(0).closes, 1);
    EXPECT_EQ(pair.session.held_bytes(), 0);
  }
}

// ---- Streams that end early

TEST(H2Session, AResetOfTheClientClosesTheHandlerOnce) {
  for (const bool has_answer : {false, true}) {
    H2Pair pair;
    H2Client client({.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 100}}});
    pair.on_request = [&](RecordingHandler& handler) {
      handler.consumes = false;
      if (has_answer) handler.Answer({std::string(1000, 'm')});
    };
    const int32_t stream = client.Begin("/");
    client.Send(stream, "some");
    ASSERT_TRUE(pair.session.Receive(client.Output()));
    EXPECT_EQ(pair.session.held_bytes(), has_answer ? 1000 + OutMessage::kOwnBytes : 4);
    ASSERT_TRUE(pair.session.Pull());
    client.Reset(stream);
    ASSERT_TRUE(pair.session.Receive(client.Output()));
    EXPECT_EQ(pair.handler(0).closes, 1);
    EXPECT_EQ(pair.session.streams(), 0);
    EXPECT_EQ(pair.session.held_bytes(), 0);
    pair.Run(&client);
    EXPECT_EQ(pair.handler(0).closes, 1);
    EXPECT_TRUE(pair.is_open);
  }
}

TEST(H2Session, AHandlerMayResetInEachCall) {
  for (int when = 0; when < 4; ++when) {
    H2Pair pair;
    H2Client client;
    pair.on_request = [&](RecordingHandler& handler) {
      const auto reset = [](RecordingHandler& self) { self.stream->Reset(NGHTTP2_REFUSED_STREAM); };
      if (when == 0) reset(handler);
      if (when == 1) handler.on_data = reset;
      if (when == 2) handler.on_end = reset;
      if (when == 3) handler.on_sent = reset;
      handler.Head();
      if (when == 3) handler.stream->Send({.head = "m", .bytes = {}});
    };
    const int32_t stream = client.Request("/", "body");
    pair.Run(&client);
    EXPECT_EQ(client.answer(stream).closed_with, NGHTTP2_REFUSED_STREAM) << when;
    EXPECT_EQ(pair.handler(0).closes, 1);
    EXPECT_EQ(pair.session.held_bytes(), 0);
    EXPECT_THAT(pair.broken, IsEmpty());
  }
}

TEST(H2Session, AnAnswerBeforeTheRequestsEndStopsTheClient) {
  H2Pair pair;
  H2Client client;
  pair.on_request = [](RecordingHandler& handler) { handler.Answer({"no"}); };
  const int32_t stream = client.Begin("/");
  client.Send(stream, std::string(1'000'000, 'x'));
  pair.Run(&client);
  EXPECT_EQ(client.answer(stream).data, "no");
  EXPECT_TRUE(client.answer(stream).has_ended);
  EXPECT_EQ(client.answer(stream).closed_with, NGHTTP2_NO_ERROR);
  EXPECT_GT(client.unsent(stream), 800'000);
  EXPECT_EQ(pair.handler(0).data, "");
  EXPECT_EQ(pair.session.streams(), 0);
}

TEST(H2Session, WhatAHandlerConsumesTwiceIsCountedOnce) {
  H2Pair pair;
  H2Client client;
  pair.on_request = [](RecordingHandler& handler) {
    handler.consumes = false;
    handler.on_data = [](RecordingHandler& self) {
      self.Answer({"done"});
      self.stream->Consume(self.data.size());
    };
  };
  client.Request("/", "body");
  ASSERT_TRUE(pair.session.Receive(client.Output()));
  EXPECT_EQ(pair.session.held_bytes(), 4 + OutMessage::kOwnBytes);  // the answer
  pair.Run(&client);
  EXPECT_EQ(pair.session.held_bytes(), 0);
}

TEST(H2Session, ShedTellsHandlersWithBytes) {
  H2Pair pair;
  H2Client client;
  pair.on_request = [&](RecordingHandler& handler) {
    handler.consumes = pair.requests == 1;
    handler.on_shed = [](RecordingHandler& self) { self.Answer({}, {{"grpc-status", "8"}}); };
  };
  const int32_t consumed = client.Begin("/");
  client.Send(consumed, "body");
  const int32_t held = client.Begin("/");
  client.Send(held, "body");
  pair.Run(&client);
  EXPECT_EQ(pair.session.held_bytes(), 4);
  pair.session.Shed();
  EXPECT_EQ(pair.session.held_bytes(), 0);
  pair.session.Shed();
  EXPECT_EQ(pair.handler(0).sheds, 0);
  EXPECT_EQ(pair.handler(1).sheds, 1);
  pair.Run(&client);
  EXPECT_EQ(client.answer(held).Find("grpc-status"), "8");
  EXPECT_EQ(pair.session.streams(), 1);
}

TEST(H2Session, CloseAllEndsEverything) {
  H2Pair pair({.output_bytes_max = 10'000});
  H2Client client;
  pair.on_request = [](RecordingHandler& handler) {
    handler.consumes = false;
    handler.Head();
    handler.stream->Send({.head = {}, .bytes = std::string(1'000'000, 'm')});
  };
  for (int i = 0; i < 3; ++i) client.Send(client.Begin("/"), "body");
  ASSERT_TRUE(pair.session.Receive(client.Output()));
  ASSERT_TRUE(pair.session.Pull());  // stops within an answer
  EXPECT_TRUE(pair.session.is_blocked());
  pair.session.CloseAll();
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(pair.handler(i).closes, 1);
  EXPECT_EQ(pair.session.streams(), 0);
  EXPECT_EQ(pair.session.held_bytes(), 0);
  pair.output.Advance(pair.output.size());
  EXPECT_FALSE(pair.session.Pull());
  client.Begin("/", /*is_whole=*/true);
  EXPECT_FALSE(pair.session.Receive(client.Output()));
  EXPECT_EQ(pair.requests, 3);
}

TEST(H2Session, TheDestructorClosesHandlers) {
  auto pair = std::make_unique<H2Pair>();
  H2Client client;
  client.Begin("/");
  pair->Run(&client);
  const std::shared_ptr<RecordingHandler> handler = pair->handlers[0];
  pair.reset();
  EXPECT_EQ(handler->closes, 1);
}

// ---- Errors of the connection

TEST(H2Session, ConnectionErrorsAreAnsweredAndCounted) {
  const std::vector<std::pair<std::string, uint32_t>> cases = {
      {RawFrame(NGHTTP2_DATA, 0, 0, "x"), NGHTTP2_PROTOCOL_ERROR},
      {RawFrame(NGHTTP2_DATA, 0, 7, "x"), NGHTTP2_PROTOCOL_ERROR},
      {RawFrame(NGHTTP2_PUSH_PROMISE, NGHTTP2_FLAG_END_HEADERS, 1, BigEndian(2, 4)), NGHTTP2_PROTOCOL_ERROR},
      {RawFrame(NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, 1, {}), NGHTTP2_PROTOCOL_ERROR},
      {RawFrame(NGHTTP2_PING, 0, 0, "short"), NGHTTP2_FRAME_SIZE_ERROR},
      {RawFrame(NGHTTP2_WINDOW_UPDATE, 0, 0, BigEndian(0, 4)), NGHTTP2_PROTOCOL_ERROR},
      {RawFrame(NGHTTP2_WINDOW_UPDATE, 0, 0, BigEndian(0x7fffffff, 4)), NGHTTP2_FLOW_CONTROL_ERROR},
      {RawFrame(NGHTTP2_SETTINGS, 0, 0, BigEndian(NGHTTP2_SETTINGS_ENABLE_PUSH, 2) + BigEndian(2, 4)),
       NGHTTP2_PROTOCOL_ERROR},
      {RawFrame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, {}) + RawFrame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, {}),
       NGHTTP2_PROTOCOL_ERROR},
      {RawFrame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
       NGHTTP2_COMPRESSION_ERROR},
      {RawFrame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 2, {}), NGHTTP2_PROTOCOL_ERROR},
      {RawFrame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 0, {}), NGHTTP2_PROTOCOL_ERROR},
      {BigEndian(1 << 20, 3) + std::string(6, 0), NGHTTP2_FRAME_SIZE_ERROR},
      {RawFrame(NGHTTP2_PRIORITY, 0, 0, std::string(5, 0)), NGHTTP2_PROTOCOL_ERROR},
      {RawRequest(1) + RawFrame(NGHTTP2_DATA, 0, 1, "after the end"), NGHTTP2_STREAM_CLOSED},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& [bytes, error] = cases[i];
    H2Pair pair;
    EXPECT_TRUE(pair.session.Receive(RawPreface()));
    const std::string settings = pair.Sent();
    static_cast<void>(pair.session.Receive(bytes));
    const std::string sent = pair.Sent();
    const RawFrameView last = SplitFrames(sent).back();
    EXPECT_EQ(last.type, NGHTTP2_GOAWAY) << i;
    EXPECT_EQ(last.payload.substr(4, 4), BigEndian(error, 4)) << i;
    EXPECT_THAT(pair.broken, ElementsAre(H2Break::kProtocol)) << i;
    EXPECT_TRUE(pair.session.is_over());
    // Nothing is taken later.
    EXPECT_FALSE(pair.session.Receive(RawRequest(99)));
    EXPECT_EQ(pair.requests, i + 1 == cases.size() ? 1 : 0);
    EXPECT_EQ(pair.Sent(), "");
  }
}

// The library keeps no ended streams.
TEST(H2Session, HeadsOfStreamsThatTheClientHasEndedAreErrors) {
  const std::string head = RawRequest(1);
  const std::string reset = RawFrame(NGHTTP2_RST_STREAM, 0, 1, BigEndian(NGHTTP2_CANCEL, 4));
  const std::string other = RawRequest(3);
  const std::string trailers = RawFrame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1, {});
  for (const std::string& bytes : {head, trailers, reset + head, other + head}) {
    H2Pair pair;
    pair.on_request = [](RecordingHandler& handler) { handler.Answer({"done"}); };
    EXPECT_TRUE(pair.session.Receive(RawPreface() + RawRequest(1)));
    EXPECT_THAT(pair.Sent(), HasSubstr("done"));
    EXPECT_EQ(pair.session.streams(), 0);
    static_cast<void>(pair.session.Receive(bytes));
    const std::string sent = pair.Sent();
    EXPECT_EQ(SplitFrames(sent).back().type, NGHTTP2_GOAWAY);
    EXPECT_EQ(SplitFrames(sent).back().payload.substr(4, 4), BigEndian(NGHTTP2_STREAM_CLOSED, 4));
    EXPECT_THAT(pair.broken, ElementsAre(H2Break::kProtocol));
  }
}

// A client cannot know yet that its request has been answered before its end.
TEST(H2Session, FramesOfStreamsThatAreAnsweredEarlyAreIgnored) {
  H2Pair pair;
  pair.on_request = [](RecordingHandler& handler) { handler.Answer({"no"}); };
  H2Client client;
  const int32_t stream = client.Begin("/");
  EXPECT_TRUE(pair.session.Receive(client.Output()));
  EXPECT_THAT(pair.Sent(), HasSubstr("no"));
  EXPECT_EQ(pair.session.streams(), 0);
  for (const std::string& bytes :
       {RawFrame(NGHTTP2_DATA, 0, stream, "more"), RawFrame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, stream, ""),
        RawFrame(NGHTTP2_RST_STREAM, 0, stream, BigEndian(NGHTTP2_CANCEL, 4))}) {
    EXPECT_TRUE(pair.session.Receive(bytes));
  }
  EXPECT_TRUE(pair.session.Receive(RawRequest(stream + 2)));
  EXPECT_EQ(pair.requests, 2);
  EXPECT_THAT(pair.broken, IsEmpty());
}

TEST(H2Session, WhatIsNoPrefaceIsRefused) {
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"), NGHTTP2_CLIENT_MAGIC + RawRequest(1)}) {
    H2Pair pair;
    static_cast<void>(pair.session.Receive(bytes));
    const std::string sent = pair.Sent();
    EXPECT_EQ(SplitFrames(sent).back().type, NGHTTP2_GOAWAY);
    EXPECT_THAT(pair.broken, ElementsAre(H2Break::kProtocol));
    EXPECT_TRUE(pair.session.is_over());
    EXPECT_FALSE(pair.session.Receive(RawPreface()));
    EXPECT_FALSE(pair.session.Receive("x"));
  }
}

TEST(H2Session, AClientThatSaysGoodbyeIsServedToTheEnd) {
  H2Pair pair;
  H2Client client;
  const int32_t stream = client.Begin("/", /*is_whole=*/true);
  client.GoAway();
  pair.Run(&client);
  EXPECT_TRUE(pair.is_open);
  EXPECT_FALSE(pair.session.is_over());
  pair.handler(0).Answer({"still"});
  pair.Run(&client);
  EXPECT_EQ(client.answer(stream).data, "still");
  EXPECT_TRUE(pair.session.is_over());
  EXPECT_THAT(pair.broken, IsEmpty());
}

TEST(H2Session, AnIdleClientThatSaysGoodbyeIsLetGo) {
  H2Pair pair;
  H2Client client;
  pair.Run(&client);
  client.GoAway();
  pair.Run(&client);
  EXPECT_TRUE(pair.session.is_over());
  EXPECT_THAT(pair.broken, IsEmpty());
}

}  // namespace armature::daemon::h2_session_test
