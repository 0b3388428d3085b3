#include "tests/support/wall_clock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace {

std::atomic<int64_t> offset_s = 0;

}  // namespace

// Replaces the function of the C library, for all of the process.
extern "C" int clock_gettime(clockid_t id, timespec* time) noexcept {
  const int result = static_cast<int>(syscall(SYS_clock_gettime, id, time));
  if (id == CLOCK_REALTIME) time->tv_sec += offset_s.load(std::memory_order_relaxed);
  return result;
}

namespace armature::test {

WallClockSet::WallClockSet(absl::Duration by) { offset_s = absl::ToInt64Seconds(by); }
WallClockSet::~WallClockSet() { offset_s = 0; }

}  // namespace armature::test
