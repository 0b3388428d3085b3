#ifndef ARMATURE_DAEMON_AUTH_AUTH_FAILURE_H_
#define ARMATURE_DAEMON_AUTH_AUTH_FAILURE_H_

// The reason of a failed authentication, for counters and logs. The client learns only the exception.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace armature::daemon {

enum class AuthFailure : uint8_t {
  kMissing,        // no signature, access key or certificate
  kMalformed,      // credentials that cannot be parsed, or are incomplete
  kOutsideWindow,  // signed too long ago, or in the future of our clock
  kWrongScope,     // signed for another day, region or service
  kUnknownKey,     // also a key without a secret for signatures
  kWrongSignature,
  kWrongSecret,
  kUnknownCertificate,  // valid, but none of its names has a policy
  kOverloaded,          // too many secrets wait for their check
  kAccessDenied,        // authenticated, but not permitted
};
constexpr size_t kAuthFailures = 10;

// For logs and metrics, such as "wrong_signature". Static storage.
constexpr std::string_view AuthFailureName(AuthFailure failure) {
  constexpr std::string_view kNames[kAuthFailures] = {
      "missing",         "malformed",    "outside_window",      "wrong_scope", "unknown_key",
      "wrong_signature", "wrong_secret", "unknown_certificate", "overloaded",  "access_denied"};
  return kNames[static_cast<size_t>(failure)];
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_AUTH_FAILURE_H_
