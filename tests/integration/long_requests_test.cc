// Requests that take long leave the threads of both front ends. The daemon counts them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/client/wait.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"
#include "tests/support/https_exchange.h"
#include "tests/support/raw_http_client.h"
#include "tests/support/request_signer.h"
#include "tests/support/security_files.h"

namespace armature::test::long_requests_test {

constexpr std::string_view kTable = R"({"TableName": "things", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})";
constexpr std::string_view kArn = "arn:aws:dynamodb:local:000000000000:table/things";
constexpr size_t kPatterns = 300;
constexpr size_t kShortBytes = 200;
constexpr size_t kMiddleBytes = 20 << 10;
constexpr size_t kLongBytes = 300 << 10;

// A JSON list of patterns that match no key.
std::string Patterns() {
  std::string list;
  for (size_t i = 0; i < kPatterns; ++i) list += Cat(i == 0 ? "" : ", ", "\"*?none", i, "\"");
  return "[" + list + "]";
}

struct Files : SecurityFiles {
  Files() {
    constexpr std::string_view kCredentials = R"({
      "access_keys": [{"id": "AKROOT", "secret": "SECRET", "policy": "root"},
                      {"id": "AKHEAVY", "secret": "SECRET", "policy": "heavy"}],
      "policies": {
        "root": {"allow": [{"operations": ["*"], "tables": ["*"]}], "admin": true},
        "heavy": {"allow": [{"operations": ["*"], "tables": ["*"]}],
                  "deny": [{"operations": ["*"], "tables": ["*"],
                            "condition": {"ForAnyValue:StringLike": {"dynamodb:LeadingKeys": PATTERNS}}}]}}})";
    Write("credentials.json",
          absl::StrReplaceAll(Av(kCredentials), {{"SECRET", kRootSecret}, {"PATTERNS", Patterns()}}));
  }
};

class LongRequestsTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto created = daemon_.client().CreateTable(FromJson<api::v1::CreateTableRequest>(std::string(kTable)));
    ASSERT_TRUE(created.ok()) << created.status();
    ASSERT_TRUE(client::WaitForTable(daemon_.client(), "things", absl::Now() + absl::Seconds(30)).ok());
  }

  // Puts an item of about this size over HTTP, then over gRPC.
  void Put(std::string_view key_id, size_t bytes) const {
    const std::string body =
        Cat(R"({"TableName": "things", "Item": {"id": {"S": "a"}, "v": {"S": ")", std::string(bytes, 'x'), R"("}}})");
    Call(key_id, "PutItem", body);
    const client::Client client = daemon_.ConnectWith(files_.WithKey(key_id));
    const auto put = client.PutItem(FromJson<api::v1::PutItemRequest>(body));
    EXPECT_TRUE(put.ok()) << put.status();
  }
  void Call(std::string_view key_id, std::string_view operation, const std::string& body) const {
    daemon::HttpRequest request = JsonRequest(std::string(operation), body);
    Signer{.key_id = std::string(key_id), .secret = SecurityFiles::kRootSecret}.Sign(absl::Now(), &request);
    const RawResponse answer = HttpsExchange(daemon_.http_address(), files_.Path("ca.pem"), request).Read();
    EXPECT_EQ(answer.status, 200) << answer.body;
  }
  // Number of long requests so far.
  int64_t Counted() const {
    RawHttpClient operators(daemon_.metrics_address());
    operators.Send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const std::string page = operators.Read().body;
    constexpr std::string_view kName = "\narmature_long_requests_total ";
    const size_t found = page.find(kName);
    int64_t count = -1;
    if (found == std::string::npos) return count;
    const size_t begin = found + kName.size();
    EXPECT_TRUE(absl::SimpleAtoi(page.substr(begin, page.find('\n', begin) - begin), &count));
    EXPECT_NE(page.find("\narmature_pool_queue_tasks{pool=\"long\"} 0\n"), std::string::npos);
    EXPECT_NE(page.find("\narmature_pool_refused_total{pool=\"long\"} 0\n"), std::string::npos);
    return count;
  }
  static std::vector<std::string> FlagsOf(const Files& files) {
    std::vector<std::string> flags = files.Flags();
    flags.emplace_back("--metrics_listen=127.0.0.1:0");
    return flags;
  }

  Files files_;
  DaemonProcess daemon_{FlagsOf(files_), files_.WithKey("AKROOT")};
};

TEST_F(LongRequestsTest, LargeRequestsLeaveTheThreadsOfBothFronts) {
  Put("AKROOT", kShortBytes);
  Put("AKROOT", kMiddleBytes);
  EXPECT_EQ(Counted(), 0);
  Put("AKROOT", kLongBytes);
  EXPECT_EQ(Counted(), 2) << "one over HTTP, one over gRPC";
}

TEST_F(LongRequestsTest, RequestsWithManyComparisonsLeaveThem) {
  Put("AKHEAVY", kShortBytes);
  EXPECT_EQ(Counted(), 0);
  Put("AKHEAVY", kMiddleBytes);
  EXPECT_EQ(Counted(), 2) << "the policy of the caller";
  Put("AKROOT", kMiddleBytes);
  EXPECT_EQ(Counted(), 2);

  const std::string document = Cat(R"({"Statement": {"Effect": "Deny", "Principal": "*", "Action": "*", "Resource": "*",
              "Condition": {"ForAnyValue:StringLike": {"dynamodb:LeadingKeys": )",
                                   Patterns(), "}}}}");
  Call("AKROOT", "PutResourcePolicy",
       Cat(R"({"ResourceArn": ")", kArn, R"(", "Policy": ")",
           absl::StrReplaceAll(Av(document), {{"\"", "\\\""}, {"\n", " "}}), R"("})"));
  Put("AKROOT", kShortBytes);
  EXPECT_EQ(Counted(), 2);
  Put("AKROOT", kMiddleBytes);
  EXPECT_EQ(Counted(), 4) << "the policy of the table";
}

}  // namespace armature::test::long_requests_test
