#ifndef ARMATURE_STORAGE_BASE_TOKEN_BUCKET_H_
#define ARMATURE_STORAGE_BASE_TOKEN_BUCKET_H_

// A limit on how often something may happen: a burst, then a fixed rate.

#include <algorithm>
#include <cstdint>

namespace armature {

// Tokens that come back with time. Times are nanoseconds of one clock. A clock that is set back by a duration stops the
// refill for at most that long.
//
// Thread-safety: thread-compatible.
class TokenBucket {
 public:
  struct Rate {
    double burst;  // the most tokens
    double per_second;
  };

  // Starts full. `now_ns`: the time from which tokens come back; earlier than the first Take, if it is not known.
  explicit TokenBucket(const Rate& rate, int64_t now_ns = 0) : tokens_(rate.burst), filled_ns_(now_ns) {}

  // Takes `tokens` if there are as many.
  bool Take(const Rate& rate, int64_t now_ns, double tokens = 1) {
    Fill(rate, now_ns);
    return TakeFilled(tokens);
  }
  // Takes `tokens` if there were as many at the last look at the clock.
  bool TakeFilled(double tokens) {
    if (tokens_ < tokens) return false;
    tokens_ -= tokens;
    return true;
  }
  void Return(const Rate& rate, double tokens = 1) { tokens_ = std::min(rate.burst, tokens_ + tokens); }

  // True if the bucket equals a new one.
  bool IsFull(const Rate& rate, int64_t now_ns) {
    Fill(rate, now_ns);
    return tokens_ >= rate.burst;
  }

 private:
  void Fill(const Rate& rate, int64_t now_ns) {
    const double seconds = std::max(0.0, static_cast<double>(now_ns - filled_ns_) / 1e9);
    tokens_ = std::min(rate.burst, tokens_ + seconds * rate.per_second);
    filled_ns_ = now_ns;
  }

  double tokens_;
  int64_t filled_ns_;
};

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_TOKEN_BUCKET_H_
