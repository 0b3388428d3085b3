#ifndef ARMATURE_STORAGE_STORE_ROWS_H_
#define ARMATURE_STORAGE_STORE_ROWS_H_

// Reads of the rows of tables and indexes. No iterator or handle is held between calls, except by a KeyspaceSnapshot,
// which is for exports only.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"
#include "storage/store/keyspace.h"

namespace armature::store {

class ChangeLog;
class DamagedTables;
class RocksDb;

// Result of a point read. kWouldBlock: the row is not in memory and the caller asked not to wait for the disk.
enum class GetResult : uint8_t { kFound, kMissing, kWouldBlock };
// kMemoryOnly: memtables and block cache. kNoWait: the page cache, too, as far as the volume can tell and within
// DatabaseOptions::no_wait_read_bytes_max; for point reads, of calls that make one or two of them.
enum class ReadMode : uint8_t { kMayBlock, kMemoryOnly, kNoWait };

enum class Direction : uint8_t { kForward, kReverse };

// Keys in [begin, end); an empty `end` is the end of the keyspace.
struct KeyRange {
  std::string begin;
  std::string end;
};

// How a range read ended. kWouldBlock: the next row is not in memory, or behind very many deleted rows, and the caller
// asked not to wait. kPaused: a SkipLimit was reached.
enum class RangeEnd : uint8_t { kReached, kStopped, kWouldBlock, kPaused };

// Bounds the work that a range read spends on what it does not visit: deleted rows, and old versions of rows. They are
// in the way until a compaction removes them, and there may be as many of them as the table has ever had rows.
struct SkipLimit {
  uint64_t skipped_max;               // about this number in all
  absl::FunctionRef<bool()> goes_on;  // called once per thousand skipped in a row; false pauses the read at once
  // After kPaused: a key in the range. All rows up to and including it, in reading direction, were visited or do not
  // exist. Empty if there is none, which is possible only after `goes_on` returned false.
  std::string passed;
};

// A range visitor's decision about the row it was given.
enum class RowVerdict : uint8_t { kContinue, kStop };
// Called with the rows of a range. The views are valid during the call.
using RowVisitor = absl::FunctionRef<RowVerdict(std::string_view key, std::string_view value)>;

// Callbacks of ReadJoined. Both methods see the index entries in reading order. Choose runs ahead of Visit by up to a
// batch of entries.
class JoinVisitor {
 public:
  struct Choice {
    std::optional<std::string> row_key;          // key of the row to read; nullopt: the entry needs no row
    RowVerdict verdict = RowVerdict::kContinue;  // kStop: entries behind this one are not needed
  };

  virtual ~JoinVisitor() = default;
  // `entry` is valid during the call, in Choose and in Visit.
  virtual absl::StatusOr<Choice> Choose(std::string_view entry) = 0;
  // `row`: the row that Choose asked for; nullopt if it asked for none.
  virtual absl::StatusOr<RowVerdict> Visit(std::string_view entry, std::optional<std::string_view> row) = 0;
};

// A long-lived snapshot of one keyspace, made by Rows::TakeSnapshot. Shows the rows of one point in time,
// regardless of later writes.
//
// While a snapshot lives, rows that were overwritten or deleted after it stay on disk, in all keyspaces. The holder
// must bound its lifetime and the number of snapshots.
//
// Thread-safety: thread-safe. Lifetime: the database and the owner of the keyspace must outlive it.
class KeyspaceSnapshot {
 public:
  // Called by the store only.
  static std::unique_ptr<KeyspaceSnapshot> Take(RocksDb* db, const ColumnFamily& family, ChangeSequence sequence);
  ~KeyspaceSnapshot();
  KeyspaceSnapshot(const KeyspaceSnapshot&) = delete;
  KeyspaceSnapshot& operator=(const KeyspaceSnapshot&) = delete;

  // Like Rows::ReadRange, forward, and blocking. Blocks read from disk do not enter the block cache, because
  // snapshots are read as a whole.
  absl::StatusOr<RangeEnd> ReadRange(const KeyRange& range, RowVisitor visit) const;

  // The snapshot contains all changes up to this one. Changes committed while it was taken may be contained, too.
  ChangeSequence sequence() const { return sequence_; }

 private:
  struct Held;
  KeyspaceSnapshot(std::unique_ptr<Held> held, ChangeSequence sequence);

  const std::unique_ptr<Held> held_;
  const ChangeSequence sequence_;
};

// The rows of one database. A read of rows with damaged files fails.
//
// Thread-safety: thread-safe. Lifetime: the objects that it is made of outlive it.
class Rows {
 public:
  // `no_wait_bytes_max`: see DatabaseOptions::no_wait_read_bytes_max.
  Rows(RocksDb* db, const ChangeLog* log, const DamagedTables* damages, size_t no_wait_bytes_max)
      : db_(db), log_(log), damages_(damages), no_wait_bytes_max_(no_wait_bytes_max) {}

  // Reads one row into `value`, which is unspecified unless kFound.
  // Errors: DataLoss, Unavailable.
  absl::StatusOr<GetResult> Get(const Keyspace& keyspace, std::string_view key, ReadMode mode,
                                std::string* value) const;

  // Reads a counter of WriteUnit::AddCounter into `value`. A missing counter reads as 0, so the result is never
  // kMissing. Errors: as Get.
  absl::StatusOr<GetResult> GetCounter(const Keyspace& keyspace, std::string_view key, ReadMode mode,
                                       uint64_t* value) const;

  // Calls `visit(key, value)` for the rows of `range` in `direction`, until the visitor returns kStop or the range
  // ends. One call sees one point in time. The views are valid during the visit. Empty or inverted ranges visit
  // nothing. With kMemoryOnly some rows may already have been visited when the call returns kWouldBlock. `limit`, for
  // kMayBlock, may be null: no limit. Errors: DataLoss, Unavailable.
  absl::StatusOr<RangeEnd> ReadRange(const Keyspace& keyspace, const KeyRange& range, Direction direction,
                                     RowVisitor visit, ReadMode mode = ReadMode::kMayBlock,
                                     SkipLimit* limit = nullptr) const;

  // Visits the entries of `range` in `index` as ReadRange does, each together with the row of `rows` that the visitor
  // chooses for it. Entries and rows are those of one point in time.
  //
  // Errors: those of the visitor, DataLoss, Unavailable. DataLoss, with both keys, also if a chosen row is missing. The
  // entries before a failing entry are visited first; if the visitor stops among them, the error is not returned.
  // Cost: rows are read in batches. Up to 31 of them are read in vain when Visit stops before Choose does.
  absl::StatusOr<RangeEnd> ReadJoined(const Keyspace& index, const KeyRange& range, Direction direction,
                                      const Keyspace& rows, JoinVisitor* visitor, ReadMode mode = ReadMode::kMayBlock,
                                      SkipLimit* limit = nullptr) const;

  // A snapshot of `keyspace` that contains every acknowledged write. May take some milliseconds.
  std::unique_ptr<KeyspaceSnapshot> TakeSnapshot(const Keyspace& keyspace) const;

 private:
  RocksDb* const db_;
  const ChangeLog* const log_;
  const DamagedTables* const damages_;
  const size_t no_wait_bytes_max_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_ROWS_H_
