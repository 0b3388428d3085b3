// The published test suite of AWS Signature Version 4 ("aws-sig-v4-test-suite").

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/auth/sigv4.h"
#include "storage/base/strings.h"

namespace armature::daemon::sigv4_vectors_test {

struct Vector {
  std::string_view name;
  std::string_view method;
  std::string_view target;
  std::vector<HttpRequest::Header> headers;  // besides Host and X-Amz-Date
  std::string_view body;
  std::string_view signature;
};

constexpr char kUnreserved[] = "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr char kUnreservedQuery[] =
    "/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz="
    "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr char kToken[] =
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRq"
    "TflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75Y"
    "U9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9K"
    "SYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

const Vector kVectors[] = {
    {"get-vanilla", "GET", "/", {}, "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-query", "GET", "/", {}, "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-query-order-key-case",
     "GET",
     "/?Param2=value2&Param1=value1",
     {},
     "",
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"get-vanilla-query-order-value",
     "GET",
     "/?Param1=value2&Param1=value1",
     {},
     "",
     "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"},
    {"get-vanilla-query-unreserved",
     "GET",
     kUnreservedQuery,
     {},
     "",
     "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
    {"get-vanilla-utf8-query",
     "GET",
     "/?\u1234=bar",
     {},
     "",
     "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
    {"get-utf8", "GET", "/\u1234", {}, "", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
    {"get-unreserved", "GET", kUnreserved, {}, "", "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
    {"get-relative", "GET", "/example/..", {}, "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-relative-relative",
     "GET",
     "/example1/example2/../..",
     {},
     "",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-slash", "GET", "//", {}, "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-slash-dot-slash", "GET", "/./", {}, "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-slash-pointless-dot",
     "GET",
     "/./example",
     {},
     "",
     "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5"},
    {"get-slashes", "GET", "//example//", {}, "", "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
    {"get-space", "GET", "/example space/", {}, "", "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
    {"get-header-key-duplicate",
     "GET",
     "/",
     {{"my-header1", "value2"}, {"my-header1", "value2"}, {"my-header1", "value1"}},
     "",
     "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
    {"get-header-value-order",
     "GET",
     "/",
     {{"my-header1", "value4"}, {"my-header1", "value1"}, {"my-header1", "value3"}, {"my-header1", "value2"}},
     "",
     "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"},
    {"get-header-value-trim",
     "GET",
     "/",
     {{"my-header1", " value1"}, {"my-header2", " \"a   b   c\""}},
     "",
     "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
    {"get-header-value-multiline, folded",
     "GET",
     "/",
     {{"my-header1", "value1\n  value2\n     value3"}},
     "",
     "cfd34249e4b1c8d6b91ef74165d41a32e5fab3306300901bb65a51a73575eefd"},
    {"get-header-value-multiline, as three",
     "GET",
     "/",
     {{"my-header1", "value1"}, {"my-header1", "value2"}, {"my-header1", "value3"}},
     "",
     "ba17b383a53190154eb5fa66a1b836cc297cc0a3d70a5d00705980573d8ff790"},
    {"post-vanilla", "POST", "/", {}, "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-vanilla-query",
     "POST",
     "/?Param1=value1",
     {},
     "",
     "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
    {"post-header-key-sort",
     "POST",
     "/",
     {{"my-header1", "value1"}},
     "",
     "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
    {"post-header-value-case",
     "POST",
     "/",
     {{"my-header1", "VALUE1"}},
     "",
     "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
    {"post-sts-header-before",
     "POST",
     "/",
     {{"x-amz-security-token", kToken}},
     "",
     "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
    {"post-x-www-form-urlencoded",
     "POST",
     "/",
     {{"content-type", "application/x-www-form-urlencoded"}},
     "Param1=value1",
     "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
    {"post-x-www-form-urlencoded-parameters",
     "POST",
     "/",
     {{"content-type", "application/x-www-form-urlencoded; charset=utf8"}},
     "Param1=value1",
     "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"},
};

constexpr char kDate[] = "20150830T123600Z";
const std::string kSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

const std::string* SecretOf(std::string_view key_id) { return key_id == "AKIDEXAMPLE" ? &kSecret : nullptr; }

HttpRequest RequestOf(const Vector& vector) {
  HttpRequest request;
  request.method = std::string(vector.method);
  request.target = std::string(vector.target);
  request.headers = vector.headers;
  request.headers.push_back({"host", "example.amazonaws.com"});
  request.headers.push_back({"x-amz-date", kDate});
  request.body = std::string(vector.body);
  std::set<std::string> names;
  for (const auto& header : request.headers) names.insert(header.name);
  std::string list;
  for (const std::string& name : names) list += Cat(list.empty() ? "" : ";", name);
  request.headers.push_back(
      {"authorization", Cat("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                            "SignedHeaders=",
                            list, ", Signature=", vector.signature)});
  return request;
}

TEST(SigV4Vectors, ThePublishedSignaturesAreRight) {
  const SigV4Verifier verifier({.service = "service"});
  for (const Vector& vector : kVectors) {
    const SigV4Outcome outcome = verifier.Verify(RequestOf(vector), *ParseBasicTime(kDate), SecretOf);
    EXPECT_TRUE(outcome.status.ok()) << vector.name << ": " << outcome.status;
    EXPECT_EQ(outcome.key_id, "AKIDEXAMPLE");
  }
}

TEST(SigV4Vectors, AnotherSignatureIsNot) {
  const SigV4Verifier verifier({.service = "service"});
  for (const Vector& vector : kVectors) {
    for (size_t i = 0; i < vector.signature.size(); i += 7) {
      std::string signature(vector.signature);
      signature[i] = signature[i] == '0' ? '1' : '0';
      Vector other = vector;
      other.signature = signature;
      const SigV4Outcome outcome = verifier.Verify(RequestOf(other), *ParseBasicTime(kDate), SecretOf);
      EXPECT_EQ(outcome.failure, AuthFailure::kWrongSignature) << vector.name;
      EXPECT_FALSE(outcome.status.ok()) << vector.name;
    }
  }
}

// The token was added after signing, so it is not among the signed headers.
TEST(SigV4Vectors, ATokenThatIsNotSignedDoesNotMatter) {
  const SigV4Verifier verifier({.service = "service"});
  for (const Vector& vector : kVectors) {
    if (vector.name != "post-vanilla") continue;
    HttpRequest request = RequestOf(vector);
    request.headers.push_back({"x-amz-security-token", kToken});
    EXPECT_TRUE(verifier.Verify(request, *ParseBasicTime(kDate), SecretOf).status.ok());
  }
}

}  // namespace armature::daemon::sigv4_vectors_test
