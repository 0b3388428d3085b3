#ifndef ARMATURE_STORAGE_ARCHIVE_ARCHIVE_DIRECTORY_H_
#define ARMATURE_STORAGE_ARCHIVE_ARCHIVE_DIRECTORY_H_

// The files of an archive. docs/reference/format.md, "Archive".
//
//   armature.archive        which database it is of
//   LOCK                    locked by the process that writes
//   bases/                  a directory of backups (storage/store/backup)
//   chains/<number>/chain   a chain: why and where it began
//   chains/<number>/base.<backup>    a backup from which the chain can be replayed
//   chains/<number>/head    how far the chain is complete
//   chains/<number>/<index>.segment  its segments; segment.h
//
// All but the segments and the backups are records of text_record.h.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/archive/segment.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/files/volume.h"
#include "storage/store/wal/sync_mark.h"

namespace armature::archive {

// A gapless run of segments. Another one begins when writes could not be archived.
struct Chain {
  uint64_t number = 0;
  std::string id{};  // random
  int64_t began_ms = 0;
  store::LogPosition start{};  // where its first segment begins in the log
  std::string reason{};        // why it began
};

struct Base {
  store::BackupId backup = 0;
  uint64_t first_segment = 0;  // the backup has all of the segments before, and perhaps some of it and those behind
  int64_t from_ms = 0;         // the backup has nothing of later times
  uint64_t from_sequence = 0;  // nor of higher sequences
};

struct ChainHead {
  uint64_t segments = 0;  // index of the last one
  uint64_t sequence = 0;  // of the last write in it
  int64_t until_ms = 0;   // everything that was acknowledged before is in the segments
};

// A chain as its files tell.
struct KnownChain {
  Chain chain{};
  std::optional<ChainHead> head{};
  std::vector<Base> bases{};            // by number of the backup
  std::vector<uint64_t> segments{};     // indexes of those that are there, ascending
  std::vector<std::string> problems{};  // names of files that are damaged or cannot be read, with the reason
  // The first error of a file that could not be read, and is perhaps whole: the facts above lack what is in it.
  absl::Status unreadable{};

  // Index of the last segment that must be there; 0: none.
  uint64_t last_segment() const;
  // The first segment that is there from `index` on; the number behind last_segment() if there is none.
  uint64_t next_segment(uint64_t index) const;
};

// True if `status` tells that a file of an archive is damaged, missing or of a newer build. Another error tells nothing
// about the file: the next attempt may read it.
bool IsDamage(const absl::Status& status);

// Thread-safety: thread-safe, with one writer. Errors of all: Unavailable, ResourceExhausted, each with the path.
class ArchiveDirectory {
 public:
  // Errors: NotFound if there is no archive; FailedPrecondition if its format is newer; DataLoss.
  static absl::StatusOr<std::unique_ptr<ArchiveDirectory>> OpenToRead(const std::string& path);
  // Makes a missing archive if `may_make`, else it is Unavailable. Errors: FailedPrecondition if it is of another
  // database, or of something else, or another process writes to it.
  static absl::StatusOr<std::unique_ptr<ArchiveDirectory>> OpenToWrite(const std::string& path,
                                                                       const std::string& database_id, bool may_make);

  const std::string& path() const { return path_; }
  const std::string& database_id() const { return database_id_; }
  std::string bases_path() const;
  store::Volume* volume() const { return volume_; }

  // Errors: Unavailable if the archive is away, as one on a file system that is not mounted: nothing must be made
  // there.
  absl::Status CheckThere() const;

  // All chains by number. Files that are damaged or cannot be read are problems of their chain, not errors: a restore
  // needs the others. Errors: also Unavailable if the chains are gone from an archive that this process writes.
  absl::StatusOr<std::vector<KnownChain>> ReadChains() const;
  // Reads and checks a segment. Errors: NotFound; DataLoss; FailedPrecondition for a newer format.
  absl::StatusOr<Segment> ReadSegment(uint64_t chain, uint64_t index) const;
  std::string SegmentPath(uint64_t chain, uint64_t index) const;

  // Keeps a base, and what is behind it, from being removed while the result lives. Errors: NotFound.
  absl::StatusOr<std::unique_ptr<store::VolumeLock>> HoldBase(store::BackupId backup) const;

  absl::Status WriteChain(const Chain& chain);
  absl::Status WriteBase(uint64_t chain, const Base& base);
  absl::Status WriteHead(uint64_t chain, const ChainHead& head);
  absl::Status WriteSegment(uint64_t chain, uint64_t index, const std::string& bytes);

  absl::Status RemoveBase(uint64_t chain, store::BackupId backup);
  absl::Status RemoveSegment(uint64_t chain, uint64_t index);
  absl::Status RemoveChain(uint64_t chain);

 private:
  ArchiveDirectory(store::Volume* volume, std::string path) : volume_(volume), path_(std::move(path)) {}
  absl::Status ReadMark();
  std::string ChainPath(uint64_t chain) const;
  absl::StatusOr<KnownChain> ReadChain(uint64_t number) const;

  store::Volume* const volume_;
  const std::string path_;
  std::string database_id_;
  std::unique_ptr<store::VolumeLock> lock_;
};

}  // namespace armature::archive

#endif  // ARMATURE_STORAGE_ARCHIVE_ARCHIVE_DIRECTORY_H_
