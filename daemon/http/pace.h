#ifndef ARMATURE_DAEMON_HTTP_PACE_H_
#define ARMATURE_DAEMON_HTTP_PACE_H_

// How slow and how busy a client may be.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace armature::daemon {

// The time that a client has to send or to take bytes.
struct Pace {
  // Without any byte. Nanoseconds.
  int64_t stall_ns = 20'000'000'000;
  size_t bytes_per_second_min = 1024;

  // The deadline after `bytes` more have been transferred. `deadline_ns`: the one before; 0: the wait begins now.
  int64_t Deadline(int64_t deadline_ns, size_t bytes, int64_t now_ns) const {
    if (deadline_ns == 0) return now_ns + stall_ns;
    const double earned_ns = static_cast<double>(bytes) / static_cast<double>(bytes_per_second_min) * 1e9;
    return std::min(now_ns + stall_ns, deadline_ns + static_cast<int64_t>(earned_ns));
  }
};

// Tokens of a client, which come back with time.
struct Allowance {
  double left;
  int64_t since_ns;  // when it was computed

  // False if there is not so much left.
  bool Spend(double amount, double burst, double per_second, int64_t now_ns) {
    left = std::min(burst, left + static_cast<double>(now_ns - since_ns) * per_second / 1e9) - amount;
    since_ns = now_ns;
    return left >= 0;
  }
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_PACE_H_
