#ifndef ARMATURE_DAEMON_AUTH_TOKEN_BUCKET_H_
#define ARMATURE_DAEMON_AUTH_TOKEN_BUCKET_H_

#include <algorithm>

#include "absl/time/time.h"

namespace armature::daemon {

// Allows a burst, then a fixed rate. A clock that is set back by a duration stops the refill for at most that long.
//
// Thread-safety: thread-compatible.
class TokenBucket {
 public:
  struct Rate {
    double burst;
    double per_second;
  };

  // Starts full.
  explicit TokenBucket(const Rate& rate) : tokens_(rate.burst) {}

  // Takes a token if there is one.
  bool Take(const Rate& rate, absl::Time now) {
    Fill(rate, now);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  bool IsEmpty(const Rate& rate, absl::Time now) {
    Fill(rate, now);
    return tokens_ < 1;
  }

  // True if the bucket equals a new one.
  bool IsFull(const Rate& rate, absl::Time now) {
    Fill(rate, now);
    return tokens_ >= rate.burst;
  }

 private:
  void Fill(const Rate& rate, absl::Time now) {
    const double seconds = std::max(0.0, absl::ToDoubleSeconds(now - filled_));
    tokens_ = std::min(rate.burst, tokens_ + seconds * rate.per_second);
    filled_ = now;
  }

  double tokens_;
  absl::Time filled_ = absl::InfinitePast();
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_TOKEN_BUCKET_H_
