#ifndef ARMATURE_STORAGE_BASE_FAULT_POINTS_H_
#define ARMATURE_STORAGE_BASE_FAULT_POINTS_H_

// Named places where a test may kill the process or hold a thread.
//
// ARM_FAULT_POINT("committer.before_write") does nothing unless the environment says one of
//   ARMATURE_FAULT_POINT=committer.before_write:N       ends the process with SIGKILL at the N-th passing
//   ARMATURE_FAULT_POINT=committer.before_write@FILE    waits at each passing while someone holds an exclusive flock on
//   FILE
// Compiled out of release builds (CMake option ARMATURE_FAULT_POINTS).

#include <string_view>

namespace armature {

// Counts a passing of `name`; does not return if the environment asked for an end here, or waits as above.
void PassFaultPoint(std::string_view name);

}  // namespace armature

#ifdef ARMATURE_FAULT_POINTS
#define ARM_FAULT_POINT(name) ::armature::PassFaultPoint(name)
#else
#define ARM_FAULT_POINT(name) static_cast<void>(0)
#endif

#endif  // ARMATURE_STORAGE_BASE_FAULT_POINTS_H_
