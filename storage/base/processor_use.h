#ifndef ARMATURE_STORAGE_BASE_PROCESSOR_USE_H_
#define ARMATURE_STORAGE_BASE_PROCESSOR_USE_H_

// Share of its processors that the process uses.

#include <cstddef>
#include <cstdint>

namespace armature {

// Finds out if the process has time left on its processors, from the processor time of all its threads. It may have
// none although it uses less: beside other programs, on a machine whose host has other work, or with a quota of a
// control group.
//
// Thread-safety: none. Times are in nanoseconds.
class ProcessorUse {
 public:
  // The process is busy if it uses all of its processors but for one part in this many. Half of the calls that a server
  // can answer may take nine tenths of its processor if they come one by one.
  static constexpr int64_t kIdlePart = 32;

  // True if `used_ns` is nearly all that the processors had in `wall_ns`.
  static bool IsBusy(size_t processors, int64_t wall_ns, int64_t used_ns);

  // True if the process was busy since the last call, or since construction. Costs two system calls.
  bool WasBusy();

 private:
  struct Times {
    int64_t wall_ns = 0;
    int64_t used_ns = 0;
  };
  static Times Now();

  Times last_ = Now();
};

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_PROCESSOR_USE_H_
