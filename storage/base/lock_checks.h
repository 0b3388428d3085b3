#ifndef ARMATURE_STORAGE_BASE_LOCK_CHECKS_H_
#define ARMATURE_STORAGE_BASE_LOCK_CHECKS_H_

// Checks that Abseil makes at its locks.

#include "absl/synchronization/mutex.h"

namespace armature {

// The packaged Abseil looks for cycles of locks at every lock, a tenth of the CPU of a small write; gRPC's locks are
// Abseil's, too. Release builds do without, other builds keep the check. For the begin of main.
inline void SkipLockChecks() {
#ifdef NDEBUG
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
}

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_LOCK_CHECKS_H_
