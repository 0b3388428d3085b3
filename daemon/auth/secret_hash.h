#ifndef ARMATURE_DAEMON_AUTH_SECRET_HASH_H_
#define ARMATURE_DAEMON_AUTH_SECRET_HASH_H_

// A secret stored so that its reader cannot use it: scrypt with a salt.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace armature::daemon {

// Text form: `$scrypt$ln=15,r=8,p=1$<salt>$<hash>`, salt and hash in base64.
//
// Only for secrets that clients send as they are, so over TLS. To verify an AWS signature takes the secret itself.
//
// Thread-safety: immutable.
class SecretHash {
 public:
  // With a new salt and today's parameters. Cost: as Matches.
  static SecretHash Of(std::string_view secret);

  // Errors: InvalidArgument if the form is wrong, or the parameters are outside ln 10..20, r 1..16, p 1..4, a salt of 8
  // to 64 bytes and a hash of 32; or if they take more than 64 MiB.
  static absl::StatusOr<SecretHash> Parse(std::string_view text);

  // Cost: by the parameters; with those of Of() 32 MiB and some 0.1 s on the calling thread.
  bool Matches(std::string_view secret) const;

  std::string ToString() const;

 private:
  struct Cost {
    uint32_t log_n = 15;
    uint32_t r = 8;
    uint32_t p = 1;
  };

  SecretHash(Cost cost, std::string salt, std::string hash)
      : cost_(cost), salt_(std::move(salt)), hash_(std::move(hash)) {}
  static std::string Compute(const Cost& cost, std::string_view salt, std::string_view secret);

  Cost cost_;
  std::string salt_;
  std::string hash_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_SECRET_HASH_H_
