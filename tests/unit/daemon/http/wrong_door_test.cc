#include "daemon/net/wrong_door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "storage/base/strings.h"

namespace armature::daemon::wrong_door_test {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

TEST(WrongDoor, SpeechesAreRecognizedByTheirFirstBytes) {
  EXPECT_EQ(SpeechOf(kPreface), Speech::kHttp2);
  EXPECT_EQ(SpeechOf(Cat(kPreface, "more")), Speech::kHttp2);
  EXPECT_EQ(SpeechOf("GET / HTTP/1.1\r\n"), Speech::kHttp1);
  EXPECT_EQ(SpeechOf("P "), Speech::kHttp1);
  EXPECT_EQ(SpeechOf("PRI * HTTP/1.1\r\n"), Speech::kHttp1);
  EXPECT_EQ(SpeechOf("PRIX / HTTP/1.1\r\n"), Speech::kHttp1);
  EXPECT_EQ(SpeechOf("\x16\x03\x01"), Speech::kTls);
  for (const std::string_view other :
       {"\x16\x02", "\r\n", " GET", "get / HTTP/1.1", "GET\t", "ABCDEFGHIJKLMNOP", "{\"a\":1}"}) {
    EXPECT_EQ(SpeechOf(other), Speech::kOther) << other;
  }
}

TEST(WrongDoor, TooFewBytesDecideNothing) {
  EXPECT_EQ(SpeechOf(""), std::nullopt);
  EXPECT_EQ(SpeechOf("\x16"), std::nullopt);
  EXPECT_EQ(SpeechOf("GET"), std::nullopt);
  EXPECT_EQ(SpeechOf("ABCDEFGHIJKLMNO"), std::nullopt);
  for (size_t i = 1; i < kPreface.size(); ++i) EXPECT_EQ(SpeechOf(kPreface.substr(0, i)), std::nullopt) << i;
}

TEST(WrongDoor, HintsNameTheRightPort) {
  Doors doors;
  doors.Open(Doors::Door::kGrpc, "127.0.0.1:7700", false);
  EXPECT_EQ(doors.Hint(Doors::Door::kGrpc, Speech::kHttp1),
            "This port speaks gRPC. The HTTP API is off; --http_listen turns it on.");
  doors.Open(Doors::Door::kHttp, "127.0.0.1:7701", true);
  doors.Open(Doors::Door::kOperators, "127.0.0.1:7702", false);
  EXPECT_EQ(doors.Hint(Doors::Door::kGrpc, Speech::kHttp1),
            "This port speaks gRPC. The HTTP API is at https://127.0.0.1:7701.");
  EXPECT_EQ(doors.Hint(Doors::Door::kGrpc, Speech::kTls), "This port speaks gRPC, without TLS.");
  EXPECT_EQ(doors.Hint(Doors::Door::kHttp, Speech::kHttp2),
            "This port speaks HTTP/1.1 over TLS. gRPC is at 127.0.0.1:7700.");
  EXPECT_EQ(doors.Hint(Doors::Door::kHttp, Speech::kHttp1),
            "This port speaks HTTP/1.1 over TLS: the URL begins with https.");
  EXPECT_EQ(doors.Hint(Doors::Door::kOperators, Speech::kHttp2),
            "This port speaks HTTP/1.1, for metrics and health checks. gRPC is at 127.0.0.1:7700.");
  doors.Open(Doors::Door::kHttp, "127.0.0.1:7701", true, Doors::Takes::kBoth);
  EXPECT_EQ(doors.Hint(Doors::Door::kHttp, Speech::kHttp1),
            "This port speaks gRPC and HTTP over TLS: the URL begins with https.");
  EXPECT_EQ(doors.Hint(Doors::Door::kHttp, Speech::kHttp2), "This port speaks gRPC and HTTP over TLS.");
  doors.Open(Doors::Door::kHttp, "0.0.0.0:7701", false);
  EXPECT_EQ(doors.WayTo(Doors::Door::kHttp), "The HTTP API is at port 7701 of this host.");
  doors.Open(Doors::Door::kGrpc, "[::]:7700", true);
  EXPECT_EQ(doors.WayTo(Doors::Door::kGrpc), "gRPC is at port 7700 of this host with TLS.");
}

TEST(WrongDoor, SdksGetJsonAndOthersText) {
  EXPECT_THAT(Http1Refusal("POST / HTTP/1.1\r\nX-AMZ-Target: x\r\n\r\n", "Elsewhere."),
              testing::AllOf(testing::StartsWith("HTTP/1.1 400 Bad Request\r\n"),
                             testing::HasSubstr("Content-Type: application/x-amz-json-1.0\r\n"),
                             testing::EndsWith("\"message\":\"Elsewhere.\"}")));
  EXPECT_THAT(Http1Refusal("GET / HTTP/1.1\r\n\r\n", "Elsewhere."),
              testing::AllOf(testing::HasSubstr("Content-Length: 11\r\n"), testing::EndsWith("\r\n\r\nElsewhere.\n")));
}

TEST(WrongDoor, EachSpeechIsAnsweredInItsLanguage) {
  const std::string get = "GET / HTTP/1.1\r\n\r\n";
  EXPECT_EQ(RefusalOf(Speech::kHttp1, get, "Elsewhere."), Http1Refusal(get, "Elsewhere."));
  EXPECT_EQ(RefusalOf(Speech::kTls, "\x16\x03", "Elsewhere."), kTlsRefusal);
}

}  // namespace armature::daemon::wrong_door_test
