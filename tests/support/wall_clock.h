#ifndef ARMATURE_TESTS_SUPPORT_WALL_CLOCK_H_
#define ARMATURE_TESTS_SUPPORT_WALL_CLOCK_H_

// The wall clock of a test's process, which a test may set. The executable must contain wall_clock.cc.

#include "absl/time/time.h"

namespace armature::test {

// Sets the wall clock forward or, if `by` is negative, back, until it is destroyed. Only what reads the clock sees it:
// the kernel's own waits do not.
class WallClockSet {
 public:
  explicit WallClockSet(absl::Duration by);
  ~WallClockSet();
  WallClockSet(const WallClockSet&) = delete;
  WallClockSet& operator=(const WallClockSet&) = delete;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_WALL_CLOCK_H_
