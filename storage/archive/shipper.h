#ifndef ARMATURE_STORAGE_ARCHIVE_SHIPPER_H_
#define ARMATURE_STORAGE_ARCHIVE_SHIPPER_H_

// Archives a database while it is served: segments of its log, and bases. docs/decisions/0060-a-continuous-archive.md

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/archive/archive_check.h"
#include "storage/archive/archive_directory.h"
#include "storage/archive/restorable.h"
#include "storage/base/worker.h"
#include "storage/store/database.h"
#include "storage/store/wal/committed_log.h"

namespace armature::archive {

struct ShipperOptions {
  std::string directory{};
  absl::Duration interval = absl::Seconds(5);        // between two segments, or less while there are more
  absl::Duration base_interval = absl::Hours(24);    // between two bases
  absl::Duration keep = absl::Hours(35 * 24);        // zero: everything is kept
  uint64_t base_bytes_per_second_max = 32ull << 20;  // 0: no limit
};

struct ShipperStats {
  uint64_t segments_total = 0;
  uint64_t bytes_total = 0;  // of segments, compressed
  uint64_t chains_total = 0;
  uint64_t bases_total = 0;
  uint64_t bases_failed_total = 0;
  uint64_t clock_steps_total = 0;  // of the clock, back
  uint64_t breaks = 0;             // that the last verification of the archive found
  int64_t last_base_ms = 0;
  int64_t last_verified_ms = 0;
  int64_t until_ms = 0;         // everything that was acknowledged before is archived
  int64_t paused_since_ms = 0;  // 0: not paused
  std::string paused_reason{};
  uint64_t waiting_bytes = 0;
};

// Ships on one thread, and makes bases, verifies and removes what is old on another. An archive that cannot be written
// does not hold up the database: its log waits within a bound, and beyond it a new chain begins once the archive can be
// written again.
//
// Thread-safety: stats(), ChangeOptions, directory(), restorable() and AwaitArchived are thread-safe; one thread calls
// the others. Lifetime: the database outlives it.
class Shipper {
 public:
  // `database` is open with an archived log.
  Shipper(store::Database* database, ShipperOptions options);
  ~Shipper() { Stop(); }
  Shipper(const Shipper&) = delete;
  Shipper& operator=(const Shipper&) = delete;

  void Start();
  // Ends a base that is being made, ships what is left, if the archive can be written, and ends. Idempotent.
  void Stop();
  ShipperStats stats() const;

  // Takes the intervals, the age and the limit of `options` for what begins after it; the directory stays.
  void ChangeOptions(const ShipperOptions& options);

  const std::string& directory() const { return path_; }
  // The moments that can be restored; nullopt: not known yet, some seconds after a start at most. Cheap.
  std::optional<std::vector<Span>> restorable() const { return restorable_.spans(); }
  // Ships at once, and returns true when restorable() is known and all that was acknowledged before `at_ms` is
  // archived; false after `patience`.
  bool AwaitArchived(int64_t at_ms, absl::Duration patience);

  // One turn of each thread, for tests that have not called Start. Errors: those of the archive.
  absl::Status Ship();
  absl::Status MakeBase();
  // Reads up to `segments` segments of the chain, from where the last call ended, and counts the breaks of a whole
  // pass.
  absl::Status VerifySome(size_t segments);
  // Removes bases that `now_ms` needs no more, with their segments.
  absl::Status RemoveOld(int64_t now_ms);
  // Looks for the moments that can be restored.
  absl::Status FindRestorable();

 private:
  // Where the chain goes on.
  struct Position {
    Chain chain{};
    uint64_t next_index = 1;
    std::string previous{};  // checksum of the last segment
    store::LogPosition log{};
    uint64_t last_sequence = 0;
    int64_t last_ms = 0;
    int64_t until_ms = 0;  // as ChainHead
  };

  Worker::Next ShipTurn();
  Worker::Next KeepTurn();
  // `give_up`: when to leave the rest for a later call.
  absl::Status TryShip(absl::Time give_up);
  absl::Status Attach();
  absl::Status BeginChain(std::string_view reason);
  // The latest time that a chain has promised; 0: none.
  int64_t LatestTime(const std::vector<KnownChain>& chains) const;
  absl::Status Resume(const KnownChain& known);
  // Ships a segment of what was acknowledged before `now_ms`, and more. True if that was all.
  absl::StatusOr<bool> ShipSegment(int64_t now_ms);
  absl::Status WriteHead();
  int64_t TimeOf(const store::LogBatch& batch);
  // Makes the state of the thread that ships visible to the other one.
  void Share();
  // Removes backups that a kill has left without a record. `chains` are all, without problems.
  void RemoveOrphans(const std::vector<KnownChain>& chains, store::BackupRepository* bases);
  void NoteOutcome(const absl::Status& status);
  // FindRestorable, if something has changed.
  void RefreshRestorable();
  void NoteBreak(const KnownChain& known, uint64_t index, std::string_view what);
  bool IsBaseDue(int64_t now_ms) const;
  std::optional<Position> shared() const;
  ShipperOptions live() const;

  store::Database* const database_;
  store::CommittedLog* const tail_;
  const bool has_archive_;  // when it began: one that is not there is not mounted
  const std::string path_;
  bool is_stopped_ = false;
  std::unique_ptr<ArchiveDirectory> directory_;  // made by the thread that ships
  std::optional<Position> position_;             // used by the thread that ships
  bool is_clock_behind_ = false;                 // used by it, too
  std::string pending_reason_;                   // of a chain that could not be begun yet
  mutable absl::Mutex mutex_;
  ShipperOptions live_ ABSL_GUARDED_BY(mutex_);  // but for the directory
  ShipperStats stats_ ABSL_GUARDED_BY(mutex_);
  std::optional<Position> shared_ ABSL_GUARDED_BY(mutex_);  // a copy of position_
  bool wants_base_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t next_try_ms_ ABSL_GUARDED_BY(mutex_) = 0;  // of a base
  // Used by the thread that keeps.
  int64_t next_removal_ms_ = 0;
  int64_t next_pass_ms_ = 0;  // of the verification
  std::optional<KnownChain> walked_;
  std::optional<ChainWalk> walk_;
  struct WalkPlace {
    std::string chain;  // its id
    uint64_t index = 0;
  };
  std::optional<WalkPlace> walk_place_;  // where a walk goes on that a removal has interrupted
  uint64_t breaks_in_pass_ = 0;
  std::set<uint64_t> damaged_in_pass_;              // segments of the chain that is walked
  std::map<uint64_t, std::set<uint64_t>> damaged_;  // by chain
  Restorable restorable_;
  std::atomic<bool> is_restorable_stale_ = true;
  Worker keeper_;
  Worker shipper_;
};

}  // namespace armature::archive

#endif  // ARMATURE_STORAGE_ARCHIVE_SHIPPER_H_
