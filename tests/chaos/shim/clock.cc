// Replacements of the C library's clocks: the real-time clock is off by Control::clock_offset_ns. Waits until a time of
// that clock end when the wrong clock shows it. A wait that has begun before a jump keeps its end.

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include <algorithm>

#include "tests/chaos/shim/shim.h"

namespace armature::chaos {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t OffsetNs() { return control() == nullptr ? 0 : control()->clock_offset_ns.load(); }

timespec Moved(const timespec& from, int64_t by_ns) {
  const int64_t moved = std::max<int64_t>(0, from.tv_sec * kSecond + from.tv_nsec + by_ns);
  return {moved / kSecond, moved % kSecond};
}

timespec RealTime() {
  timespec now = {};
  RawCall(SYS_clock_gettime, CLOCK_REALTIME, reinterpret_cast<int64_t>(&now));
  return Moved(now, OffsetNs());
}

}  // namespace

// The functions of the global namespace that this library replaces.
extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto result = static_cast<int>(Answer(RawCall(SYS_clock_gettime, clock, reinterpret_cast<int64_t>(now))));
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) *now = Moved(*now, OffsetNs());
  return result;
}

int gettimeofday(timeval* now, void*) noexcept {
  const timespec time = RealTime();
  *now = {time.tv_sec, time.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* now) noexcept {
  const time_t seconds = RealTime().tv_sec;
  if (now != nullptr) *now = seconds;
  return seconds;
}

// Abseil's locks wait by futex until a time of the real-time clock.
long syscall(long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  int64_t values[6];
  for (int64_t& value : values) value = va_arg(rest, long);
  va_end(rest);
  timespec until = {};
  if (number == SYS_futex && (values[1] & FUTEX_CLOCK_REALTIME) != 0 && values[3] != 0) {
    until = Moved(*reinterpret_cast<const timespec*>(values[3]), -OffsetNs());
    values[3] = reinterpret_cast<int64_t>(&until);
  }
  return Answer(RawCall(number, values[0], values[1], values[2], values[3], values[4], values[5]));
}

// Times of the monotonic clock are short of thirty years.
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  using Wait = int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*);
  static const auto next = reinterpret_cast<Wait>(dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2"));
  const timespec moved = Moved(*until, until->tv_sec < kSecond ? 0 : -OffsetNs());
  return next(condition, mutex, &moved);
}

}  // extern "C"

}  // namespace armature::chaos
