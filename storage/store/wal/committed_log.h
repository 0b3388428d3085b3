#ifndef ARMATURE_STORAGE_STORE_WAL_COMMITTED_LOG_H_
#define ARMATURE_STORAGE_STORE_WAL_COMMITTED_LOG_H_

// The write-ahead log of an open database, read by an archive: every batch that was written, in order, once it is
// durable.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/store/wal/log_batch.h"
#include "storage/store/wal/sync_mark.h"

namespace armature::store {

class LogKeeper;
class RocksDb;

// Batches of the log, without those that change no row.
struct LogChunk {
  std::vector<LogBatch> batches{};
  FamilyNamesById families{};  // that the batches name
  LogPosition end{};           // where the next chunk begins
  bool is_last = false;        // all that was durable when the call began
};

// A reader reads on from where the last chunk ended, also behind a restart: then the owner is still the one that it
// gave to Begin. Otherwise files of the log may be missing, and it begins anew.
//
// Thread-safety: thread-safe; one reader. Lifetime: as its database. Cost: no lock that a write waits for. With
// durability `interval` or `os`, and when the database rests, a call of Settle syncs the log.
class CommittedLog {
 public:
  CommittedLog(RocksDb* rocks, LogKeeper* keeper, std::string db_path, bool syncs_commits)
      : rocks_(rocks), keeper_(keeper), db_path_(std::move(db_path)), syncs_commits_(syncs_commits) {}

  std::string owner() const;
  // Why the owner that was there before is gone.
  std::string loss() const;
  // Makes `owner` the owner, and returns where its log begins: at what is durable now. Errors: Unavailable,
  // ResourceExhausted; there is no owner then.
  absl::StatusOr<LogPosition> Begin(std::string_view owner);

  // Makes durable what was acknowledged before the call. Errors: those of a log that cannot be synced.
  absl::Status Settle();
  // Makes all durable that is written. On any thread. Errors: as Settle.
  absl::Status Sync();
  // Reads what is durable from `from` on, up to about `bytes_max`, at least one batch. If the owner is another one when
  // it returns, batches may be missing. Errors: DataLoss, naming the
  // file, if the log is damaged, a file of it is missing, or it has not reached `from`; Unavailable.
  absl::StatusOr<LogChunk> Read(LogPosition from, size_t bytes_max);
  // The reader has what is before `position`.
  void Release(LogPosition position);

  // Sequence of the last write of the database.
  uint64_t last_sequence() const;
  // The greatest sequence that an archive of this log can have: that of the opening, or of what was read since. Called
  // by the reader.
  uint64_t known_sequence() const;
  // Size of the log files that only the reader needs.
  uint64_t waiting_bytes() const;

 private:
  std::string PathOf(uint64_t number) const;
  absl::StatusOr<uint64_t> ReadFile(LogPosition from, uint64_t to, const std::function<bool(LogBatch)>& take) const;
  // Errors: DataLoss if a whole record is behind `end`: the log is damaged there.
  absl::Status CheckEnd(uint64_t number, uint64_t end) const;
  // The first file behind `number`, or 0.
  absl::StatusOr<uint64_t> FileBehind(uint64_t number) const;
  absl::Status NameFamilies(LogChunk* chunk) const;

  RocksDb* const rocks_;
  LogKeeper* const keeper_;
  const std::string db_path_;
  const bool syncs_commits_;
  uint64_t read_sequence_ = 0;  // used by the reader: of the last write that it got
  LogPosition settled_;         // used by the reader: the end of the log when it was synced last for it
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_WAL_COMMITTED_LOG_H_
