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
  const struct {
    Speech speech;
    std::string_view bytes;
    std::string answer;
    bool reads_on;
  } kCases[] = {
      {Speech::kHttp1, get, Http1Refusal(get, "Elsewhere."), false},
      {Speech::kTls, "\x16\x03", std::string(kTlsRefusal), false},
      {Speech::kHttp2, kPreface, std::string("\0\0\0\4\0\0\0\0\0", 9), true},
  };
  for (const auto& c : kCases) {
    Refusal refusal(c.speech, "Elsewhere.");
    std::string out = "before ";
    EXPECT_EQ(refusal.Read(c.bytes, &out), c.reads_on);
    EXPECT_EQ(out, "before " + c.answer);
  }
}

// The bytes that the refusal sends for `input`, which comes in pieces of `size` bytes. "(open)" at the end if it reads
// on.
std::string Refused(std::string_view input, size_t size, std::string_view hint = "Elsewhere.") {
  Http2Refusal refusal(hint);
  std::string out;
  for (size_t at = 0; at < input.size(); at += size) {
    if (!refusal.Read(input.substr(at, size), &out)) return out;
  }
  return out + "(open)";
}

TEST(WrongDoor, TheFirstCallIsAnsweredHoweverTheBytesCome) {
  using std::string_literals::operator""s;
  const std::string settings = "\0\0\0\4\0\0\0\0\0"s;
  const std::string input = Cat(kPreface, "\0\0\6\4\0\0\0\0\0"s, "abcdef", "\0\0\3\1\4\0\0\0\5"s, "xyz");
  const std::string expected = settings +
                               "\0\0\x49\1\5\0\0\0\5"
                               "\x88"
                               "\0\x0c"
                               "content-type"
                               "\x10"
                               "application/grpc"
                               "\0\x0b"
                               "grpc-status"
                               "\x02"
                               "12"
                               "\0\x0c"
                               "grpc-message"
                               "\x0a"
                               "Elsewhere."
                               "\0\0\x12\7\0\0\0\0\0"
                               "\0\0\0\5\0\0\0\0"
                               "Elsewhere."s;
  for (const size_t size : {size_t{1}, size_t{2}, size_t{7}, size_t{24}, size_t{33}, input.size()}) {
    EXPECT_EQ(Refused(input, size), expected) << size;
  }
}

TEST(WrongDoor, LongAndStrangeHintsAreEncoded) {
  using std::string_literals::operator""s;
  const std::string input = Cat(kPreface, "\0\0\0\1\5\0\0\0\1"s);
  EXPECT_THAT(Refused(input, 100, "50% \xc3\xa4"), testing::HasSubstr("50%25 %C3%A4"));
  EXPECT_THAT(Refused(input, 100, std::string(300, 'x')), testing::HasSubstr("grpc-message\x7f\xad\x01xxx"));
}

TEST(WrongDoor, FramesWithoutCallsAreSkippedAndTooLongOnesEndIt) {
  using std::string_literals::operator""s;
  const std::string settings = "\0\0\0\4\0\0\0\0\0"s;
  EXPECT_EQ(Refused(kPreface, 3), settings + "(open)");
  // Headers of a stream that only a server may begin.
  EXPECT_EQ(Refused(Cat(kPreface, "\0\0\0\1\5\0\0\0\2"s), 3), settings + "(open)");
  EXPECT_EQ(Refused(Cat(kPreface, "\0\x40\0\0\0\0\0\0\1"s), 3), settings + "(open)");
  EXPECT_EQ(Refused(Cat(kPreface, "\0\x40\1\0\0\0\0\0\1"s), 3), settings);
}

}  // namespace armature::daemon::wrong_door_test
