#include "daemon/json_front/json_front.h"

#include <zlib.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "armature/version.h"
#include "daemon/http/http_server.h"
#include "daemon/json_front/content_coding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "tests/support/raw_http_client.h"
#include "tests/unit/daemon/json_front/json_front_fixture.h"

namespace armature::daemon::json_front_test {

using testing::Contains;
using testing::ElementsAre;
using testing::Key;
using testing::MatchesRegex;
using testing::Not;
using testing::Pair;

constexpr std::string_view kNotInflated =
    R"({"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"Internal server error"})";
constexpr std::string_view kNotJson = R"({"__type":"com.amazon.coral.service#SerializationException"})";

// The answer to a target that is not known.
std::string Unknown(std::string_view text) {
  return Cat(R"({"__type":"com.amazon.coral.service#UnknownOperationException","message":")", text, R"("})");
}

TEST_F(JsonFrontTest, CallsTheOperationAndSendsItsAnswer) {
  const HttpResponse response = Answer(PutItem("{}"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "{}");
  EXPECT_THAT(NamesOf(response), ElementsAre("Content-Type", "x-amz-crc32", "x-amzn-RequestId"));
  EXPECT_EQ(ValueOf(response, "Content-Type"), "application/x-amz-json-1.0");
  EXPECT_EQ(ValueOf(response, "x-amz-crc32"), "2745614147");
  EXPECT_THAT(ValueOf(response, "x-amzn-RequestId"), MatchesRegex("[A-Z0-9]*"));
  EXPECT_EQ(ValueOf(response, "x-amzn-RequestId").size(), 52);
  ASSERT_EQ(operations_.seen().size(), 1);
  EXPECT_EQ(operations_.seen()[0].operation, "PutItem");
  EXPECT_EQ(operations_.seen()[0].body, "{}");
  EXPECT_EQ(operations_.seen()[0].at_least_sequence, 0);
  EXPECT_GT(operations_.seen()[0].time_left, absl::Seconds(1));
  EXPECT_LE(operations_.seen()[0].time_left, options_.request_timeout);
}

TEST_F(JsonFrontTest, EveryAnswerHasAnIdOfItsOwn) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(ValueOf(Answer(PutItem("{}")), "x-amzn-RequestId"));
  EXPECT_EQ(ids.size(), 1000);
}

TEST_F(JsonFrontTest, ContentTypeIsThatOfTheRequest) {
  for (const auto& [sent, answered] :
       {std::pair("application/x-amz-json-1.0", "application/x-amz-json-1.0"),
        std::pair("application/json", "application/json"),
        std::pair("application/json; charset=utf-8", "application/json"),
        std::pair("application/x-amz-json-1.0 ;charset=UTF-8", "application/x-amz-json-1.0")}) {
    HttpRequest request = PutItem("{}");
    Set(&request, "content-type", sent);
    EXPECT_EQ(ValueOf(Answer(std::move(request)), "Content-Type"), answered) << sent;
  }
  operations_.answer_status = 400;
  EXPECT_EQ(ValueOf(Answer(PutItem("{}")), "Content-Type"), "application/x-amz-json-1.0");
}

TEST_F(JsonFrontTest, ContentTypesOfProgramsThatCannotKnowBetterGetASentence) {
  options_.way_to_grpc = [] { return std::string("gRPC is elsewhere."); };
  for (const char* type : {"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"}) {
    HttpRequest request = PutItem("{}");
    Set(&request, "content-type", type);
    const HttpResponse response = Answer(std::move(request));
    EXPECT_EQ(response.status, 404);
    EXPECT_THAT(response.body, testing::AllOf(testing::StartsWith("<UnknownOperationException/>\n<!-- "),
                                              testing::HasSubstr("Content-Type: application/x-amz-json-1.0")));
    EXPECT_EQ(ValueOf(response, "x-amz-crc32"), Crc(response.body));
  }
  HttpRequest request = PutItem("{}");
  Set(&request, "content-type", "application/grpc-web");
  EXPECT_THAT(ValueOf(Answer(std::move(request)), "x-armature-hint"), testing::HasSubstr("gRPC is elsewhere."));
}

TEST_F(JsonFrontTest, BrowsersGetAPage) {
  options_.way_to_grpc = [] { return std::string("gRPC is elsewhere."); };
  for (const auto& [path, status] : {std::pair("/", 200u), std::pair("/x", 404u)}) {
    HttpRequest request = PutItem("");
    request.method = "GET";
    request.target = path;
    Set(&request, "accept", "text/html,*/*;q=0.8");
    const HttpResponse response = Answer(std::move(request));
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(ValueOf(response, "Content-Type"), "text/html; charset=utf-8");
    EXPECT_THAT(response.body, testing::HasSubstr("gRPC is elsewhere."));
  }
}

TEST_F(JsonFrontTest, OtherContentTypesAndMethodsAreNotFound) {
  const auto expect_not_found = [this](HttpRequest request) {
    const HttpResponse response = Answer(std::move(request));
    EXPECT_EQ(response.status, 404);
    EXPECT_EQ(response.body, "<UnknownOperationException/>\n");
    EXPECT_EQ(ValueOf(response, "x-amz-crc32"), "3552371480");
    EXPECT_EQ(ValueOf(response, "x-amzn-RequestId").size(), 52);
  };
  for (const char* type : {"", "text/xml", "application/x-amz-json-1.1", "application/jsonp", "json"}) {
    HttpRequest request = PutItem("{}");
    Set(&request, "content-type", type);
    expect_not_found(std::move(request));
  }
  for (const char* method : {"PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "post", "BREW"}) {
    HttpRequest request = PutItem("{}");
    request.method = method;
    expect_not_found(std::move(request));
  }
  HttpRequest get = PutItem("");
  get.method = "GET";
  get.target = "/other";
  expect_not_found(std::move(get));
  EXPECT_THAT(operations_.seen(), testing::IsEmpty());
}

TEST_F(JsonFrontTest, HealthNamesTheHostThatWasAsked) {
  HttpRequest request{.method = "GET", .target = "/", .headers = {{"host", "db.test:8000"}}, .body = {}, .peer = {}};
  for (const char* target : {"/", "/?x=y"}) {
    request.target = target;
    const HttpResponse response = Answer(request);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "healthy: db.test:8000 ");
    EXPECT_EQ(ValueOf(response, "x-amz-crc32"), Crc(response.body));
  }
}

TEST_F(JsonFrontTest, LoadBalancersMayAskIfTheServerIsReady) {
  for (const char* method : {"GET", "HEAD"}) {
    HttpRequest request;
    request.method = method;
    request.target = "/readyz";
    request.headers = {{"host", "db.test:8000"}};
    readiness_ = {};
    HttpResponse response = Answer(request);
    EXPECT_EQ(response.status, 200) << method;
    EXPECT_EQ(response.body, "ready\n");
    readiness_ = {.is_ready = false, .text = "stopping"};
    response = Answer(request);
    EXPECT_EQ(response.status, 503) << method;
    EXPECT_EQ(response.body, "stopping\n");
    request.target = "/healthz";
    EXPECT_EQ(Answer(request).status, 200) << method;
  }
}

TEST_F(JsonFrontTest, LateRequestsAreRefusedAndHealthChecksAreNot) {
  HttpRequest late = PutItem("{}");
  late.is_late = true;
  const HttpResponse refusal = Answer(std::move(late));
  EXPECT_EQ(refusal.status, 400);
  EXPECT_EQ(refusal.body, "error: The server has more requests waiting than it can serve; slow down");
  EXPECT_FALSE(refusal.close);
  EXPECT_THAT(operations_.seen(), testing::IsEmpty());
  HttpRequest health;
  health.method = "GET";
  health.target = "/healthz";
  health.is_late = true;
  EXPECT_EQ(Answer(std::move(health)).status, 200);
}

TEST_F(JsonFrontTest, PagesOfOtherSitesAreRefused) {
  HttpRequest request = PutItem("{}");
  Set(&request, "origin", "https://elsewhere.test");
  for (const char* method : {"POST", "GET", "OPTIONS"}) {
    request.method = method;
    const HttpResponse response = Answer(request);
    EXPECT_EQ(response.status, 403) << method;
    EXPECT_EQ(response.body,
              R"({"__type":"com.amazon.coral.service#AccessDeniedException","message":"The server does not accept )"
              R"(requests from web pages of https://elsewhere.test. To permit them, start armatured with )"
              R"(--cors_origins=https://elsewhere.test"})");
    EXPECT_THAT(NamesOf(response), ElementsAre("Content-Type", "x-amz-crc32", "x-amzn-RequestId"));
  }
  request = PutItem("{}");
  Set(&request, "host", "evil.test");
  EXPECT_EQ(Answer(request).status, 403);
  EXPECT_THAT(operations_.seen(), testing::IsEmpty());
}

