#ifndef ARMATURE_DAEMON_AUTH_SIGV4_FIELDS_H_
#define ARMATURE_DAEMON_AUTH_SIGV4_FIELDS_H_

// The parts of a signature, from the header or from the query.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/auth/canonical_request.h"
#include "daemon/http/http_message.h"

namespace armature::daemon {

struct SigV4Fields {
  std::string algorithm;
  std::string credential;
  std::string signed_headers;
  std::string signature;
  std::string date;                    // ISO 8601 basic, not yet checked
  std::optional<std::string> expires;  // X-Amz-Expires of the query
  std::vector<QueryParameter> query;   // all parameters
};

// Errors: MissingAuthenticationToken without a signature; InvalidSignature with two; IncompleteSignature if a part is
// missing or repeated.
absl::StatusOr<SigV4Fields> ReadSigV4Fields(const HttpRequest& request);

// "20150830T123600Z". Nullopt if the form is wrong, or the date does not exist.
std::optional<absl::Time> ParseBasicTime(std::string_view text);
std::string FormatBasicTime(absl::Time time);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_SIGV4_FIELDS_H_
