#ifndef ARMATURE_DAEMON_AUTH_FAILURES_H_
#define ARMATURE_DAEMON_AUTH_FAILURES_H_

// Reasons of failed authentication, the counts and log lines of refused requests, and the limit on repeated failures.
// The client learns only the exception.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/base/strings.h"
#include "storage/base/token_bucket.h"

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

struct FailureLimiterOptions {
  TokenBucket::Rate failures = {.burst = 10, .per_second = 1};  // per address, answered at once
  size_t addresses_max = 10'000;                                // addresses beyond it share one allowance
};

// An allowance of failures for each address. Only failures are counted: a right secret is never delayed by failures of
// others at the same address.
//
// Thread-safety: thread-safe.
class FailureLimiter {
 public:
  explicit FailureLimiter(const FailureLimiterOptions& options) : options_(options), shared_(options.failures) {}

  // Counts a failure. True if the address has used up its allowance: hold the answer back.
  bool Failed(std::string_view peer, absl::Time now);

  // Takes back a failure that was counted before its outcome was known.
  void TakeBack(std::string_view peer, absl::Time now);

 private:
  TokenBucket& BucketOf(std::string_view peer, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const FailureLimiterOptions options_;
  absl::Mutex mutex_;
  StringMap<TokenBucket> buckets_ ABSL_GUARDED_BY(mutex_);
  TokenBucket shared_ ABSL_GUARDED_BY(mutex_);
  absl::Time swept_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

// The address that failures are counted for: a peer without its port; for IPv6 its /64 network, which has one owner. An
// IPv4 address in the form of IPv6 counts as that IPv4 address.
// Takes the forms "127.0.0.1:80", "[::1]:80" and "unix".
std::string AddressOf(std::string_view peer);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_FAILURES_H_