TEST_F(JsonFrontTest, PermittedPagesReadTheAnswers) {
  HttpRequest request = PutItem("{}");
  Set(&request, "origin", "https://app.test");
  const auto expect_readable = [this](const HttpRequest& sent) {
    const HttpResponse response = Answer(sent);
    EXPECT_EQ(ValueOf(response, "Access-Control-Allow-Origin"), "https://app.test");
    EXPECT_EQ(ValueOf(response, "Access-Control-Expose-Headers"),
              "x-amzn-RequestId, x-amz-crc32, x-amz-retry-after, x-armature-change-sequence");
    EXPECT_EQ(ValueOf(response, "Vary"), "Origin");
  };
  expect_readable(request);
  Set(&request, "x-amz-target", "unknown");
  expect_readable(request);
  request.method = "GET";
  expect_readable(request);

  request.method = "OPTIONS";
  Set(&request, "access-control-request-headers", "x-amz-target, authorization");
  Set(&request, "access-control-request-method", "POST");
  Set(&request, "access-control-request-private-network", "true");
  expect_readable(request);
  const HttpResponse response = Answer(request);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "");
  EXPECT_THAT(NamesOf(response),
              ElementsAre("Access-Control-Allow-Headers", "Access-Control-Allow-Methods", "Access-Control-Allow-Origin",
                          "Access-Control-Allow-Private-Network", "Access-Control-Expose-Headers",
                          "Access-Control-Max-Age", "Vary", "x-amzn-RequestId"));
  EXPECT_EQ(ValueOf(response, "Access-Control-Allow-Headers"), "x-amz-target, authorization");
  EXPECT_EQ(ValueOf(response, "Access-Control-Allow-Methods"), "POST");
  EXPECT_EQ(ValueOf(response, "Access-Control-Max-Age"), "172800");
  EXPECT_THAT(operations_.seen(), testing::SizeIs(1));
}

