#ifndef ARMATURE_STORAGE_ARCHIVE_RESTORE_PLAN_H_
#define ARMATURE_STORAGE_ARCHIVE_RESTORE_PLAN_H_

// The plan of a restore: a base before its target, and the segments from there to the target.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/archive/archive_check.h"
#include "storage/archive/archive_directory.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/files/volume.h"

namespace armature::archive {

struct RestoreTarget {
  // One of them is given. The restored database has every write of a time up to `at_ms`, or of a sequence of the
  // archive up to `at_sequence`, and none behind.
  std::optional<int64_t> at_ms{};
  std::optional<uint64_t> at_sequence{};
  // The chain to restore from. Needed for a sequence that several chains have.
  std::optional<uint64_t> chain{};
  // If the archive is broken before the target, or ends before it, restores what is before.
  bool is_up_to_break = false;
};

// Thread-safety: owned by one thread at a time. Lifetime: the directory outlives it. While it lives, its base and what
// is behind it stay in the archive.
class RestorePlan {
 public:
  // Chooses the newest whole base before the target; `bases` are those of the archive. Reads no segment but the last
  // ones. Errors: FailedPrecondition, with what can be restored, if there is none, or if several chains have the
  // target; Unavailable.
  static absl::StatusOr<std::unique_ptr<RestorePlan>> Make(const ArchiveDirectory* directory,
                                                           const RestoreTarget& target, store::BackupRepository* bases);
  RestorePlan(const RestorePlan&) = delete;
  RestorePlan& operator=(const RestorePlan&) = delete;

  // Checks segments from where the last call ended, until they have `plain_bytes_max` bytes or more. True: all up to
  // the target are whole. Errors: FailedPrecondition, naming the broken file and what can be restored, if the target
  // cannot be reached; Cancelled; Unavailable.
  absl::StatusOr<bool> Check(uint64_t plain_bytes_max, const ArchiveObserver& observer);

  bool IsWanted(uint64_t sequence, int64_t time_ms) const;
  const Base& base() const { return base_; }
  uint64_t chain() const { return chain_->chain.number; }
  // The index behind the last segment that is needed. Once Check has returned true.
  uint64_t end() const { return walk_->next_index(); }
  // Why the target is not reached; empty: it is. Once Check has returned true.
  const std::string& broken() const { return broken_; }
  // A walk over the segments, from the first one.
  ChainWalk Walk() const { return {directory_, chain_, base_.first_segment}; }

 private:
  RestorePlan(const ArchiveDirectory* directory, const RestoreTarget& target)
      : directory_(directory), target_(target) {}
  absl::Status Choose(store::BackupRepository* bases);
  absl::Status CheckOneChain() const;
  bool IsReached(const SegmentFacts& facts) const;
  bool IsComplete(const std::optional<SegmentFacts>& last) const;
  void EndWindows(const std::optional<SegmentFacts>& last);
  std::string TargetText() const;
  std::string RestorableText() const;
  absl::Status Refuse(std::string_view why) const;

  const ArchiveDirectory* const directory_;
  const RestoreTarget target_;
  Survey survey_;
  const KnownChain* chain_ = nullptr;  // in the survey
  Base base_{};
  std::unique_ptr<store::VolumeLock> held_;
  std::optional<ChainWalk> walk_;  // of the check
  bool is_checked_ = false;
  std::string broken_;
};

}  // namespace armature::archive

#endif  // ARMATURE_STORAGE_ARCHIVE_RESTORE_PLAN_H_
