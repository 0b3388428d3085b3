// Web pages of other sites, which reach the daemon through the browser of somebody on its machine.

#include <string>
#include <string_view>

#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"
#include "tests/support/raw_http_client.h"

namespace armature::test::web_pages_test {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kTable = R"({"TableName": "Kept", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})";

class WebPagesTest : public DaemonTest {
 protected:
  explicit WebPagesTest(std::vector<std::string> flags = {}) : DaemonTest(std::move(flags)) { Create(kTable); }

  RawResponse Send(std::string_view head, std::string_view headers, std::string_view body = "") {
    RawHttpClient http(daemon().http_address());
    http.Send(Cat(head, " HTTP/1.1\r\nContent-Length: ", body.size(), "\r\n", headers, "\r\n", body));
    return http.Read();
  }
  // Sends a request that deletes the table, with these headers.
  RawResponse Delete(std::string_view headers) {
    return Send("POST /",
                Cat("X-Amz-Target: DynamoDB_20120810.DeleteTable\r\nContent-Type: application/json\r\n", headers),
                R"({"TableName": "Kept"})");
  }
  std::string State() {
    const auto described = client().DescribeTable(FromJson<api::v1::DescribeTableRequest>(R"({"TableName": "Kept"})"));
    return described.ok() ? "there" : client::ErrorName(described.status());
  }
};

TEST_F(WebPagesTest, PagesOfOtherSitesReachNothing) {
  const RawResponse deleted = Delete("Host: localhost:7701\r\nOrigin: https://evil.test\r\n");
  EXPECT_EQ(deleted.status, 403);
  EXPECT_THAT(deleted.body, HasSubstr("--cors_origins=https://evil.test"));
  EXPECT_THAT(deleted.headers, Not(Contains(Key(StartsWith("access-control")))));
  const RawResponse preflight = Send("OPTIONS /",
                                     "Host: localhost:7701\r\nOrigin: https://evil.test\r\n"
                                     "Access-Control-Request-Method: POST\r\n");
  EXPECT_EQ(preflight.status, 403);
  EXPECT_THAT(preflight.headers, Not(Contains(Key(StartsWith("access-control")))));
  EXPECT_EQ(Delete("Host: localhost:7701\r\nSec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_EQ(State(), "there");
}

TEST_F(WebPagesTest, APageWhoseNameIsBoundToOurAddressReachesNothing) {
  const RawResponse deleted = Delete("Host: evil.test:7701\r\nOrigin: http://evil.test:7701\r\n");
  EXPECT_EQ(deleted.status, 403);
  EXPECT_THAT(deleted.body, HasSubstr("--http_hosts=evil.test"));
  EXPECT_EQ(Send("GET /", "Host: evil.test:7701\r\n").status, 403);
  EXPECT_EQ(State(), "there");
}

TEST_F(WebPagesTest, ProgramsAreUnaffected) {
  for (const std::string& host : {daemon().http_address(), std::string("localhost:1"), std::string("[::1]:7701")}) {
    EXPECT_EQ(Send("GET /", Cat("Host: ", host, "\r\n")).status, 200) << host;
  }
  EXPECT_EQ(Delete("Host: localhost:7701\r\n").status, 200);
}

class PermittedPagesTest : public WebPagesTest {
 protected:
  PermittedPagesTest() : WebPagesTest({"--cors_origins=https://app.test", "--http_hosts=db.test"}) {}
};

TEST_F(PermittedPagesTest, PermittedPagesReadAnswersAndTheirHeaders) {
  const RawResponse preflight = Send("OPTIONS /",
                                     "Host: db.test:7701\r\nOrigin: https://app.test\r\n"
                                     "Access-Control-Request-Method: POST\r\n"
                                     "Access-Control-Request-Headers: x-amz-target, content-type\r\n");
  EXPECT_EQ(preflight.status, 200);
  EXPECT_EQ(preflight.headers.at("access-control-allow-origin"), "https://app.test");
  EXPECT_EQ(preflight.headers.at("access-control-allow-headers"), "x-amz-target, content-type");
  EXPECT_EQ(preflight.headers.at("access-control-allow-methods"), "POST");
  EXPECT_EQ(Delete("Host: db.test:7701\r\nOrigin: https://other.test\r\n").status, 403);
  EXPECT_EQ(State(), "there");
  const RawResponse deleted =
      Delete("Host: db.test:7701\r\nOrigin: https://app.test\r\nSec-Fetch-Site: cross-site\r\n");
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.headers.at("access-control-allow-origin"), "https://app.test");
  EXPECT_THAT(deleted.headers.at("access-control-expose-headers"), HasSubstr("x-amzn-RequestId, x-amz-crc32"));
}

}  // namespace armature::test::web_pages_test