TEST_F(JsonFrontTest, UnknownTargetsAreSaidToBe) {
  const std::string absent = Unknown("The request has no X-Amz-Target header, which names the operation");
  const std::string unknown = Cat(" is not supported by Armature ", kVersion);
  const struct {
    std::string target;
    std::string body;
  } kCases[] = {
      {"", absent},
      {"PutItem", Unknown("The target PutItem" + unknown)},
      {"DynamoDB_20120810.putItem", Unknown("putItem" + unknown)},
      {"DynamoDB_20120810.PutItem.x", Unknown("PutItem.x" + unknown)},
      {"\"\\", Unknown(R"(The target \"\\)" + unknown)},
      {"\xff", Unknown("The operation" + unknown)},
      {"DynamoDB_20120810." + std::string(1000, 'x'), Unknown(std::string(255, 'x') + "..." + unknown)},
  };
  for (const auto& c : kCases) {
    HttpRequest request = PutItem("not even JSON");
    Set(&request, "x-amz-target", c.target);
    const HttpResponse response = Answer(std::move(request));
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(response.body, c.body);
    EXPECT_EQ(ValueOf(response, "x-amz-crc32"), Crc(c.body));
    EXPECT_EQ(ValueOf(response, "Content-Type"), "application/x-amz-json-1.0");
  }
  HttpRequest request = PutItem("{}");
  Unset(&request, "x-amz-target");
  EXPECT_EQ(Answer(std::move(request)).body, absent);
}

