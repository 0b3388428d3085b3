#ifndef ARMATURE_TESTS_SUPPORT_REQUEST_SIGNER_H_
#define ARMATURE_TESTS_SUPPORT_REQUEST_SIGNER_H_

// Signs requests like an SDK.

#include <string>

#include "absl/time/time.h"
#include "daemon/http/http_message.h"

namespace armature::test {

struct Signer {
  std::string key_id;
  std::string secret;
  std::string region = "eu-central-1";
  std::string service = "dynamodb";

  // Adds X-Amz-Date and Authorization. Signs all headers of the request. The target must be "/", without a query.
  void Sign(absl::Time now, daemon::HttpRequest* request) const;
};

// An unsigned POST / with the headers that SDKs send.
daemon::HttpRequest JsonRequest(std::string operation, std::string body);

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_REQUEST_SIGNER_H_
