#ifndef ARMATURE_STORAGE_BASE_FAULT_POINTS_H_
#define ARMATURE_STORAGE_BASE_FAULT_POINTS_H_

// Named points at which a test may kill the process or pause a thread.
//
// ARM_FAULT_POINT("committer.before_write") does nothing unless an environment variable is set:
//   ARMATURE_FAULT_POINT=committer.before_write:N       kills the process with SIGKILL at the N-th pass
//   ARMATURE_FAULT_POINT=committer.before_write@FILE    waits at each pass while FILE has an exclusive flock
// Compiled out of release builds (CMake option ARMATURE_FAULT_POINTS).

#include <functional>
#include <string>
#include <string_view>

namespace armature {

// Counts a pass of `name`. Kills the process or waits if the environment variable says so.
void PassFaultPoint(std::string_view name);

// Calls `call` at each pass of `name`, for tests inside the process. One point at a time; null ends it.
void SetFaultPointCall(std::string name, std::function<void()> call);

}  // namespace armature

#ifdef ARMATURE_FAULT_POINTS
#define ARM_FAULT_POINT(name) ::armature::PassFaultPoint(name)
#else
#define ARM_FAULT_POINT(name) static_cast<void>(0)
#endif

#endif  // ARMATURE_STORAGE_BASE_FAULT_POINTS_H_
