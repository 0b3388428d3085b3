#include "tests/support/request_signer.h"

#include <map>
#include <utility>

#include "daemon/auth/crypto.h"
#include "storage/base/strings.h"

namespace armature::test {

void Signer::Sign(absl::Time now, daemon::HttpRequest* request) const {
  using daemon::BytesOf;
  using daemon::HmacSha256;
  const std::string date = absl::FormatTime("%Y%m%dT%H%M%SZ", now, absl::UTCTimeZone());
  request->headers.push_back({"x-amz-date", date});
  std::map<std::string, std::string> sorted;
  for (const auto& header : request->headers) sorted[header.name] = header.value;
  std::string lines;
  std::string names;
  for (const auto& [name, value] : sorted) {
    lines += Cat(name, ":", value, "\n");
    names += Cat(names.empty() ? "" : ";", name);
  }
  const std::string canonical =
      Cat(request->method, "\n/\n\n", lines, "\n", names, "\n", daemon::Hex(daemon::Sha256(request->body)));
  const std::string day = date.substr(0, 8);
  const std::string scope = Cat(day, "/", region, "/", service, "/aws4_request");
  daemon::Sha256Digest key = HmacSha256(Cat("AWS4", secret), day);
  for (const std::string& part : {region, service, std::string("aws4_request")}) key = HmacSha256(BytesOf(key), part);
  const std::string signature = daemon::Hex(HmacSha256(
      BytesOf(key), Cat("AWS4-HMAC-SHA256\n", date, "\n", scope, "\n", daemon::Hex(daemon::Sha256(canonical)))));
  request->headers.push_back({"authorization", Cat("AWS4-HMAC-SHA256 Credential=", key_id, "/", scope,
                                                   ", SignedHeaders=", names, ", Signature=", signature)});
}

daemon::HttpRequest JsonRequest(std::string operation, std::string body) {
  daemon::HttpRequest request;
  request.method = "POST";
  request.target = "/";
  request.headers = {{"host", "db.example.org"},
                     {"content-type", "application/x-amz-json-1.0"},
                     {"x-amz-target", Cat("DynamoDB_20120810.", operation)}};
  request.body = std::move(body);
  request.peer = "192.0.2.7:4711";
  return request;
}

}  // namespace armature::test
