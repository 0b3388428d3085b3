#ifndef ARMATURE_DAEMON_AUTH_SECRET_HASH_H_
#define ARMATURE_DAEMON_AUTH_SECRET_HASH_H_

// A stored secret that a reader of the file cannot use: scrypt with a salt.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace armature::daemon {

// Text form: `$scrypt$ln=15,r=8,p=1$<salt>$<hash>`, salt and hash in base64.
//
// Only for secrets that clients send in clear, over TLS. Verifying an AWS signature needs the secret itself.
//
// Thread-safety: immutable.
class SecretHash {
 public:
  // Hashes `secret` with a new salt and today's parameters. Cost: as Matches.
  static SecretHash Of(std::string_view secret);

  // Errors: InvalidArgument if the form is wrong, a parameter is outside its range (ln 10..20, r 1..16, p 1..4, salt of
  // 8 to 64 bytes, hash of 32 bytes), or the parameters need more than 64 MiB.
  static absl::StatusOr<SecretHash> Parse(std::string_view text);

  // Cost: depends on the parameters; with those of Of() 32 MiB and about 0.1 s on the calling thread.
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
