#include "storage/base/processor_use.h"

#include <time.h>

#include <utility>

#include "storage/base/thread_pool.h"
#include "storage/base/time_histogram.h"

namespace armature {

bool ProcessorUse::IsBusy(size_t processors, int64_t wall_ns, int64_t used_ns) {
  const int64_t had_ns = static_cast<int64_t>(processors) * wall_ns;
  return used_ns > had_ns - had_ns / kIdlePart;
}

ProcessorUse::Times ProcessorUse::Now() {
  timespec used = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return {.wall_ns = MonotonicNs(), .used_ns = int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec};
}

bool ProcessorUse::WasBusy() {
  const Times now = Now();
  const Times before = std::exchange(last_, now);
  return IsBusy(UsableProcessors(), now.wall_ns - before.wall_ns, now.used_ns - before.used_ns);
}

}  // namespace armature
