#ifndef ARMATURE_DAEMON_AUTH_CANONICAL_REQUEST_H_
#define ARMATURE_DAEMON_AUTH_CANONICAL_REQUEST_H_

// The text over which AWS Signature Version 4 is made: a request in one fixed form, however it was written.
//
// Source: "Signature Version 4 signing process", task 1, for all services but S3.

#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/http_message.h"

namespace armature::daemon {

// A parameter of the query, as it is after decoding.
struct QueryParameter {
  std::string name;
  std::string value;
};

// The part of a target before its query.
std::string_view PathOf(std::string_view target);
// The parameters in the order sent. What looks like an escape and is none stays as it is; a blank is `%20`, and `+` is
// a plus.
std::vector<QueryParameter> QueryOf(std::string_view target);

// Without `.`, `..` and empty segments, each byte but letters, digits, `-._~` and `/` escaped, also the `%` of escapes
// that were sent.
std::string CanonicalPath(std::string_view path);

// Sorted by name, then value, without the signature itself.
std::string CanonicalQuery(const std::vector<QueryParameter>& parameters);

// Appends a line `name:value` for each of `names`, which must ascend: several headers of one name joined by commas,
// runs of blanks made one. False, with `out` unspecified, if the request lacks one of them.
bool AppendCanonicalHeaders(const HttpRequest& request, const std::vector<std::string_view>& names, std::string* out);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_CANONICAL_REQUEST_H_
