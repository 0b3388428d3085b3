#ifndef ARMATURE_DAEMON_AUTH_CREDENTIALS_H_
#define ARMATURE_DAEMON_AUTH_CREDENTIALS_H_

// The credentials file: principals and their policies.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/auth/failures.h"
#include "daemon/auth/policy.h"
#include "daemon/auth/secret_hash.h"
#include "storage/base/strings.h"

namespace armature::daemon {

struct AccessKey {
  std::string id;
  // Exactly one of `secret` and `secret_hash` is set. A key with a hash works for gRPC over TLS, not for signatures.
  std::string secret;
  std::optional<SecretHash> secret_hash;
  std::shared_ptr<const Access> access;
};

// One version of the file. docs/operate/security.md describes its form.
//
// Thread-safety: immutable.
class Credentials {
 public:
  static constexpr size_t kFileBytesMax = 1 << 20;
  static constexpr size_t kKeysMax = 10'000;  // access keys, and as many certificates
  static constexpr size_t kPoliciesMax = 1'000;
  static constexpr size_t kEntriesMax = 100;   // in a policy
  static constexpr size_t kPatternsMax = 100;  // in a list of an entry
  static constexpr size_t kPatternBytesMax = 255;

  // Reads a file that no other user may read. `log` receives later denials. Errors: those of ReadPrivateFile and Parse,
  // prefixed with the file's name.
  static absl::StatusOr<std::shared_ptr<const Credentials>> Load(const std::string& path,
                                                                 const std::shared_ptr<FailureLog>& log);

  // Errors: InvalidArgument with the place, such as `access_keys[2].policy: there is no policy "reader"`. Unknown and
  // repeated members are errors, so that a typing error cannot grant access. Error texts contain no secrets.
  static absl::StatusOr<std::shared_ptr<const Credentials>> Parse(std::string_view json,
                                                                  const std::shared_ptr<FailureLog>& log);

  // Null if unknown.
  const AccessKey* FindKey(std::string_view id) const;
  std::shared_ptr<const Access> FindCertificate(std::string_view name) const;

  size_t key_count() const { return keys_.size(); }
  size_t certificate_count() const { return certificates_.size(); }

 private:
  friend class CredentialsReader;
  Credentials() = default;

  StringMap<AccessKey> keys_;
  StringMap<std::shared_ptr<const Access>> certificates_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_CREDENTIALS_H_
