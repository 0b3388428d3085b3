#ifndef ARMATURE_TESTS_CHAOS_SHIM_CONTROL_H_
#define ARMATURE_TESTS_CHAOS_SHIM_CONTROL_H_

// The page that the attacking program and the shim share: which call fails, and how far clocks are off. The program
// writes it at any time (tests/chaos/shim_control.py has the same layout).

#include <atomic>
#include <cstdint>

namespace armature::chaos {

// Kinds of calls, as indexes into `seen`.
enum class Call : int32_t {
  kWrite = 0,
  kFsync = 1,
  kOpen = 2,
  kRename = 3,
  kUnlink = 4,
  kMmap = 5,
  kRead = 6,
  kTruncate = 7,
  kAllocate = 8,
  kMkdir = 9,
  kLink = 10,
};
inline constexpr int kCallKinds = 16;
inline constexpr int32_t kNoCall = -1;

struct Control {
  std::atomic<int64_t> seen[kCallKinds];  // calls of each kind on watched files
  std::atomic<int64_t> fired;             // calls that failed
  std::atomic<int64_t> countdown;         // the call that brings it to 0 fails, and `more` calls behind it
  std::atomic<int64_t> more;
  std::atomic<int32_t> kind;             // of the failing call; kNoCall: none fails
  std::atomic<int32_t> error;            // errno; 0: a write is short by half, and the next one goes on
  char path_part[32];                    // only files whose path contains this; written before `kind`
  std::atomic<int64_t> clock_offset_ns;  // added to the real-time clock
  std::atomic<int64_t> fsync_us;         // duration added to each sync
};

}  // namespace armature::chaos

#endif  // ARMATURE_TESTS_CHAOS_SHIM_CONTROL_H_
