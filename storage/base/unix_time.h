#ifndef ARMATURE_STORAGE_BASE_UNIX_TIME_H_
#define ARMATURE_STORAGE_BASE_UNIX_TIME_H_

// The wall clock, as records and answers have it. It may jump: durations are measured with MonotonicNs.

#include <cstdint>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace armature {

// Milliseconds since 1970.
inline int64_t UnixNowMs() { return absl::ToUnixMillis(absl::Now()); }

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_UNIX_TIME_H_
