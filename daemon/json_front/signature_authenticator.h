#ifndef ARMATURE_DAEMON_JSON_FRONT_SIGNATURE_AUTHENTICATOR_H_
#define ARMATURE_DAEMON_JSON_FRONT_SIGNATURE_AUTHENTICATOR_H_

// Authenticates HTTP requests by their signatures.

#include <memory>

#include "absl/time/clock.h"
#include "daemon/auth/authenticator.h"
#include "daemon/json_front/json_front.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: `authenticator` must outlive it.
class SignatureAuthenticator final : public HttpAuthenticator {
 public:
  explicit SignatureAuthenticator(Authenticator* authenticator) : authenticator_(authenticator) {}

  absl::StatusOr<std::shared_ptr<const Access>> Authenticate(const HttpRequest& request,
                                                             absl::Duration* hold) override {
    return authenticator_->AuthenticateRequest(request, absl::Now(), hold);
  }

 private:
  Authenticator* const authenticator_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_FRONT_SIGNATURE_AUTHENTICATOR_H_
