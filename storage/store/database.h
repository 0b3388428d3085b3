#ifndef ARMATURE_STORAGE_STORE_DATABASE_H_
#define ARMATURE_STORAGE_STORE_DATABASE_H_

// The storage seam: all operations that the layers above use on durable storage.
//
// Operations: Get, ReadRange, ReadJoined, Commit, and waits on the change log. No iterator or handle is held between
// calls, so that the engine can later run on storage that distributes partitions over machines. The one exception is
// KeyspaceSnapshot: it is for exports only, and few exist at a time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/base/strong_type.h"
#include "storage/base/timer_queue.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/commit/committer.h"
#include "storage/store/commit/idempotency.h"
#include "storage/store/commit/write_unit.h"
#include "storage/store/damaged_families.h"
#include "storage/store/disk_space.h"
#include "storage/store/expiry/expiry_index.h"
#include "storage/store/keyspace.h"
#include "storage/store/log/change_log.h"
#include "storage/store/options.h"
#include "storage/store/transfer_records.h"

namespace armature::store {

class RocksDb;
class StreamKeeper;

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

// A long-lived snapshot of one keyspace, made by Database::TakeSnapshot. Shows the rows of one point in time,
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

  // Like Database::ReadRange, forward, and blocking. Blocks read from disk do not enter the block cache, because
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

// Sums over all column families. Members named `_total` count since the start, the others are current values.
struct FileStats {
  uint64_t cache_bytes = 0;
  uint64_t cache_max_bytes = 0;
  uint64_t cache_pinned_bytes = 0;
  uint64_t cache_hits_total = 0;
  uint64_t cache_misses_total = 0;
  uint64_t filter_useful_total = 0;
  uint64_t memtable_bytes = 0;
  uint64_t memtable_max_bytes = 0;
  uint64_t table_reader_bytes = 0;
  uint64_t file_bytes = 0;
  uint64_t log_bytes_total = 0;
  uint64_t log_syncs_total = 0;
  uint64_t flush_bytes_total = 0;
  uint64_t compaction_read_bytes_total = 0;
  uint64_t compaction_written_bytes_total = 0;
  uint64_t compaction_pending_bytes = 0;
  uint64_t flushes_running = 0;
  uint64_t compactions_running = 0;
  uint64_t stall_micros_total = 0;
  uint64_t write_stopped = 0;
  uint64_t delayed_write_bytes_per_second = 0;
  uint64_t background_errors_total = 0;
};

// A table or an index with a damaged file, or, without a name, the streams or another part that tables share.
struct DamagedPart {
  std::string table;  // empty: a part that tables share
  std::string index;  // empty: the table itself
  FamilyDamage damage;
};
// "table Orders", "index by_date of table Orders", "the streams".
std::string NameOf(const DamagedPart& part);
DamagedPart PartOf(const std::vector<model::TableDescriptor>& tables, FamilyDamage damage);

// The state of a database in numbers, for metrics and status reports.
struct DatabaseStats {
  CommitterCounters committer;
  DiskReport disk;
  FileStats files;
  size_t column_families = 0;         // that are made
  size_t column_families_needed = 0;  // that all tables and indexes need once each was written
  size_t column_families_max = 0;     // limit on those that are needed
  uint64_t change_sequence = 0;
};

// Thread-safety: thread-safe. Lifetime: outlives all requests. The destructor first commits all queued units.
class Database {
 public:
  // Opens or creates the database in `options.path`, and completes or undoes work that a crash interrupted (tables half
  // created or half deleted). Errors: those of DataDirectory::Open; DataLoss with file and reason for damaged data.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const DatabaseOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

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

  // Commits a write unit; see Committer::Commit.
  std::optional<CommitEpoch> Commit(WriteUnit unit, CommitCallback done, const CommitTerms& terms = {});
  std::optional<CommitEpoch> CommitAll(std::vector<WriteUnit> units, CommitCallback done,
                                       const CommitTerms& terms = {});
  std::vector<std::optional<CommitEpoch>> CommitEach(std::vector<Commitment> commitments);
  // See Committer::WhenDurable.
  void WhenDurable(CommitEpoch decided_on, size_t held_bytes, CommitCallback done);
  // Limit on the bytes of queued commits.
  size_t commit_queue_bytes_max() const;
  // The sequence with which a write that changes nothing is answered. Errors: ServiceUnavailable after a write has
  // failed: the restart decides whether the failed write is there, so nothing may be acknowledged behind it.
  absl::StatusOr<ChangeSequence> CommitNothing() const;

