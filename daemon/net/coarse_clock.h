#ifndef ARMATURE_DAEMON_NET_COARSE_CLOCK_H_
#define ARMATURE_DAEMON_NET_COARSE_CLOCK_H_

// A cheap monotonic clock for deadlines.

#include <cstdint>
#include <ctime>

namespace armature::daemon {

inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr double kNsPerSecond = 1e9;

// Nanoseconds since an arbitrary moment, with a resolution of a few milliseconds.
inline int64_t CoarseNowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_NET_COARSE_CLOCK_H_
