#ifndef ARMATURE_DAEMON_HTTP_PACE_H_
#define ARMATURE_DAEMON_HTTP_PACE_H_

// How slow a client may be.

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

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_PACE_H_
