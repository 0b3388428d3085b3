// How many streams a client may have open.

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/http/h2_session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/h2_client.h"
#include "tests/unit/daemon/http/h2_pair.h"

namespace armature::daemon::h2_streams_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(H2Streams, TellsTheNumberOfStreams) {
  H2Pair pair({.streams_max = 10});
  const std::string sent = pair.Sent();
  const RawFrameView settings = SplitFrames(sent).front();
  EXPECT_EQ(settings.type, NGHTTP2_SETTINGS);
  EXPECT_EQ(settings.payload.substr(0, 6), BigEndian(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 2) + BigEndian(10, 4));
}

// A client acknowledges the settings before streams that it has begun without them: RFC 9113, section 5.1.2.
TEST(H2Streams, StreamsBeyondTheLimitRightAfterTheSettingsAreRefused) {
  H2Pair pair({.streams_max = 10});
  ASSERT_TRUE(pair.session.Receive(RawPreface()));
  static_cast<void>(pair.Sent());
  std::string bytes = RawFrame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, {});
  for (uint32_t i = 0; i < 25; ++i) bytes += RawRequest(2 * i + 1);
  EXPECT_TRUE(pair.session.Receive(bytes));
  std::vector<uint32_t> refused;
  const std::string sent = pair.Sent();
  for (const RawFrameView& frame : SplitFrames(sent)) {
    ASSERT_EQ(frame.type, NGHTTP2_RST_STREAM);
    EXPECT_EQ(frame.payload, BigEndian(NGHTTP2_REFUSED_STREAM, 4));
    refused.push_back(frame.stream);
  }
  EXPECT_EQ(refused.size(), 15);
  EXPECT_EQ(refused.front(), 21);
  EXPECT_EQ(pair.requests, 10);
  for (size_t i = 0; i < 10; ++i) pair.handler(i).Answer({"served"});
  static_cast<void>(pair.Sent());
  EXPECT_EQ(pair.session.streams(), 0);
  EXPECT_TRUE(pair.session.Receive(RawRequest(51)));
  EXPECT_EQ(pair.requests, 11);
  EXPECT_THAT(pair.broken, IsEmpty());
}

TEST(H2Streams, ManyTimesMoreStreamsThanAllowedEndTheConnection) {
  H2Pair pair({.streams_max = 10});
  H2Client client;
  pair.Run(&client);  // the client knows the limit
  std::string bytes;
  for (uint32_t i = 0; i <= 10 * H2Session::kStreamsPerBreak; ++i) bytes += RawRequest(2 * i + 1);
  static_cast<void>(pair.session.Receive(bytes));
  const std::string sent = pair.Sent();
  EXPECT_EQ(pair.requests, 10);
  EXPECT_EQ(SplitFrames(sent).back().type, NGHTTP2_GOAWAY);
  EXPECT_THAT(pair.broken, ElementsAre(H2Break::kProtocol));
}

TEST(H2Streams, StreamsBeyondALimitThatTheClientDoesNotKnowYetAreRefused) {
  H2Pair pair({.streams_max = 10});
  std::string bytes = RawPreface();
  for (uint32_t i = 0; i < 15; ++i) bytes += RawRequest(2 * i + 1);
  EXPECT_TRUE(pair.session.Receive(bytes));
  const std::string sent = pair.Sent();
  EXPECT_EQ(pair.requests, 10);
  EXPECT_EQ(SplitFrames(sent).back().payload, BigEndian(NGHTTP2_REFUSED_STREAM, 4));
  EXPECT_THAT(pair.broken, IsEmpty());
}

}  // namespace armature::daemon::h2_streams_test
