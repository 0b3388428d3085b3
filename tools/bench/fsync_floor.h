#ifndef ARMATURE_TOOLS_BENCH_FSYNC_FLOOR_H_
#define ARMATURE_TOOLS_BENCH_FSYNC_FLOOR_H_

#include <string>

#include "tools/bench/histogram.h"

namespace armature::bench {

// Appends 4 KiB to a file in `directory` and calls fdatasync, again and again for `seconds`; the lower bound of a
// durable write. Throws std::runtime_error if the file cannot be written.
Histogram MeasureFsync(const std::string& directory, double seconds);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_FSYNC_FLOOR_H_
