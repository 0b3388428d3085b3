#ifndef ARMATURE_DAEMON_AUTH_CANONICAL_REQUEST_H_
#define ARMATURE_DAEMON_AUTH_CANONICAL_REQUEST_H_

// The canonical request of AWS Signature Version 4: one fixed form of a request, over which the signature is computed.
//
// Source: "Signature Version 4 signing process", task 1, for all services but S3.

#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/http_message.h"

namespace armature::daemon {

// A decoded parameter of the query.
struct QueryParameter {
  std::string name;
  std::string value;
};

// The part of a target before its query.
std::string_view PathOf(std::string_view target);
// The parameters in the order sent. An invalid escape stays as it is. A blank is `%20`; `+` is a plus.
std::vector<QueryParameter> QueryOf(std::string_view target);

// The path without `.`, `..` and empty segments. Each byte except letters, digits, `-._~` and `/` is escaped, also the
// `%` of escapes in the request.
std::string CanonicalPath(std::string_view path);

// Parameters sorted by name, then value, without the signature.
std::string CanonicalQuery(const std::vector<QueryParameter>& parameters);

// Appends a line `name:value` for each of `names`, which must ascend. Several headers of one name are joined by commas;
// a run of blanks becomes one. False, with `out` unspecified, if the request lacks one of the headers.
bool AppendCanonicalHeaders(const HttpRequest& request, const std::vector<std::string_view>& names, std::string* out);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_CANONICAL_REQUEST_H_
