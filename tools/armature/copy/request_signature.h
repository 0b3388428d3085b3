#ifndef ARMATURE_TOOLS_ARMATURE_COPY_REQUEST_SIGNATURE_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_REQUEST_SIGNATURE_H_

// Signs requests by AWS Signature Version 4. Decision 62 says why libcurl's own signature is not used.
//
// Source: "Signature Version 4 signing process".

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace armature::cli::copy {

struct SigningKey {
  std::string access_key_id;
  std::string secret;
  std::string session_token;  // empty: none
  std::string region;
  std::string service = "dynamodb";
};

// A header with its name in lower case.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// The headers to add to a POST of `body` to the path "/": x-amz-date, x-amz-security-token if there is a token, and
// authorization. All of `headers`, which must contain host, are signed.
HttpHeaders SignatureHeaders(const SigningKey& key, const HttpHeaders& headers, std::string_view body, absl::Time now);

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_REQUEST_SIGNATURE_H_