TEST_F(JsonFrontTest, EmptyBodiesAreNoJson) {
  HttpRequest request = PutItem("");
  EXPECT_EQ(Answer(request).body, kNotJson);
  // Without a body the content type does not matter.
  Unset(&request, "content-type");
  const HttpResponse response = Answer(request);
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.body, kNotJson);
  EXPECT_EQ(ValueOf(response, "Content-Type"), "application/json");
  EXPECT_THAT(operations_.seen(), testing::IsEmpty());
}

TEST_F(JsonFrontTest, SendersAreAskedForBeforeTheBodyIsLookedAt) {
  FakeAuthenticator authenticator;
  options_.authenticate = authenticator.function();
  HttpRequest request = PutItem("no gzip at all");
  Set(&request, "content-encoding", "gzip");
  EXPECT_EQ(Answer(request).body, "error: who are you?");
  request.body.clear();
  EXPECT_EQ(Answer(request).body, "error: who are you?");
  Set(&request, "authorization", "me");
  EXPECT_EQ(Answer(request).body, kNotInflated);
  // Signatures cover the compressed body.
  request.body = Gzip("{}");
  EXPECT_EQ(Answer(request).body, "{}");
  EXPECT_EQ(authenticator.body_sizes.back(), request.body.size());
  ASSERT_THAT(operations_.seen(), testing::SizeIs(1));
  EXPECT_EQ(operations_.seen()[0].principal, "somebody");
}

TEST_F(JsonFrontTest, NobodyIsAskedWhoTheyAreForHealthAndPreflight) {
  FakeAuthenticator authenticator;
  options_.authenticate = authenticator.function();
  EXPECT_EQ(Answer({.method = "GET", .target = "/", .headers = {}, .body = {}, .peer = {}}).status, 200);
  EXPECT_EQ(
      Answer({.method = "OPTIONS", .target = "/", .headers = {{"origin", "https://app.test"}}, .body = {}, .peer = {}})
          .status,
      200);
  EXPECT_THAT(authenticator.body_sizes, testing::IsEmpty());
}

TEST_F(JsonFrontTest, SequencesTravelInHeaders) {
  operations_.change_sequence = 18446744073709551615U;
  HttpRequest request = PutItem("{}");
  Set(&request, "x-armature-at-least-sequence", "18446744073709551614");
  EXPECT_EQ(ValueOf(Answer(request), "x-armature-change-sequence"), "18446744073709551615");
  EXPECT_EQ(operations_.seen()[0].at_least_sequence, 18446744073709551614U);
  for (const char* malformed : {"", " 1", "1 ", "-1", "+1", "0x1", "1.0", "18446744073709551616", "one"}) {
    Set(&request, "x-armature-at-least-sequence", malformed);
    EXPECT_EQ(Answer(request).body,
              "error: The header x-armature-at-least-sequence must be a decimal number of at most 64 bits")
        << malformed;
  }
  EXPECT_THAT(operations_.seen(), testing::SizeIs(1));
}

TEST_F(JsonFrontTest, CompressedRequestsAreInflated) {
  HttpRequest request = PutItem(Gzip(R"({"TableName":"t"})"));
  Set(&request, "content-encoding", "GZIP");
  EXPECT_EQ(Answer(request).body, R"({"TableName":"t"})");
  // Several gzip members make one text.
  request.body = Gzip("{\"a\":") + Gzip("") + Gzip("1}");
  EXPECT_EQ(Answer(request).body, "{\"a\":1}");
  request = PutItem("{}");
  Set(&request, "content-encoding", "identity");
  EXPECT_EQ(Answer(request).body, "{}");
}

TEST_F(JsonFrontTest, ThrottledAnswersSayHowLongToWait) {
  operations_.answer_error = ThrottlingError("slowly", /*retry_after_ms=*/250);
  EXPECT_EQ(ValueOf(Answer(PutItem("{}")), "x-amz-retry-after"), "250");
  operations_.answer_error = ProvisionedThroughputExceededError("slowly", {}, /*retry_after_ms=*/1);
  EXPECT_EQ(ValueOf(Answer(PutItem("{}")), "x-amz-retry-after"), "1");
  for (const absl::Status& other : {absl::OkStatus(), ValidationError("no"), absl::InternalError("no")}) {
    operations_.answer_error = other;
    EXPECT_EQ(ValueOf(Answer(PutItem("{}")), "x-amz-retry-after"), "(none)");
  }
}

