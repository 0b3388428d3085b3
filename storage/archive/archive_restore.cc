#include "storage/archive/archive_restore.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "glog/logging.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/backup/batch_replay.h"

namespace armature::archive {
namespace {

// A base before the target, and the segments from it to the target.
struct Plan {
  const KnownChain* chain = nullptr;
  Base base{};
  uint64_t end = 0;  // index behind the last segment that is needed
  std::string broken{};
};

class Restorer {
 public:
  Restorer(const ArchiveDirectory* directory, const RestoreTarget& target, const ArchiveObserver& observer)
      : directory_(directory), target_(target), observer_(observer) {}

  absl::StatusOr<RestoreReport> Run(store::Volume* volume, const std::string& data_dir) {
    ARM_ASSIGN_OR_RETURN(survey_, SurveyArchive(*directory_));
    absl::StatusOr<std::unique_ptr<store::BackupRepository>> opened =
        store::BackupRepository::Open(directory_->bases_path(), {});
    if (absl::IsNotFound(opened.status())) return Refuse("it has no base yet");
    ARM_ASSIGN_OR_RETURN(bases_, std::move(opened));
    ARM_ASSIGN_OR_RETURN(Plan plan, MakePlan());
    const auto observe = [this](const store::BackupProgress& progress) {
      return Report("base", progress.done_bytes, progress.total_bytes);
    };
    ARM_RETURN_IF_ERROR(bases_->Restore(plan.base.backup, volume, data_dir, observe,
                                        [&](const std::string& db_path) { return Replay(plan, volume, db_path); }));
    report_.chain = plan.chain->chain.number;
    report_.base = plan.base.backup;
    report_.broken = std::move(plan.broken);
    return report_;
  }

 private:
  bool Report(std::string_view what, uint64_t done, uint64_t total) const {
    return observer_ == nullptr || observer_(what, done, total);
  }
  bool IsWanted(uint64_t sequence, int64_t time_ms) const {
    return sequence <= target_.at_sequence.value_or(std::numeric_limits<uint64_t>::max()) &&
           time_ms <= target_.at_ms.value_or(std::numeric_limits<int64_t>::max());
  }
  // True if no later segment has a batch that is wanted.
  bool IsReached(const SegmentFacts& facts) const {
    return target_.at_ms.has_value() ? facts.until_ms >= *target_.at_ms : facts.last_sequence >= *target_.at_sequence;
  }
  std::string TargetText() const {
    return target_.at_ms.has_value() ? TimeText(*target_.at_ms) : Cat("sequence ", *target_.at_sequence);
  }
  std::string RestorableText() const {
    if (target_.at_ms.has_value() || survey_.windows.empty()) return WindowsText(survey_.windows);
    std::string text;
    for (const Window& window : survey_.windows) {
      text += Cat(text.empty() ? "" : ", and ", "sequences ", window.from_sequence, " to ", window.until_sequence);
    }
    return text;
  }
  absl::Status Refuse(std::string_view why) const {
    return FailedPreconditionError(
        Cat("cannot restore ", TargetText(), ": ", why, "; this archive can restore ", RestorableText()));
  }

  // The windows of `chain` end at `last`: its next segment is damaged, which names did not tell.
  void EndWindows(const KnownChain& chain, const std::optional<SegmentFacts>& last) {
    for (Window& window : survey_.windows) {
      if (window.chain != chain.chain.number) continue;
      window.until_ms = std::min(window.until_ms, last.has_value() ? last->until_ms : 0);
      window.until_sequence = std::min(window.until_sequence, last.has_value() ? last->last_sequence : 0);
    }
    std::erase_if(survey_.windows, [](const Window& window) { return window.until_ms < window.from_ms; });
  }

  // A database that was set back uses sequences again.
  absl::Status CheckOneChain() const {
    if (!target_.at_sequence.has_value() || target_.chain.has_value()) return absl::OkStatus();
    std::set<uint64_t> chains;
    for (const Window& window : survey_.windows) {
      if (window.from_sequence <= *target_.at_sequence && *target_.at_sequence <= window.until_sequence) {
        chains.insert(window.chain);
      }
    }
    if (chains.size() < 2) return absl::OkStatus();
    std::string names;
    for (const uint64_t chain : chains) names += Cat(names.empty() ? "" : " and ", chain);
    return FailedPreconditionError(
        Cat("cannot restore ", TargetText(), ": chains ", names, " have it; choose one with --chain"));
  }

