#include "tools/armature/copy/request_signature.h"

#include <algorithm>

#include "daemon/auth/crypto.h"
#include "daemon/auth/sigv4.h"
#include "storage/base/strings.h"

namespace armature::cli::copy {

HttpHeaders SignatureHeaders(const SigningKey& key, const HttpHeaders& headers, std::string_view body, absl::Time now) {
  using daemon::BytesOf;
  using daemon::Hex;
  using daemon::HmacSha256;
  using daemon::Sha256;
  const std::string time = daemon::FormatBasicTime(now);
  HttpHeaders added = {{"x-amz-date", time}};
  if (!key.session_token.empty()) added.emplace_back("x-amz-security-token", key.session_token);
  HttpHeaders sorted = headers;
  sorted.insert(sorted.end(), added.begin(), added.end());
  std::sort(sorted.begin(), sorted.end());
  std::string lines;
  std::string names;
  for (const auto& [name, value] : sorted) {
    lines += Cat(name, ":", value, "\n");
    names += Cat(names.empty() ? "" : ";", name);
  }
  const std::string canonical = Cat("POST\n/\n\n", lines, "\n", names, "\n", Hex(Sha256(body)));
  const std::string day = time.substr(0, 8);
  const std::string scope = Cat(day, "/", key.region, "/", key.service, "/aws4_request");
  daemon::Sha256Digest derived = HmacSha256(Cat("AWS4", key.secret), day);
  for (const std::string_view part :
       {std::string_view(key.region), std::string_view(key.service), std::string_view("aws4_request")}) {
    derived = HmacSha256(BytesOf(derived), part);
  }
  const std::string to_sign = Cat("AWS4-HMAC-SHA256\n", time, "\n", scope, "\n", Hex(Sha256(canonical)));
  added.emplace_back("authorization",
                     Cat("AWS4-HMAC-SHA256 Credential=", key.access_key_id, "/", scope, ", SignedHeaders=", names,
                         ", Signature=", Hex(HmacSha256(BytesOf(derived), to_sign))));
  return added;
}

}  // namespace armature::cli::copy
