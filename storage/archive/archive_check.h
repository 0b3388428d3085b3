#ifndef ARMATURE_STORAGE_ARCHIVE_ARCHIVE_CHECK_H_
#define ARMATURE_STORAGE_ARCHIVE_ARCHIVE_CHECK_H_

// The times to which an archive can restore, and where its chains are broken.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/archive/archive_directory.h"

namespace armature::archive {

// Every moment from `from_ms` to `until_ms` can be restored from `base` of `chain`.
struct Window {
  uint64_t chain = 0;
  Base base{};
  int64_t from_ms = 0;
  int64_t until_ms = 0;
  uint64_t from_sequence = 0;
  uint64_t until_sequence = 0;
};

struct Survey {
  std::string database_id{};
  std::vector<KnownChain> chains{};
  std::vector<Window> windows{};      // by chain and base; those of one chain end at the same time or at a break
  std::vector<std::string> breaks{};  // each names the file
  absl::Status unreadable{};          // why a file could not be read that may be whole; its window is too short then
};

// Progress of long work: bytes, as far as they are known. Returns false to end it with Cancelled.
using ArchiveObserver = std::function<bool(std::string_view what, uint64_t done, uint64_t total)>;

// Reads the segments of a chain in order, and checks each and that it follows the one before.
//
// Thread-safety: owned by one thread. Lifetime: both arguments outlive it.
class ChainWalk {
 public:
  ChainWalk(const ArchiveDirectory* directory, const KnownChain* chain, uint64_t first)
      : directory_(directory), chain_(chain), next_(first) {}

  // The next segment; nullopt behind the last one. Errors: DataLoss, naming the file, if it is missing or damaged, or
  // does not follow; FailedPrecondition for a newer format; Unavailable.
  absl::StatusOr<std::optional<Segment>> Next();
  uint64_t next_index() const { return next_; }
  // The last segment that was whole; nullopt: none was read.
  const std::optional<SegmentFacts>& last() const { return last_; }

 private:
  absl::Status Check(const Segment& segment) const;

  const ArchiveDirectory* const directory_;
  const KnownChain* const chain_;
  uint64_t next_;
  std::optional<SegmentFacts> last_;
};

// Finds missing files by their names, and reads the last segment of each window. A damaged segment before is not found:
// see VerifyArchive. Errors: Unavailable.
absl::StatusOr<Survey> SurveyArchive(const ArchiveDirectory& directory);

// Reads everything: all segments that a base needs, and the bases. Errors: Unavailable; Cancelled.
absl::StatusOr<Survey> VerifyArchive(const ArchiveDirectory& directory, const ArchiveObserver& observer);

// "2026-01-31T12:00:00.250Z".
std::string TimeText(int64_t ms);
// The windows for people, as "from ... until ..., and from ...". Windows that meet are one.
std::string WindowsText(std::vector<Window> windows);

}  // namespace armature::archive

#endif  // ARMATURE_STORAGE_ARCHIVE_ARCHIVE_CHECK_H_
