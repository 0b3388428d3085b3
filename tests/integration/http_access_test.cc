// Signatures of requests of the original protocol, over TLS: their time, and each signed part.

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/client/wait.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"
#include "tests/support/https_exchange.h"
#include "tests/support/request_signer.h"
#include "tests/support/security_files.h"

namespace armature::test::http_access_test {

using daemon::HttpRequest;
using testing::HasSubstr;
using testing::Not;

HttpRequest PutRequest() { return JsonRequest("PutItem", R"({"TableName": "orders", "Item": {"id": {"S": "a"}}})"); }

// Adds a key with a different secret.
struct FilesWithAnotherKey : SecurityFiles {
  FilesWithAnotherKey() {
    WriteCredentials({R"({"id": "AKOTHER", "secret": "the-secret-of-another", "policy": "root"})"});
  }
};

class HttpAccessTest : public testing::Test {
 protected:
  HttpAccessTest() {
    const auto created = daemon_.client().CreateTable(FromJson<api::v1::CreateTableRequest>(
        R"({"TableName": "orders", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})"));
    EXPECT_TRUE(created.ok()) << created.status();
    EXPECT_TRUE(client::WaitForTable(daemon_.client(), "orders", absl::Now() + absl::Seconds(30)).ok());
  }

  static HttpRequest Signed(std::string_view key_id, HttpRequest request, absl::Time time = absl::Now()) {
    const Signer signer{.key_id = std::string(key_id), .secret = SecurityFiles::kRootSecret};
    signer.Sign(time, &request);
    return request;
  }
  HttpsExchange Send(const HttpRequest& request) const {
    return HttpsExchange(daemon_.http_address(), files_.Path("ca.pem"), request);
  }
  RawResponse Answer(const HttpRequest& request) const { return Send(request).Read(); }

