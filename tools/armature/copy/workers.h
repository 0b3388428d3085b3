#ifndef ARMATURE_TOOLS_ARMATURE_COPY_WORKERS_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_WORKERS_H_

// Runs parts of a work side by side.

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "tools/armature/copy/stop_signal.h"

namespace armature::cli::copy {

// Calls part(0) to part(count - 1) on at most `threads` threads, and `tick` several times a second
// on this thread. Returns when all have ended. The first error of a part or of a tick fails `stop`, whose error is
// returned: parts that have not begun are left out then, and those that run are expected to look at it.
absl::Status RunParts(size_t count, size_t threads, StopSignal* stop, absl::FunctionRef<absl::Status(size_t part)> part,
                      absl::FunctionRef<absl::Status()> tick);

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_WORKERS_H_
