#include "storage/archive/restore_plan.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::archive {
namespace {

// Bytes for which the reading of a segment counts beside its content.
constexpr uint64_t kSegmentCost = 64 << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<RestorePlan>> RestorePlan::Make(const ArchiveDirectory* directory,
                                                               const RestoreTarget& target,
                                                               store::BackupRepository* bases) {
  auto plan = std::unique_ptr<RestorePlan>(new RestorePlan(directory, target));
  ARM_ASSIGN_OR_RETURN(plan->survey_, SurveyArchive(*directory));
  ARM_RETURN_IF_ERROR(plan->Choose(bases));
  // The base is held until the end, and with it what is behind: retention removes no segment behind a base.
  ARM_ASSIGN_OR_RETURN(plan->held_, directory->HoldBase(plan->base_.backup));
  plan->walk_.emplace(plan->Walk());
  return plan;
}

// The newest whole base before the target. Times of a later chain are later ones.
absl::Status RestorePlan::Choose(store::BackupRepository* bases) {
  if (bases == nullptr) return Refuse("it has no base yet");
  ARM_RETURN_IF_ERROR(CheckOneChain());
  std::string passed;
  for (const KnownChain& known : survey_.chains) {
    if (target_.chain.has_value() && known.chain.number != *target_.chain) continue;
    for (const Base& base : known.bases) {
      if (!IsWanted(base.from_sequence, base.from_ms)) continue;
      if (chain_ == &known && base.from_ms < base_.from_ms) continue;
      const absl::StatusOr<store::BackupEntry> entry = bases->Find(base.backup);
      if (!entry.ok() || !entry->damage.empty()) {
        const std::string_view why = entry.ok() ? std::string_view(entry->damage) : Sv(entry.status().message());
        passed = Cat("; base ", base.backup, " cannot be used: ", why);
        continue;
      }
      chain_ = &known;
      base_ = base;
    }
  }
  return chain_ == nullptr ? Refuse(Cat("no base is from before it", passed)) : absl::OkStatus();
}

absl::StatusOr<bool> RestorePlan::Check(uint64_t plain_bytes_max, const ArchiveObserver& observer) {
  const KnownChain& known = *chain_;
  const uint64_t total = known.last_segment() + 1 - std::min(known.last_segment() + 1, base_.first_segment);
  bool is_reached = false;
  for (uint64_t bytes = 0; !is_checked_ && !is_reached;) {
    if (bytes >= plain_bytes_max) return false;
    if (observer != nullptr && !observer("checking segments", walk_->next_index() - base_.first_segment, total)) {
      return absl::CancelledError("the restore was cancelled");
    }
    absl::StatusOr<std::optional<Segment>> segment = walk_->Next();
    if (!segment.ok() && !IsDamage(segment.status())) return segment.status();
    if (!segment.ok()) {
      EndWindows(walk_->last());
      broken_ = std::string(Sv(segment.status().message()));
      break;
    }
    if (!segment->has_value()) break;
    bytes += (*segment)->plain.size() + kSegmentCost;
    is_reached = IsReached((*segment)->facts);
  }
  if (is_checked_) return true;
  if (!is_reached && broken_.empty() && !IsComplete(walk_->last())) {
    broken_ = Cat("chain ", known.chain.number, " ends before it");
  }
  // A base has all writes up to one, also without a segment.
  if (!broken_.empty() && !target_.is_up_to_break) return Refuse(broken_);
  is_checked_ = true;
  return true;
}

bool RestorePlan::IsWanted(uint64_t sequence, int64_t time_ms) const {
  return sequence <= target_.at_sequence.value_or(std::numeric_limits<uint64_t>::max()) &&
         time_ms <= target_.at_ms.value_or(std::numeric_limits<int64_t>::max());
}

// True if no later segment has a batch that is wanted.
bool RestorePlan::IsReached(const SegmentFacts& facts) const {
  return target_.at_ms.has_value() ? facts.until_ms >= *target_.at_ms : facts.last_sequence >= *target_.at_sequence;
}

// True if everything up to the target is in the segments, the last of which is `last`.
bool RestorePlan::IsComplete(const std::optional<SegmentFacts>& last) const {
  const std::optional<ChainHead>& head = chain_->head;
  const int64_t until_ms = std::max(last.has_value() ? last->until_ms : 0, head.has_value() ? head->until_ms : 0);
  const uint64_t until = std::max(last.has_value() ? last->last_sequence : 0, head.has_value() ? head->sequence : 0);
  return target_.at_ms.has_value() ? *target_.at_ms <= until_ms : *target_.at_sequence <= until;
}

std::string RestorePlan::TargetText() const {
  return target_.at_ms.has_value() ? TimeText(*target_.at_ms) : Cat("sequence ", *target_.at_sequence);
}

std::string RestorePlan::RestorableText() const {
  if (target_.at_ms.has_value() || survey_.windows.empty()) return WindowsText(survey_.windows);
  std::string text;
  for (const Window& window : survey_.windows) {
    text += Cat(text.empty() ? "" : ", and ", "sequences ", window.from_sequence, " to ", window.until_sequence);
  }
  return text;
}

absl::Status RestorePlan::Refuse(std::string_view why) const {
  return FailedPreconditionError(
      Cat("cannot restore ", TargetText(), ": ", why, "; this archive can restore ", RestorableText()));
}

// The windows of the chain end at `last`: its next segment is damaged, which names did not tell.
void RestorePlan::EndWindows(const std::optional<SegmentFacts>& last) {
  for (Window& window : survey_.windows) {
    if (window.chain != chain()) continue;
    window.until_ms = std::min(window.until_ms, last.has_value() ? last->until_ms : 0);
    window.until_sequence = std::min(window.until_sequence, last.has_value() ? last->last_sequence : 0);
  }
  std::erase_if(survey_.windows, [](const Window& window) { return window.until_ms < window.from_ms; });
}

// A database that was set back uses sequences again.
absl::Status RestorePlan::CheckOneChain() const {
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

}  // namespace armature::archive