  // Idempotency tokens of requests; see idempotency.h. `record` is unspecified unless kFound. Errors: as Get.
  absl::StatusOr<GetResult> FindToken(std::string_view token, ReadMode mode, TokenRecord* record) const;
  // Adds the record of `token` to `unit`, to be committed together with the effects of the request.
  void AddToken(std::string_view token, const TokenRecord& record, WriteUnit* unit) const;
  absl::StatusOr<int64_t> LastTokenExpiry() const;
  absl::StatusOr<TokenSweep> SweepExpiredTokens(int64_t now_ms, const std::string& from, size_t max,
                                                absl::FunctionRef<bool(std::string_view token)> claim);

  // For consumers of the change log: writes `unit` and moves the cursors of `table` in one batch, without fsync. The
  // batch is atomic, so changes are applied exactly once: a consumer repeats what a crash undoes.
  absl::Status CommitConsumed(const WriteUnit& unit, TableId table,
                              const std::vector<std::pair<IndexId, ChangeSequence>>& cursors);
  ChangeLog& change_log();
  // The streams of tables and their records.
  StreamLog& streams() const;
  const StreamKeeper& stream_keeper() const;

  // Items by the time at which they expire.
  ExpiryIndex& expiry() const;
  // Records of exports, imports and bulk operations.
  TransferRecords& transfers() const;

  // Steps in the construction of a global index on a live table; see IndexBuild. All but the first two write.
  //
  // True when all holders of `table` see it with the index that was added last.
  bool IsKnownToAll(TableId table) const;
  // Calls the listener of `owner` (on any thread) when IsKnownToAll, or the set or the states of tables or indexes, may
  // have changed; null removes it. The listener must be short.
  void SetCatalogListener(const void* owner, std::function<void()> listener);
  // Records the log position from which the index will apply changes, and begins the scan.
  absl::Status BeginIndexScan(TableId table, const Index& index);
  // Writes entries made by the scan together with its progress in one batch, without fsync.
  absl::Status CommitBuilt(const WriteUnit& unit, TableId table, const Index& index, const BuildState& state);
  // Makes an index that has caught up ACTIVE. Does nothing if the index was removed meanwhile.
  absl::Status ActivateIndex(TableId table, IndexId index);

  std::shared_ptr<const CatalogSnapshot> catalog() const;
  // See Catalog::Add and MarkDeleting. The remaining work is done in the background.
  absl::StatusOr<model::TableDescriptor> CreateTable(model::TableDescriptor descriptor);
  absl::StatusOr<model::TableDescriptor> DeleteTable(std::string_view name);
  // See Catalog::Update. Durable and visible when it returns. Column families are dropped in the background.
  absl::StatusOr<std::optional<model::TableDescriptor>> UpdateTable(
      std::string_view name, absl::FunctionRef<absl::Status(model::TableDescriptor*)> change);

  // Waits until the table can be read and written, or is gone. Returns false if that takes longer than `patience`.
  bool AwaitOpen(TableId table, absl::Duration patience) const;
  // Ends the restore state of a table: FinishRestore makes it an ordinary table, AbandonRestore deletes it. Both do
  // nothing if no such table exists. Before that, UpdateTable and DeleteTable refuse the table with ResourceInUse, and
  // opening the database deletes it, unless it is being imported.
  absl::Status FinishRestore(TableId table);
  absl::Status AbandonRestore(TableId table);

  // Damage that was found in table files while they were compacted. A damaged table is set apart, so that the others go
  // on: its reads and writes fail. A damaged index fails its reads; if it is a global one, it may be deleted and added
  // again.
  std::vector<DamagedPart> damages() const;
  // Errors: DataLoss in the words of the API, naming table and file, if files of the table are damaged.
  absl::Status CheckWhole(const Table& table) const;

  // Ends all waits for global indexes, present and future, with `status`. Called before the server stops.
  void EndWaits(const absl::Status& status);

  // Facts for status reports.
  const std::string& database_id() const;
  size_t column_family_count() const;
  CommitterCounters committer_counters() const;
  // May take some milliseconds with very many tables.
  DatabaseStats stats() const;
  // The disk part of stats(), at almost no cost.
  DiskReport disk_report() const;

 private:
  // Errors: those of CheckWhole, for the rows or entries of a keyspace.
  absl::Status CheckReadable(const Keyspace& keyspace) const;
  absl::Status CheckWritable(const WriteUnit& unit) const;

  // BackupRepository copies the database's files.
  friend class BackupRepository;
  RocksDb* rocks() const;
  int format_version() const;

  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  absl::StatusOr<model::TableDescriptor> Delete(std::string_view name);
  void AbandonRestores();

  std::unique_ptr<Impl> impl_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DATABASE_H_
