#include "daemon/auth/sigv4.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "storage/base/api_error.h"
#include "tests/support/request_signer.h"

namespace armature::daemon::sigv4_test {

constexpr char kWrong[] =
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and signing method. Consult the service documentation for details.";
constexpr char kBody[] = R"({"TableName":"orders","Key":{"id":{"S":"o-1"}}})";
const absl::Time kNow = *ParseBasicTime("20251104T120000Z");
const test::Signer kSigner = {.key_id = "AKIDEXAMPLE", .secret = "a secret of some length"};

// Computed independently with Python's hmac over JsonRequest("GetItem", kBody) at kNow.
constexpr char kSignature[] = "2b47ee02f0cbf2b3361d1cb8131b3dc1e61b0b0330f7476a8bb8ed6104808cf9";
// A request with its signature in the query, and an expiry of 60 seconds.
constexpr char kSignedQuery[] =
    "/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20251104%2Feu-central-1%2Fdynamodb"
    "%2Faws4_request&X-Amz-Date=20251104T120000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=content-type%3Bhost"
    "%3Bx-amz-target&X-Amz-Signature=c7c802aadc72d86e68bd4ab781159c8c0f6f7f26de63c905734069bc34c7b5c0";

const std::string* SecretOf(std::string_view key_id) { return key_id == kSigner.key_id ? &kSigner.secret : nullptr; }

HttpRequest Signed() {
  HttpRequest request = test::JsonRequest("GetItem", kBody);
  kSigner.Sign(kNow, &request);
  return request;
}

HttpRequest SignedInQuery() {
  HttpRequest request = test::JsonRequest("GetItem", kBody);
  request.target = kSignedQuery;
  return request;
}

std::string& Header(HttpRequest* request, std::string_view name) {
  for (HttpRequest::Header& header : request->headers) {
    if (header.name == name) return header.value;
  }
  request->headers.push_back({std::string(name), ""});
  return request->headers.back().value;
}

void Remove(HttpRequest* request, std::string_view name) {
  std::erase_if(request->headers, [name](const auto& header) { return header.name == name; });
}

void Replace(std::string* text, std::string_view what, std::string_view by) {
  const size_t at = text->find(what);
  ASSERT_NE(at, std::string::npos) << what << " in " << *text;
  text->replace(at, what.size(), by);
}

// "Exception: text", or "OK".
std::string Answer(const HttpRequest& request, absl::Time now = kNow, SigV4Options options = {}) {
  const SigV4Outcome outcome = SigV4Verifier(std::move(options)).Verify(request, now, SecretOf);
  if (outcome.status.ok()) return "OK";
  const auto error = GetApiError(outcome.status);
  return error.has_value() ? std::string(ApiErrorName(error->type)) + ": " + error->message : "internal";
}

TEST(SigV4, WhatAnotherImplementationSignedIsAccepted) {
  EXPECT_NE(Header(std::make_unique<HttpRequest>(Signed()).get(), "authorization").find(kSignature), std::string::npos);
  EXPECT_EQ(Answer(Signed()), "OK");
  EXPECT_EQ(Answer(SignedInQuery()), "OK");
}

TEST(SigV4, PartsAreSeparatedByCommasOrBlanks) {
  for (const std::string_view separator : {",", " ", " , ", ",,", ",  "}) {
    HttpRequest request = Signed();
    std::string& header = Header(&request, "authorization");
    Replace(&header, ", ", separator);
    Replace(&header, ", ", separator);
    EXPECT_EQ(Answer(request), "OK") << separator;
  }
}

TEST(SigV4, EachTamperedPartIsRefused) {
  const std::string wrong = std::string("InvalidSignatureException: ") + kWrong;
  const std::vector<std::pair<std::string_view, std::function<void(HttpRequest*)>>> kTampered = {
      {"method", [](HttpRequest* r) { r->method = "GET"; }},
      {"path", [](HttpRequest* r) { r->target = "/x"; }},
      {"query", [](HttpRequest* r) { r->target = "/?a=b"; }},
      {"host", [](HttpRequest* r) { Header(r, "host") = "evil.example.org"; }},
      {"content type", [](HttpRequest* r) { Header(r, "content-type") = "application/json"; }},
      {"operation", [](HttpRequest* r) { Header(r, "x-amz-target") = "DynamoDB_20120810.DeleteItem"; }},
      {"a second host",
       [](HttpRequest* r) {
         r->headers.push_back({"host", "evil.example.org"});
       }},
      {"a missing signed header", [](HttpRequest* r) { Remove(r, "content-type"); }},
      {"body", [](HttpRequest* r) { r->body.back() = ' '; }},
      {"empty body", [](HttpRequest* r) { r->body.clear(); }},
      {"date", [](HttpRequest* r) { Header(r, "x-amz-date") = "20251104T120001Z"; }},
      {"region", [](HttpRequest* r) { Replace(&Header(r, "authorization"), "eu-central-1", "eu-central-2"); }},
      {"one header less", [](HttpRequest* r) { Replace(&Header(r, "authorization"), "=content-type;host", "=host"); }},
      {"one header twice", [](HttpRequest* r) { Replace(&Header(r, "authorization"), ";host", ";host;host"); }},
      {"order of the headers",
       [](HttpRequest* r) { Replace(&Header(r, "authorization"), "content-type;host", "host;content-type"); }},
      {"case of a header",
       [](HttpRequest* r) { Replace(&Header(r, "authorization"), "=content-type", "=Content-type"); }},
      {"signature",
       [](HttpRequest* r) {
         char& last = Header(r, "authorization").back();
         last = last == '0' ? '1' : '0';
       }},
      {"shorter signature", [](HttpRequest* r) { Header(r, "authorization").pop_back(); }},
      {"longer signature", [](HttpRequest* r) { Header(r, "authorization").push_back('0'); }},
      {"hash of another body", [](HttpRequest* r) { Header(r, "x-amz-content-sha256") = std::string(64, '0'); }},
      {"no hash of the body", [](HttpRequest* r) { Header(r, "x-amz-content-sha256") = "UNSIGNED-PAYLOAD"; }},
  };
  for (const auto& [name, tamper] : kTampered) {
    HttpRequest request = Signed();
    tamper(&request);
    EXPECT_EQ(Answer(request), wrong) << name;
  }
}

TEST(SigV4, EachTamperedPartOfAQueryIsRefused) {
  const std::string wrong = std::string("InvalidSignatureException: ") + kWrong;
  const std::pair<std::string_view, std::string_view> kTampered[] = {
      {"X-Amz-Expires=60", "X-Amz-Expires=61"},
      {"eu-central-1", "eu-central-2"},
      {"X-Amz-Date=20251104T120000Z", "X-Amz-Date=20251104T120001Z"},
      {"content-type%3Bhost", "host"},
      {"/?", "/?a=b&"},
      {"/?", "/a?"},
      {"X-Amz-Expires=60&", ""},
  };
  for (const auto& [what, by] : kTampered) {
    HttpRequest request = SignedInQuery();
    Replace(&request.target, what, by);
    EXPECT_EQ(Answer(request), wrong) << what;
  }
  HttpRequest request = SignedInQuery();
  request.body += " ";
  EXPECT_EQ(Answer(request), wrong);
}

TEST(SigV4, AHashOfTheBodyMayBeSent) {
  HttpRequest request = test::JsonRequest("GetItem", kBody);
  request.headers.push_back({"x-amz-content-sha256", Hex(Sha256(kBody))});
  kSigner.Sign(kNow, &request);
  EXPECT_EQ(Answer(request), "OK");
}

struct AnswerCase {
  std::function<void(HttpRequest*)> change;
  std::string answer;
};

TEST(SigV4, PartsThatAreMissingAreNamed) {
  std::string header = Header(std::make_unique<HttpRequest>(Signed()).get(), "authorization");
  const size_t signed_headers = header.find("SignedHeaders");
  const std::string without_signature = header.substr(0, header.find(", Signature"));
  const std::string without_all = header.substr(0, header.find(' '));
  const std::string without_credential = without_all + " " + header.substr(signed_headers);
  const AnswerCase kCases[] = {
      {[](HttpRequest* r) { Remove(r, "authorization"); },
       "MissingAuthenticationTokenException: Request is missing Authentication Token"},
      {[](HttpRequest* r) { Header(r, "authorization") = "Basic abc"; },
       "MissingAuthenticationTokenException: Request is missing Authentication Token"},
      {[](HttpRequest* r) { Header(r, "authorization") = ""; },
       "MissingAuthenticationTokenException: Request is missing Authentication Token"},
      {[](HttpRequest* r) { r->target = "/?X-Amz-Algorithm=a"; },
       "InvalidSignatureException: Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP "
       "header."},
      {[&](HttpRequest* r) { Header(r, "authorization") = without_signature; },
       "IncompleteSignatureException: Authorization header requires 'Signature' parameter. Authorization=" +
           without_signature},
      {[&](HttpRequest* r) { Header(r, "authorization") = without_credential; },
       "IncompleteSignatureException: Authorization header requires 'Credential' parameter. Authorization=" +
           without_credential},
      {[&](HttpRequest* r) {
         Header(r, "authorization") = without_all;
         Remove(r, "x-amz-date");
       },
       "IncompleteSignatureException: Authorization header requires 'Credential' parameter. Authorization header "
       "requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. Authorization header "
       "requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=" +
           without_all},
      {[&](HttpRequest* r) { Header(r, "authorization") = header + ", Signature=0"; },
       "IncompleteSignatureException: Authorization header requires 'Signature' parameter. Authorization=" + header +
           ", Signature=0"},
      {[](HttpRequest* r) {
         Remove(r, "authorization");
         r->target = "/?X-Amz-Algorithm";
       },
       "IncompleteSignatureException: AWS query-string parameters must include 'X-Amz-Algorithm'. AWS query-string "
       "parameters must include 'X-Amz-Credential'. AWS query-string parameters must include 'X-Amz-Signature'. AWS "
       "query-string parameters must include 'X-Amz-SignedHeaders'. AWS query-string parameters must include "
       "'X-Amz-Date'. Re-examine the query-string parameters."},
      {[](HttpRequest* r) {
         *r = SignedInQuery();
         r->target += "&X-Amz-Date=20251104T120000Z";
       },
       "IncompleteSignatureException: AWS query-string parameters must include 'X-Amz-Date'. Re-examine the "
       "query-string parameters."},
  };
  for (const AnswerCase& c : kCases) {
    HttpRequest request = Signed();
    c.change(&request);
    EXPECT_EQ(Answer(request), c.answer);
  }
}

// Each case has the faults of all later ones, too.
TEST(SigV4, FaultsAreReportedInTheDocumentedOrder) {
  HttpRequest request = Signed();
  std::string& header = Header(&request, "authorization");
  request.body += "x";
  EXPECT_EQ(Answer(request), std::string("InvalidSignatureException: ") + kWrong);
  Replace(&header, "AKIDEXAMPLE", "AKIDSTRANGER");
  EXPECT_EQ(Answer(request), "UnrecognizedClientException: The security token included in the request is invalid.");
  Replace(&header, "20251104", "20251103");
  const std::string days =
      "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20251103' != "
      "'20251104', from '20251104T120000Z'.";
  EXPECT_EQ(Answer(request), "InvalidSignatureException: " + days);
  Replace(&header, "eu-central-1/dynamodb/aws4_request", "eu.central/s3/aws5");
  EXPECT_EQ(Answer(request),
            "InvalidSignatureException: Credential should be scoped to a valid region. Credential "
            "should be scoped to correct service: 'dynamodb'. Credential should be scoped with a valid terminator: "
            "'aws4_request', not 'aws5'. " +
                days);
  Replace(&header, "/s3/", "/s3/extra/");
  EXPECT_EQ(Answer(request),
            "IncompleteSignatureException: Credential must have exactly 5 slash-delimited elements, e.g. "
            "keyid/date/region/service/term, got 'AKIDSTRANGER/20251103/eu.central/s3/extra/aws5'");
  Replace(&header, "AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256");
  EXPECT_EQ(Answer(request),
            "IncompleteSignatureException: Unsupported AWS 'algorithm': 'AWS4-ECDSA-P256-SHA256' (only "
            "AWS4-HMAC-SHA256 for now). ");
  Replace(&header, ";x-amz-target", "");
  EXPECT_EQ(Answer(request),
            "InvalidSignatureException: 'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.");
  Replace(&header, ";host", "");
  EXPECT_EQ(Answer(request), "InvalidSignatureException: 'Host' must be a 'SignedHeader' in the AWS Authorization.");
  EXPECT_EQ(Answer(request, kNow + absl::Seconds(901)),
            "InvalidSignatureException: Signature expired: 20251104T120000Z is now earlier than 20251104T120001Z "
            "(20251104T121501Z - 15 min.)");
  Header(&request, "x-amz-date") = "2025-11-04";
  EXPECT_EQ(Answer(request),
            "IncompleteSignatureException: Date must be in ISO-8601 'basic format'. Got '2025-11-04'. See "
            "http://en.wikipedia.org/wiki/ISO_8601");
}

TEST(SigV4, TheWindowHasTwoEnds) {
  EXPECT_EQ(Answer(Signed(), kNow + absl::Minutes(15)), "OK");
  EXPECT_EQ(Answer(Signed(), kNow - absl::Minutes(15)), "OK");
  EXPECT_EQ(Answer(Signed(), kNow - absl::Seconds(901)),
            "InvalidSignatureException: Signature not yet current: 20251104T120000Z is still later than "
            "20251104T115959Z (20251104T114459Z + 15 min.)");
}

TEST(SigV4, AnExpiryShortensTheWindowAndNeverWidensIt) {
  EXPECT_EQ(Answer(SignedInQuery(), kNow + absl::Seconds(60)), "OK");
  EXPECT_EQ(Answer(SignedInQuery(), kNow + absl::Seconds(61)),
            "InvalidSignatureException: Signature expired: 20251104T120000Z is now earlier than 20251104T120001Z "
            "(20251104T120101Z - 60 sec.)");
  for (const std::string_view expires : {"0", "-1", "604801", "x", ""}) {
    HttpRequest request = SignedInQuery();
    Replace(&request.target, "X-Amz-Expires=60", std::string("X-Amz-Expires=") + std::string(expires));
    EXPECT_EQ(Answer(request),
              "IncompleteSignatureException: X-Amz-Expires must be a number of seconds between 1 and 604800. "
              "Re-examine the query-string parameters.");
  }
  HttpRequest request = SignedInQuery();
  Replace(&request.target, "X-Amz-Expires=60", "X-Amz-Expires=604800");
  EXPECT_EQ(Answer(request, kNow + absl::Seconds(901)).substr(0, 44), "InvalidSignatureException: Signature expired");
}

TEST(SigV4, TheDateHeaderServesIfThereIsNoOther) {
  HttpRequest request = Signed();
  Remove(&request, "x-amz-date");
  Header(&request, "date") = "20251104T120000Z";
  EXPECT_EQ(Answer(request), std::string("InvalidSignatureException: ") + kWrong);
  Header(&request, "date") = "Tue, 04 Nov 2025 12:00:00 GMT";
  EXPECT_EQ(Answer(request),
            "IncompleteSignatureException: Date must be in ISO-8601 'basic format'. Got 'Tue, 04 Nov 2025 12:00:00 "
            "GMT'. See http://en.wikipedia.org/wiki/ISO_8601");
}

TEST(SigV4, AConfiguredRegionIsTheOnlyOne) {
  EXPECT_EQ(Answer(Signed(), kNow, {.region = "eu-central-1"}), "OK");
  EXPECT_EQ(Answer(Signed(), kNow, {.region = "us-east-1"}),
            "InvalidSignatureException: Credential should be scoped to a valid region. ");
}

TEST(SigV4, OutcomesNameTheKeyAndTheReason) {
  const SigV4Verifier verifier({});
  HttpRequest request = Signed();
  EXPECT_EQ(verifier.Verify(request, kNow, SecretOf).key_id, "AKIDEXAMPLE");
  request.body.clear();
  EXPECT_EQ(verifier.Verify(request, kNow, SecretOf).failure, AuthFailure::kWrongSignature);
  EXPECT_EQ(verifier.Verify(request, kNow, SecretOf).key_id, "AKIDEXAMPLE");
  EXPECT_EQ(verifier.Verify(request, kNow + absl::Hours(1), SecretOf).failure, AuthFailure::kOutsideWindow);
  const auto nobody = [](std::string_view) -> const std::string* { return nullptr; };
  EXPECT_EQ(verifier.Verify(request, kNow, nobody).failure, AuthFailure::kUnknownKey);
  Header(&request, "authorization").clear();
  EXPECT_EQ(verifier.Verify(request, kNow, SecretOf).failure, AuthFailure::kMissing);
}

// From the second request of a day on, the signing key is cached.
TEST(SigV4, AKeptSigningKeyChangesNothing) {
  const SigV4Verifier verifier({});
  for (int i = 0; i < 3; ++i) {
    HttpRequest request = Signed();
    EXPECT_TRUE(verifier.Verify(request, kNow, SecretOf).status.ok());
    request.body += "x";
    EXPECT_FALSE(verifier.Verify(request, kNow, SecretOf).status.ok());
    const auto nobody = [](std::string_view) -> const std::string* { return nullptr; };
    EXPECT_EQ(verifier.Verify(Signed(), kNow, nobody).failure, AuthFailure::kUnknownKey);
  }
}

TEST(SigV4, ManyHeadersAreNotSlow) {
  HttpRequest request = Signed();
  std::string& header = Header(&request, "authorization");
  std::string names = "content-type";
  for (int i = 0; i < 20'000; ++i) names += ";g";
  Replace(&header, "content-type", names);
  for (int i = 0; i < 20'000; ++i) request.headers.push_back({"g", ""});
  EXPECT_EQ(Answer(request), std::string("InvalidSignatureException: ") + kWrong);
}

TEST(SigV4, OnlyRealTimesAreTimes) {
  for (const std::string_view text :
       {"", "20251104T120000", "20251104T120000z", "20251104 120000Z", "20251304T120000Z", "20250229T120000Z",
        "20251104T240000Z", "20251104T126000Z", "20251104T120060Z", "2025-104T120000Z", "20251104T12000 Z"}) {
    EXPECT_FALSE(ParseBasicTime(text).has_value()) << text;
  }
  EXPECT_EQ(FormatBasicTime(*ParseBasicTime("20240229T235959Z")), "20240229T235959Z");
}

}  // namespace armature::daemon::sigv4_test
