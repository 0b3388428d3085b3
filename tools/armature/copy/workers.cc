#include "tools/armature/copy/workers.h"

#include <algorithm>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/base/thread_pool.h"

namespace armature::cli::copy {
namespace {

constexpr absl::Duration kTickEvery = absl::Milliseconds(50);

struct Progressing {
  absl::Mutex mutex;
  size_t left ABSL_GUARDED_BY(mutex) = 0;
};

}  // namespace

absl::Status RunParts(size_t count, size_t threads, StopSignal* stop, absl::FunctionRef<absl::Status(size_t part)> part,
                      absl::FunctionRef<absl::Status()> tick) {
  if (count == 0) return stop->status();
  Progressing state;
  {
    const absl::MutexLock lock(&state.mutex);
    state.left = count;
  }
  {
    ThreadPool pool("copy", std::max<size_t>(1, std::min(count, threads)), count);
    for (size_t i = 0; i < count; ++i) {
      pool.RunAdmitted([&state, stop, part, i] {
        absl::Status done = stop->status();
        if (done.ok()) done = part(i);
        if (!done.ok()) stop->Fail(done);
        const absl::MutexLock lock(&state.mutex);
        --state.left;
      });
    }
    const auto are_done = [&state]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return state.left == 0; };
    bool is_done = false;
    while (!is_done) {
      {
        const absl::MutexLock lock(&state.mutex);
        is_done = state.mutex.AwaitWithTimeout(absl::Condition(&are_done), kTickEvery);
      }
      if (const absl::Status ticked = tick(); !ticked.ok()) stop->Fail(ticked);
    }
  }
  return stop->status();
}

}  // namespace armature::cli::copy
