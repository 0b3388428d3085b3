#ifndef ARMATURE_DAEMON_AUTH_FAILURE_LIMITER_H_
#define ARMATURE_DAEMON_AUTH_FAILURE_LIMITER_H_

// Limits repeated authentication failures.

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/auth/token_bucket.h"
#include "storage/base/strings.h"

namespace armature::daemon {

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

  // True if the next failure would exceed the allowance.
  bool IsSlowed(std::string_view peer, absl::Time now);

 private:
  TokenBucket& BucketOf(std::string_view peer, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const FailureLimiterOptions options_;
  absl::Mutex mutex_;
  StringMap<TokenBucket> buckets_ ABSL_GUARDED_BY(mutex_);
  TokenBucket shared_ ABSL_GUARDED_BY(mutex_);
  absl::Time swept_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

// The address that failures are counted for: a peer without its port; for IPv6 its /64 network, which has one owner.
// Takes the forms of HTTP ("127.0.0.1:80", "[::1]:80") and of gRPC ("ipv4:127.0.0.1:80", "ipv6:%5B::1%5D:80", "unix:").
std::string AddressOf(std::string_view peer);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_FAILURE_LIMITER_H_