TEST_F(JsonFrontTest, RequestsMayBeZlibStreams) {
  HttpRequest request = PutItem(Compressed("{\"a\":1}", ContentCoding::kDeflate));
  Set(&request, "content-encoding", "Deflate");
  EXPECT_EQ(Answer(request).body, "{\"a\":1}");
}

TEST_F(JsonFrontTest, BytesBehindAGzipMemberAreIgnored) {
  HttpRequest request = PutItem(Gzip("{}") + "rest");
  Set(&request, "content-encoding", "gzip");
  EXPECT_EQ(Answer(request).body, "{}");
}

TEST_F(JsonFrontTest, WhatDoesNotInflateIsAnInternalErrorAndIsNotCarriedOut) {
  const std::string whole = Gzip(std::string(1000, 'x') + "{}");
  HttpRequest request = PutItem("");
  Set(&request, "content-encoding", "gzip");
  std::string damaged = whole;
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // the checksum
  for (const std::string& body :
       {std::string(), std::string("{}"), whole.substr(0, whole.size() - 1), whole.substr(0, 5),
        whole + whole.substr(0, 30), damaged, Gzip(""), Compressed("{}", ContentCoding::kDeflate)}) {
    request.body = body;
    const HttpResponse response = Answer(request);
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.body, kNotInflated);
  }
  const std::string stream = Compressed("{}", ContentCoding::kDeflate);
  Set(&request, "content-encoding", "deflate");
  for (const std::string& body : {std::string(), whole, stream + stream, stream + "x",
                                  stream.substr(0, stream.size() - 1), Compressed("", ContentCoding::kDeflate)}) {
    request.body = body;
    EXPECT_EQ(Answer(request).body, kNotInflated);
  }
  for (const char* coding : {"br", "gzip, gzip", "x", "gzip;q=1", "identity, gzip"}) {
    request.body = whole;
    Set(&request, "content-encoding", coding);
    EXPECT_EQ(Answer(request).body, kNotInflated) << coding;
  }
  EXPECT_THAT(operations_.seen(), testing::IsEmpty());
}

TEST_F(JsonFrontTest, InflatedBodiesHaveTheSameLimit) {
  const std::string most(16 << 20, ' ');
  HttpRequest request = PutItem(Gzip(most));
  Set(&request, "content-encoding", "gzip");
  EXPECT_TRUE(Answer(request).body == most);
  // Two compression bombs; the second begins with a small member.
  for (const std::string& bomb : {Gzip(most + " "), Gzip("{") + Gzip(std::string(200 << 20, ' '))}) {
    request.body = bomb;
    const HttpResponse response = Answer(request);
    EXPECT_EQ(response.status, 413);
    EXPECT_EQ(response.body, "");
    EXPECT_THAT(NamesOf(response), Not(Contains("x-amzn-RequestId")));
    EXPECT_TRUE(response.close);
  }
}

