#ifndef ARMATURE_DAEMON_AUTH_ACCESS_H_
#define ARMATURE_DAEMON_AUTH_ACCESS_H_

// Permissions of the sender of a request.

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace armature::daemon {

// The sender of a request: its name and its permissions.
//
// Thread-safety: immutable. Lifetime: shared with the requests under way, so that they keep it when the credentials are
// reloaded.
class Access {
 public:
  virtual ~Access() = default;

  // For logs: the id of the access key or the name of the certificate. Empty without authentication.
  virtual const std::string& principal() const = 0;

  // OK if this principal may run `operation` ("GetItem"; for the admin service "admin:GetStatus") on `table`, a name or
  // an ARN. `table` is empty for operations that concern no table. Batches and transactions check each member. Errors:
  // AccessDeniedException.
  virtual absl::Status Check(std::string_view operation, std::string_view table) const = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_ACCESS_H_
