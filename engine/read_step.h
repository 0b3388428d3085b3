#ifndef ARMATURE_ENGINE_READ_STEP_H_
#define ARMATURE_ENGINE_READ_STEP_H_

// Requests that read what they find in memory on the caller's thread, and continue on a pool if they would block.

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/parts.h"
#include "storage/store/database.h"

namespace armature::engine {

// Runs kStep(job, mode) on this thread, and if it returns false, once more on a pool, in mode kMayBlock. `run_on`:
// RunHolder or RunOnReadPool.
//
// A step returns true if the request has gone on or ended, and false if it would block in this mode, or is too much
// work for the caller's thread. An error of a step ends the request, by job->End; one of the pool goes to job->Refuse.
template <auto kStep, class Job>
void RunStep(decltype(RunHolder)* run_on, const std::shared_ptr<Job>& job, store::ReadMode mode) {
  const absl::StatusOr<bool> here = kStep(job, mode);
  if (!here.ok()) return job->End(here.status());
  if (*here) return;
  run_on(
      job->parts,
      [job] {
        const absl::StatusOr<bool> there = kStep(job, store::ReadMode::kMayBlock);
        if (!there.ok()) job->End(there.status());
      },
      [job](const absl::Status& refused) { job->Refuse(refused); });
}

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_READ_STEP_H_