TEST_F(JsonFrontTest, LargeAnswersAreCompressedForThoseWhoAsk) {
  const std::string large(4097, 'x');
  for (const auto& [accepted, coding] : {std::pair("gzip", "gzip"),
                                         std::pair("deflate", "deflate"),
                                         std::pair("gzip, deflate", "gzip"),
                                         std::pair("deflate, gzip", "deflate"),
                                         std::pair("br, identity, deflate, gzip", "deflate"),
                                         std::pair("gzip;q=0.5, deflate;q=0.8", "deflate"),
                                         std::pair("br, GZIP;q=0.1", "gzip"),
                                         std::pair("*", "gzip"),
                                         std::pair("*, deflate", "deflate"),
                                         std::pair("*, deflate;q=0.5", "gzip"),
                                         std::pair("*, gzip;q=0.5", "deflate"),
                                         std::pair("*;q=0.5,identity", "gzip"),
                                         std::pair("gzip;q=0, *;q=0.5", "deflate"),
                                         std::pair("identity", "(none)"),
                                         std::pair("x-gzip", "(none)"),
                                         std::pair("\"gzip\"", "(none)"),
                                         std::pair("gzip br", "(none)"),
                                         std::pair("gzip:q=1", "(none)"),
                                         std::pair("gzip;q=0", "(none)"),
                                         std::pair("gzip;q=0.", "(none)"),
                                         std::pair("gzip;q=0.0001", "gzip"),
                                         std::pair("gzip;q=0, deflate;q=0.000", "(none)"),
                                         std::pair("gzip;q=0.x", "gzip"),
                                         std::pair("gzip;q=", "gzip"),
                                         std::pair("gzip;q=nan", "gzip"),
                                         std::pair("gzip;q=2", "gzip"),
                                         std::pair("deflate, gzip;q=2", "deflate"),
                                         std::pair("gzip;q=-1", "(none)"),
                                         std::pair("deflate;q=-0.5,gzip;q=0.2", "gzip"),
                                         std::pair("gzip; q=0;q=1", "(none)"),
                                         std::pair("gzip;q =0;q=1", "gzip"),
                                         std::pair("gzip;nq=0", "(none)"),
                                         std::pair("gzip;q=0, gzip;q=1, gzip;q=0", "gzip"),
                                         std::pair("deflate;q=0.5, gzip;q=1;q=0.2", "gzip"),
                                         std::pair("", "(none)"),
                                         std::pair("*;q=0", "(none)"),
                                         std::pair(",;,gzip;", "gzip")}) {
    HttpRequest request = PutItem(large);
    Set(&request, "accept-encoding", accepted);
    const HttpResponse response = Answer(std::move(request));
    EXPECT_EQ(ValueOf(response, "Content-Encoding"), coding) << accepted;
    EXPECT_EQ(ValueOf(response, "x-amz-crc32"), Crc(response.body)) << accepted;
    EXPECT_EQ(response.body == large, coding == std::string_view("(none)")) << accepted;
    std::string text;
    if (coding == std::string_view("gzip")) {
      EXPECT_EQ(Inflate(
                    response.body, ContentCoding::kGzip, 1 << 20, [](size_t) { return true; }, &text),
                InflateResult::kOk);
      EXPECT_EQ(text, large);
    } else if (coding == std::string_view("deflate")) {
      text.resize(large.size());
      uLongf size = text.size();
      EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                           reinterpret_cast<const Bytef*>(response.body.data()), response.body.size()),
                Z_OK);
      EXPECT_EQ(text, large);
    }
  }
}

TEST_F(JsonFrontTest, SmallAnswersAreNotCompressed) {
  HttpRequest request = PutItem(std::string(4096, 'x'));
  Set(&request, "accept-encoding", "gzip");
  EXPECT_EQ(ValueOf(Answer(std::move(request)), "Content-Encoding"), "(none)");
}

TEST_F(JsonFrontTest, HoldsARefusalBackWithoutHoldingUpOthers) {
  FakeAuthenticator authenticator;
  authenticator.hold_refusals = absl::Milliseconds(50);
  options_.authenticate = authenticator.function();
  JsonFront front(&operations_, options_);
  const absl::Time begin = absl::Now();
  absl::Notification refused;
  absl::Time refused_at;
  front.Handle(PutItem("{}"), [&](const HttpResponse& response) {
    EXPECT_EQ(response.body, "error: who are you?");
    refused_at = absl::Now();
    refused.Notify();
  });
  EXPECT_FALSE(refused.HasBeenNotified()) << "Handle must not wait";
  HttpRequest known = PutItem("{}");
  Set(&known, "authorization", "the word");
  EXPECT_EQ(Answer(&front, known).status, 200);
  refused.WaitForNotification();
  EXPECT_GE(refused_at - begin, authenticator.hold_refusals);
}

