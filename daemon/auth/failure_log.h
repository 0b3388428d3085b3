#ifndef ARMATURE_DAEMON_AUTH_FAILURE_LOG_H_
#define ARMATURE_DAEMON_AUTH_FAILURE_LOG_H_

// Reasons of failed authentication, and the counts and log lines of refused requests. The client learns only the
// exception.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/auth/token_bucket.h"

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

// Lines hold peer, key id and reason, never secrets or signatures. After a burst there is one line a second, with
// the number of lines left out, so that guessing cannot fill the disk.
//
// Thread-safety: thread-safe.
class FailureLog {
 public:
  // An attempt to authenticate failed. `key_id` as claimed, empty if unknown.
  void Failed(AuthFailure failure, std::string_view peer, std::string_view key_id, absl::Time now);
  // A known principal ran an operation that its policy does not allow.
  void Denied(std::string_view principal, std::string_view operation, std::string_view table, absl::Time now);

  // Number since the start of the process.
  uint64_t count(AuthFailure failure) const { return counts_[static_cast<size_t>(failure)].load(); }

 private:
  // True if a line may be logged now. Then `*left_out` is the number of lines left out since the last one.
  bool MayLog(absl::Time now, uint64_t* left_out);

  static constexpr TokenBucket::Rate kLines = {.burst = 20, .per_second = 1};

  std::array<std::atomic<uint64_t>, kAuthFailures> counts_ = {};
  absl::Mutex mutex_;
  TokenBucket lines_ ABSL_GUARDED_BY(mutex_){kLines};
  uint64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Text from a client, fit for a log line: at most 128 bytes, anything but printable ASCII as `?`.
std::string ForLog(std::string_view text);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_FAILURE_LOG_H_
