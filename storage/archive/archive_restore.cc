#include "storage/archive/archive_restore.h"

#include <limits>
#include <memory>
#include <utility>

#include "glog/logging.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/backup/batch_replay.h"

namespace armature::archive {
namespace {

class Restorer {
 public:
  Restorer(const ArchiveDirectory* directory, const RestoreTarget& target, const ArchiveObserver& observer)
      : directory_(directory), target_(target), observer_(observer) {}

  absl::StatusOr<RestoreReport> Run(store::Volume* volume, const std::string& data_dir) {
    absl::StatusOr<std::unique_ptr<store::BackupRepository>> opened =
        store::BackupRepository::Open(directory_->bases_path(), {});
    if (!opened.ok() && !absl::IsNotFound(opened.status())) return opened.status();
    store::BackupRepository* const bases = opened.ok() ? opened->get() : nullptr;
    ARM_ASSIGN_OR_RETURN(const std::unique_ptr<RestorePlan> plan, RestorePlan::Make(directory_, target_, bases));
    ARM_RETURN_IF_ERROR(plan->Check(std::numeric_limits<uint64_t>::max(), observer_).status());
    const auto observe = [this](const store::BackupProgress& progress) {
      return Report("base", progress.done_bytes, progress.total_bytes);
    };
    ARM_RETURN_IF_ERROR(bases->Restore(plan->base().backup, volume, data_dir, observe,
                                       [&](const std::string& db_path) { return Replay(*plan, volume, db_path); }));
    report_.chain = plan->chain();
    report_.base = plan->base().backup;
    report_.broken = plan->broken();
    return report_;
  }

 private:
  bool Report(std::string_view what, uint64_t done, uint64_t total) const {
    return observer_ == nullptr || observer_(what, done, total);
  }

  absl::Status Replay(const RestorePlan& plan, store::Volume* volume, const std::string& db_path) {
    ARM_ASSIGN_OR_RETURN(const std::unique_ptr<store::BatchReplay> replay, store::BatchReplay::Open(volume, db_path));
    report_.last_sequence = replay->sequence();
    ChainWalk walk = plan.Walk();
    while (walk.next_index() < plan.end()) {
      if (!Report("replaying segments", walk.next_index() - plan.base().first_segment,
                  plan.end() - plan.base().first_segment)) {
        return absl::CancelledError("the restore was cancelled");
      }
      ARM_ASSIGN_OR_RETURN(const std::optional<Segment> segment, walk.Next());
      if (!segment.has_value()) return DataLossError("a segment has disappeared during the restore");
      ++report_.segments;
      const auto apply = [&](const ArchivedBatch& batch) -> absl::Status {
        if (batch.sequence <= replay->sequence() || !plan.IsWanted(batch.sequence, batch.time_ms))
          return absl::OkStatus();
        ARM_RETURN_IF_ERROR(replay->Apply(batch.bytes, segment->facts.families));
        ++report_.batches;
        report_.last_sequence = batch.sequence;
        report_.last_ms = batch.time_ms;
        return absl::OkStatus();
      };
      ARM_RETURN_IF_ERROR(ForEachBatch(*segment, apply));
      ARM_FAULT_POINT("archive.replayed_segment");
    }
    return replay->Finish();
  }

  const ArchiveDirectory* const directory_;
  const RestoreTarget target_;
  const ArchiveObserver& observer_;
  RestoreReport report_;
};

}  // namespace

absl::StatusOr<RestoreReport> RestoreArchive(const ArchiveDirectory& directory, const RestoreTarget& target,
                                             store::Volume* volume, const std::string& data_dir,
                                             const ArchiveObserver& observer) {
  return Restorer(&directory, target, observer).Run(volume, data_dir);
}

}  // namespace armature::archive
