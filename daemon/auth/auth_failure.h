#ifndef ARMATURE_DAEMON_AUTH_AUTH_FAILURE_H_
#define ARMATURE_DAEMON_AUTH_AUTH_FAILURE_H_

// Why somebody was turned away: for counters and logs. The client learns no more than its exception says.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace armature::daemon {

enum class AuthFailure : uint8_t {
  kMissing,        // neither signature, nor access key, nor certificate
  kMalformed,      // one that cannot be read, or lacks a part
  kOutsideWindow,  // signed too long ago, or ahead of our clock
  kWrongScope,     // signed for another day, region or service
  kUnknownKey,     // also one that has no secret for signatures
  kWrongSignature,
  kWrongSecret,
  kUnknownCertificate,  // a valid one, whose names have no policy
  kOverloaded,          // too many secrets wait to be checked
  kAccessDenied,        // known, but not allowed
};
constexpr size_t kAuthFailures = 10;

// For logs and metrics: "wrong_signature". Static storage.
constexpr std::string_view AuthFailureName(AuthFailure failure) {
  constexpr std::string_view kNames[kAuthFailures] = {
      "missing",         "malformed",    "outside_window",      "wrong_scope", "unknown_key",
      "wrong_signature", "wrong_secret", "unknown_certificate", "overloaded",  "access_denied"};
  return kNames[static_cast<size_t>(failure)];
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_AUTH_FAILURE_H_