  // The newest whole base before the target. Times of a later chain are later ones.
  absl::StatusOr<Plan> MakePlan() {
    ARM_RETURN_IF_ERROR(CheckOneChain());
    Plan plan;
    std::string passed;
    for (const KnownChain& known : survey_.chains) {
      if (target_.chain.has_value() && known.chain.number != *target_.chain) continue;
      for (const Base& base : known.bases) {
        if (!IsWanted(base.from_sequence, base.from_ms)) continue;
        if (plan.chain == &known && base.from_ms < plan.base.from_ms) continue;
        const absl::StatusOr<store::BackupEntry> entry = bases_->Find(base.backup);
        if (!entry.ok() || !entry->damage.empty()) {
          const std::string_view why = entry.ok() ? std::string_view(entry->damage) : Sv(entry.status().message());
          passed = Cat("; base ", base.backup, " cannot be used: ", why);
          continue;
        }
        plan = {.chain = &known, .base = base};
      }
    }
    if (plan.chain == nullptr) return Refuse(Cat("no base is from before it", passed));
    // The base is held until the end, and with it what is behind: retention removes no segment behind a base.
    ARM_ASSIGN_OR_RETURN(held_, directory_->HoldBase(plan.base.backup));
    ARM_RETURN_IF_ERROR(CheckSegments(&plan));
    return plan;
  }

  absl::Status CheckSegments(Plan* plan) {
    const KnownChain& known = *plan->chain;
    ChainWalk walk(directory_, &known, plan->base.first_segment);
    const uint64_t total = known.last_segment() + 1 - std::min(known.last_segment() + 1, plan->base.first_segment);
    bool is_reached = false;
    while (!is_reached) {
      if (!Report("checking segments", walk.next_index() - plan->base.first_segment, total)) {
        return absl::CancelledError("the restore was cancelled");
      }
      absl::StatusOr<std::optional<Segment>> segment = walk.Next();
      if (!segment.ok() && !IsDamage(segment.status())) return segment.status();
      if (!segment.ok()) {
        EndWindows(known, walk.last());
        plan->broken = std::string(Sv(segment.status().message()));
        break;
      }
      if (!segment->has_value()) break;
      is_reached = IsReached((*segment)->facts);
    }
    plan->end = walk.next_index();
    if (is_reached) return absl::OkStatus();
    if (plan->broken.empty() && !IsComplete(known, walk.last())) {
      plan->broken = Cat("chain ", known.chain.number, " ends before it");
    }
    if (plan->broken.empty()) return absl::OkStatus();
    // A base has all writes up to one, also without a segment.
    return target_.is_up_to_break ? absl::OkStatus() : Refuse(plan->broken);
  }

  // True if everything up to the target is in the segments, the last of which is `last`.
  bool IsComplete(const KnownChain& known, const std::optional<SegmentFacts>& last) const {
    const int64_t until_ms =
        std::max(last.has_value() ? last->until_ms : 0, known.head.has_value() ? known.head->until_ms : 0);
    const uint64_t until =
        std::max(last.has_value() ? last->last_sequence : 0, known.head.has_value() ? known.head->sequence : 0);
    return target_.at_ms.has_value() ? *target_.at_ms <= until_ms : *target_.at_sequence <= until;
  }

  absl::Status Replay(const Plan& plan, store::Volume* volume, const std::string& db_path) {
    ARM_ASSIGN_OR_RETURN(const std::unique_ptr<store::BatchReplay> replay, store::BatchReplay::Open(volume, db_path));
    report_.last_sequence = replay->sequence();
    ChainWalk walk(directory_, plan.chain, plan.base.first_segment);
    while (walk.next_index() < plan.end) {
      if (!Report("replaying segments", walk.next_index() - plan.base.first_segment,
                  plan.end - plan.base.first_segment)) {
        return absl::CancelledError("the restore was cancelled");
      }
      ARM_ASSIGN_OR_RETURN(const std::optional<Segment> segment, walk.Next());
      if (!segment.has_value()) return DataLossError("a segment has disappeared during the restore");
      ++report_.segments;
      const auto apply = [&](const ArchivedBatch& batch) -> absl::Status {
        if (batch.sequence <= replay->sequence() || !IsWanted(batch.sequence, batch.time_ms)) return absl::OkStatus();
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
  Survey survey_;
  std::unique_ptr<store::BackupRepository> bases_;
  std::unique_ptr<store::VolumeLock> held_;
  RestoreReport report_;
};

}  // namespace

absl::StatusOr<RestoreReport> RestoreArchive(const ArchiveDirectory& directory, const RestoreTarget& target,
                                             store::Volume* volume, const std::string& data_dir,
                                             const ArchiveObserver& observer) {
  return Restorer(&directory, target, observer).Run(volume, data_dir);
}

}  // namespace armature::archive