  FilesWithAnotherKey files_;
  DaemonProcess daemon_{files_.Flags(), files_.WithKey("AKROOT")};
};

TEST_F(HttpAccessTest, ASignatureHoldsForItsTimeOnly) {
  const HttpRequest request = PutRequest();
  const absl::Time now = absl::Now();
  const HttpRequest fresh = Signed("AKROOT", request, now);
  EXPECT_EQ(Answer(fresh).status, 200);
  EXPECT_EQ(Answer(fresh).status, 200) << "a client that repeats is no attacker";
  EXPECT_EQ(Answer(Signed("AKROOT", request, now - absl::Minutes(13))).status, 200);
  EXPECT_EQ(Answer(Signed("AKROOT", request, now + absl::Minutes(13))).status, 200);

  const RawResponse old = Answer(Signed("AKROOT", request, now - absl::Minutes(15) - absl::Seconds(1)));
  EXPECT_EQ(old.status, 400);
  EXPECT_THAT(old.body, HasSubstr("#InvalidSignatureException"));
  EXPECT_THAT(old.body, HasSubstr("Signature expired: "));
  const RawResponse early = Answer(Signed("AKROOT", request, now + absl::Minutes(17)));
  EXPECT_EQ(early.status, 400);
  EXPECT_THAT(early.body, HasSubstr("#InvalidSignatureException"));
  EXPECT_THAT(early.body, HasSubstr("Signature not yet current: "));
}

std::string& Header(HttpRequest& request, std::string_view name) {
  for (auto& header : request.headers) {
    if (header.name == name) return header.value;
  }
  throw std::runtime_error(Cat("no header ", name));
}

void Remove(HttpRequest& request, std::string_view name) {
  auto& headers = request.headers;
  headers.erase(std::remove_if(headers.begin(), headers.end(), [&](const auto& header) { return header.name == name; }),
                headers.end());
}

// Changes the Authorization header.
void Replace(HttpRequest& request, std::string_view from, std::string_view to) {
  std::string& value = Header(request, "authorization");
  const size_t at = value.find(from);
  if (at == std::string::npos) throw std::runtime_error(Cat("no ", from, " in ", value));
  value.replace(at, from.size(), to);
}

struct Tampering {
  std::string what;
  std::function<void(HttpRequest&)> change;
  std::string_view exception = "InvalidSignatureException";
};

// Changes of everything that is signed, and of the signature's parts.
std::vector<Tampering> Tamperings(const HttpRequest& good) {
  std::vector<Tampering> all = {
      {"path", [](HttpRequest& r) { r.target = "/orders"; }},
      {"query", [](HttpRequest& r) { r.target = "/?a=b"; }},
      {"empty parameter", [](HttpRequest& r) { r.target = "/?a"; }},
      {"body", [](HttpRequest& r) { r.body[r.body.size() - 5] ^= 1; }},
      {"longer body", [](HttpRequest& r) { r.body += " "; }},
      {"shorter body", [](HttpRequest& r) { r.body.pop_back(); }},
      {"no body", [](HttpRequest& r) { r.body.clear(); }},
      {"key", [](HttpRequest& r) { Replace(r, "Credential=AKROOT/", "Credential=AKOTHER/"); }},
      {"unknown key", [](HttpRequest& r) { Replace(r, "Credential=AKROOT/", "Credential=AKNOBODY/"); },
       "UnrecognizedClientException"},
      {"day", [](HttpRequest& r) { Replace(r, Cat("/", Header(r, "x-amz-date").substr(0, 8)), "/20010101"); }},
      {"region", [](HttpRequest& r) { Replace(r, "/eu-central-1/", "/us-east-1/"); }},
      {"service", [](HttpRequest& r) { Replace(r, "/dynamodb/", "/s3/"); }},
      {"terminator", [](HttpRequest& r) { Replace(r, "/aws4_request", "/aws5_request"); }},
      {"longer scope", [](HttpRequest& r) { Replace(r, "/aws4_request", "/x/aws4_request"); },
       "IncompleteSignatureException"},
      {"algorithm", [](HttpRequest& r) { Replace(r, "AWS4-HMAC-SHA256 ", "AWS4-HMAC-SHA512 "); },
       "IncompleteSignatureException"},
      {"other scheme", [](HttpRequest& r) { Replace(r, "AWS4-HMAC-SHA256 ", "Basic "); },
       "MissingAuthenticationTokenException"},
      {"no authorization", [](HttpRequest& r) { Remove(r, "authorization"); }, "MissingAuthenticationTokenException"},
      {"empty signature",
       [](HttpRequest& r) {
         std::string& value = Header(r, "authorization");
         value.resize(value.find("Signature=") + 10);
       },
       "IncompleteSignatureException"},
      {"short signature", [](HttpRequest& r) { Header(r, "authorization").pop_back(); }},
      {"long signature", [](HttpRequest& r) { Header(r, "authorization") += "0"; }},
      {"order of the signed headers", [](HttpRequest& r) { Replace(r, "content-type;host;", "host;content-type;"); }},
      {"one signed header more", [](HttpRequest& r) { Replace(r, ", Signature", ";x-new, Signature"); }},
  };
  for (const auto& header : good.headers) {
    const std::string name = header.name;
    if (name == "authorization") continue;
    all.push_back({Cat("signature without ", name), [name](HttpRequest& r) {
                     std::string& value = Header(r, "authorization");
                     value = absl::StrReplaceAll(value, {{name + ";", ""}, {";" + name + ",", ","}});
                   }});
  }
  for (const size_t digit : {1, 32, 64}) {
    all.push_back({Cat("digit ", digit, " of the signature"), [digit](HttpRequest& r) {
                     std::string& value = Header(r, "authorization");
                     char& c = value[value.size() - digit];
                     c = c == '0' ? '1' : '0';
                   }});
  }
  all.push_back({"host", [](HttpRequest& r) { Header(r, "host") = "other.example.org"; }});
  all.push_back({"host twice", [](HttpRequest& r) { r.headers.push_back({"host", "db.example.org"}); }, ""});
  all.push_back({"content-type", [](HttpRequest& r) { Header(r, "content-type") = "application/json"; }});
  all.push_back({"content-type twice", [](HttpRequest& r) { r.headers.push_back({"content-type", "text/plain"}); }});
  all.push_back({"operation", [](HttpRequest& r) { Header(r, "x-amz-target") = "DynamoDB_20120810.DeleteItem"; }});
  all.push_back({"operation twice", [](HttpRequest& r) {
                   r.headers.push_back({"x-amz-target", "DynamoDB_20120810.DeleteItem"});
                 }});
  all.push_back({"date twice", [](HttpRequest& r) { r.headers.push_back({"x-amz-date", Header(r, "x-amz-date")}); }});
  all.push_back({"date", [](HttpRequest& r) {
                   char& second = Header(r, "x-amz-date")[14];
                   second = second == '0' ? '1' : '0';
                 }});
  all.push_back({"no date", [](HttpRequest& r) { Remove(r, "x-amz-date"); }, "IncompleteSignatureException"});
  return all;
}

TEST_F(HttpAccessTest, EachPartOfASignedRequestIsProtected) {
  const HttpRequest good = Signed("AKROOT", PutRequest());
  const std::vector<Tampering> tamperings = Tamperings(good);
  std::vector<HttpsExchange> exchanges;
  // Sent concurrently, because refusals are delayed after some failures.
  for (const Tampering& tampering : tamperings) {
    HttpRequest bad = good;
    tampering.change(bad);
    exchanges.push_back(Send(bad));
  }
  for (size_t i = 0; i < exchanges.size(); ++i) {
    SCOPED_TRACE(tamperings[i].what);
    const RawResponse answer = exchanges[i].Read();
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr(tamperings[i].exception.empty() ? "" : Cat("#", tamperings[i].exception)));
  }
  const auto nothing = FromJson<api::v1::ScanRequest>(R"({"TableName": "orders"})");
  EXPECT_EQ(daemon_.client().Scan(nothing)->count(), 0) << "none of them has put the item";
  EXPECT_EQ(Answer(good).status, 200);
  EXPECT_EQ(daemon_.client().Scan(nothing)->count(), 1);
}

// The protocol knows POST only. A signature for another method does not verify.
TEST_F(HttpAccessTest, TheMethodIsSignedToo) {
  HttpRequest request = PutRequest();
  request.method = "PUT";
  HttpRequest tampered = Signed("AKROOT", request);
  EXPECT_EQ(Answer(tampered).status, 404);
  tampered.method = "POST";
  const RawResponse answer = Answer(tampered);
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("#InvalidSignatureException"));
}

TEST_F(HttpAccessTest, RefusalsSayNothingThatHelps) {
  const RawResponse answer = Answer([&] {
    HttpRequest bad = Signed("AKROOT", PutRequest());
    Header(bad, "authorization").back() ^= 1;
    return bad;
  }());
  EXPECT_THAT(answer.body, HasSubstr("does not match the signature you provided"));
  EXPECT_THAT(answer.body, Not(HasSubstr(SecurityFiles::kRootSecret)));
  EXPECT_THAT(daemon_.ReadStderr(), Not(HasSubstr(SecurityFiles::kRootSecret)));
}

}  // namespace armature::test::http_access_test
