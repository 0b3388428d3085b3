#ifndef ARMATURE_DAEMON_AUTH_ACCESS_H_
#define ARMATURE_DAEMON_AUTH_ACCESS_H_

// What the sender of a request may do.

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace armature::daemon {

// Who sent a request, and what they may do.
//
// Thread-safety: immutable. Lifetime: shared with the requests under way, so that a reload of the credentials does not
// pull it away.
class Access {
 public:
  virtual ~Access() = default;

  // For logs: the access key or the name of the certificate; empty if there are no credentials.
  virtual const std::string& principal() const = 0;

  // Whether this principal may run `operation` ("GetItem"; for the admin service "admin:GetStatus") on `table`, a name
  // or an ARN; empty for operations that are about no table. Batches and transactions ask for each member. Errors:
  // AccessDeniedException.
  virtual absl::Status Check(std::string_view operation, std::string_view table) const = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_ACCESS_H_