TEST_F(JsonFrontTest, RefusalsBeyondTheBoundAreSentAtOnce) {
  FakeAuthenticator authenticator;
  authenticator.hold_refusals = absl::Hours(1);
  options_.authenticate = authenticator.function();
  options_.held_back_max = 1;
  JsonFront front(&operations_, options_);
  front.Handle(PutItem("{}"), [](const HttpResponse&) { ADD_FAILURE() << "is held back for an hour"; });
  EXPECT_EQ(Answer(&front, PutItem("{}")).body, "error: who are you?");
}

// Blocks its thread until released.
class BlockingOperations final : public JsonOperations {
 public:
  bool Knows(std::string_view target, std::string_view* operation) const override {
    *operation = target;
    return true;
  }
  void Call(JsonCall call, JsonApi::Done done) override {
    if (call.body == "block") {
      blocked.Notify();
      go_on.WaitForNotification();
    }
    std::move(done)({.status = 200, .body = call.body});
  }
  JsonAnswer Refuse(const JsonCall&, const absl::Status&) const override { return {}; }

  absl::Notification blocked;
  absl::Notification go_on;
};

TEST_F(JsonFrontTest, WhenTheCodersAreBusyRequestsAreTurnedAwayAndAnswersGoAsTheyAre) {
  BlockingOperations operations;
  options_.coding_queue_max = 1;
  JsonFront front(&operations, options_);
  const auto compressed = [](std::string_view text) {
    HttpRequest request = PutItem(Gzip(text));
    Set(&request, "content-encoding", "gzip");
    return request;
  };
  absl::Notification first_done;
  absl::Notification second_done;
  front.Handle(compressed("block"), [&](HttpResponse) { first_done.Notify(); });
  operations.blocked.WaitForNotification();
  front.Handle(compressed("waits"), [&](HttpResponse) { second_done.Notify(); });

  const HttpResponse refused = Answer(&front, compressed("too many"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body, R"({"__type":"com.amazonaws.dynamodb.v20120810#ServiceUnavailable",)"
                          R"("message":"The server cannot take the request now; try again later."})");
  HttpRequest large = PutItem(std::string(5000, 'x'));
  Set(&large, "accept-encoding", "gzip");
  const HttpResponse plain = Answer(&front, std::move(large));
  EXPECT_EQ(plain.body.size(), 5000);
  EXPECT_EQ(ValueOf(plain, "Content-Encoding"), "(none)");
  EXPECT_EQ(ValueOf(plain, "x-amz-crc32"), Crc(plain.body));

  operations.go_on.Notify();
  first_done.WaitForNotification();
  second_done.WaitForNotification();
}

TEST_F(JsonFrontTest, RefusalsOfTheServer) {
  JsonFront front(&operations_, options_);
  for (const unsigned status : {400U, 408U, 417U, 503U}) {
    const HttpResponse response = front.Refuse(status);
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(ValueOf(response, "x-amzn-RequestId").size(), 52);
    EXPECT_EQ(ValueOf(response, "x-amz-crc32"), Crc(response.body));
    EXPECT_TRUE(response.close);
  }
  EXPECT_THAT(front.Refuse(413).headers, testing::IsEmpty());
  EXPECT_EQ(front.Refuse(413).body, "");
}

TEST_F(JsonFrontTest, OnTheWire) {
  JsonFront front(&operations_, options_);
  const auto server = HttpServer::Start({}, &front).value();
  test::RawHttpClient client(server->address());
  client.Send(
      test::Post("{}", "X-Amz-Target: DynamoDB_20120810.PutItem\r\nContent-Type: application/x-amz-json-1.0\r\n"));
  const test::RawResponse response = client.Read();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "{}");
  EXPECT_THAT(response.headers, testing::UnorderedElementsAre(
                                    Pair("content-type", "application/x-amz-json-1.0"), Pair("content-length", "2"),
                                    Pair("x-amz-crc32", "2745614147"), Key("x-amzn-requestid"), Key("date")));
  client.Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16777217\r\n\r\n");
  const test::RawResponse too_large = client.Read();
  EXPECT_EQ(too_large.status, 413);
  EXPECT_THAT(too_large.headers, Not(Contains(Key("x-amzn-requestid"))));
}

}  // namespace armature::daemon::json_front_test
