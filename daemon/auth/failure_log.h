#ifndef ARMATURE_DAEMON_AUTH_FAILURE_LOG_H_
#define ARMATURE_DAEMON_AUTH_FAILURE_LOG_H_

// Counts and logs refused requests.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/auth/auth_failure.h"
#include "daemon/auth/token_bucket.h"

namespace armature::daemon {

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
