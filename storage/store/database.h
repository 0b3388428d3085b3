#ifndef ARMATURE_STORAGE_STORE_DATABASE_H_
#define ARMATURE_STORAGE_STORE_DATABASE_H_

// The storage seam: everything the layers above may ask of durable storage.
//
// Get, ReadRange, ReadJoined, Commit, and waiting on the change log. Nothing else crosses it: no iterator and no handle
// is held between calls, so that the same engine can one day run on storage that spreads partitions over machines. The
// one exception, a snapshot, is for exports only, and few of them.

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
#include "storage/store/keyspace.h"
#include "storage/store/log/change_log.h"
#include "storage/store/options.h"

namespace armature::store {

struct DatabaseStats;
struct DiskReport;
class KeyspaceSnapshot;
class RocksDb;

// What a point read found. kWouldBlock: the row is not in memory and the caller asked not to wait for the disk.
enum class GetResult : uint8_t { kFound, kMissing, kWouldBlock };
enum class ReadMode : uint8_t { kMayBlock, kMemoryOnly };

enum class Direction : uint8_t { kForward, kReverse };

// Keys in [begin, end); an empty `end` is the end of the keyspace.
struct KeyRange {
  std::string begin;
  std::string end;
};

// How a walk over a range came to its end. kWouldBlock: the next row is not in memory, or is behind very many
// deleted ones, and the caller asked not to wait.
enum class RangeEnd : uint8_t { kReached, kStopped, kWouldBlock };

// What the visitor of a range says of the row it got.
enum class RowVerdict : uint8_t { kContinue, kStop };

// What ReadJoined asks about the entries of an index, and gives them to. Both methods see the entries in reading order;
// Choose runs ahead of Visit by some tens of entries.
class JoinVisitor {
 public:
  struct Choice {
    std::optional<std::string> row_key;          // of the row that belongs to the entry; nullopt: it is not wanted
    RowVerdict verdict = RowVerdict::kContinue;  // kStop: no entry behind this one will be needed
  };

  virtual ~JoinVisitor() = default;
  // `entry` is valid during the call, here and below.
  virtual absl::StatusOr<Choice> Choose(std::string_view entry) = 0;
  // `row`: what Choose has asked for; nullopt if it did not.
  virtual absl::StatusOr<RowVerdict> Visit(std::string_view entry, std::optional<std::string_view> row) = 0;
};

// Thread-safety: thread-safe. Lifetime: outlives all requests; Close (or the destructor) commits what waits first.
class Database {
 public:
  // Opens or makes the database in `options.path`, finishes what a crash cut off (tables half made or half deleted).
  // Errors: those of DataDirectory::Open; DataLoss with file and reason for damaged data. Nothing is served then.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const DatabaseOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Reads one row into `value`, which is unspecified unless kFound.
  // Errors: DataLoss, Unavailable.
  absl::StatusOr<GetResult> Get(const Keyspace& keyspace, std::string_view key, ReadMode mode,
                                std::string* value) const;

  // Reads a counter of WriteUnit::AddCounter into `value`: 0 if there is none, so never kMissing. Errors: as Get.
  absl::StatusOr<GetResult> GetCounter(const Keyspace& keyspace, std::string_view key, ReadMode mode,
                                       uint64_t* value) const;

  // Calls `visit(key, value)` for the rows of `range` in key order or against it, until it says kStop or the range
  // ends. One call sees one moment. The views are valid during the visit. Empty or inverted ranges visit nothing. With
  // kMemoryOnly some rows may have been visited when it turns out that the next one would block. Errors: DataLoss,
  // Unavailable.
  absl::StatusOr<RangeEnd> ReadRange(const Keyspace& keyspace, const KeyRange& range, Direction direction,
                                     absl::FunctionRef<RowVerdict(std::string_view key, std::string_view value)> visit,
                                     ReadMode mode = ReadMode::kMayBlock) const;

  // Visits the entries of `range` in `index` as ReadRange does, each together with the row of `rows` that the visitor
  // chooses for it. Entries and rows are those of one moment.
  //
  // Errors: those of the visitor, DataLoss, Unavailable. DataLoss too, with both keys, if a chosen row is missing. An
  // error about an entry or its row is returned after the entries before it were visited, unless the visitor stopped
  // there.
  // Cost: rows are read in batches; up to 31 of them may be read in vain when Visit stops before Choose did.
  absl::StatusOr<RangeEnd> ReadJoined(const Keyspace& index, const KeyRange& range, Direction direction,
                                      const Keyspace& rows, JoinVisitor* visitor,
                                      ReadMode mode = ReadMode::kMayBlock) const;

  // `keyspace` as it is now: with all that was answered before. May take some milliseconds.
  std::unique_ptr<KeyspaceSnapshot> TakeSnapshot(const Keyspace& keyspace) const;

  // Commits a write unit; see Committer::Commit.
  void Commit(WriteUnit unit, CommitCallback done);
  void CommitAll(std::vector<WriteUnit> units, CommitCallback done);
  void CommitEach(std::vector<Commitment> commitments);

  // Tokens of requests; see idempotency.h. `record` is unspecified unless kFound. Errors: as Get.
  absl::StatusOr<GetResult> FindToken(std::string_view token, ReadMode mode, TokenRecord* record) const;
  // Adds the record of `token` to `unit`, to be committed with what the request did.
  void AddToken(std::string_view token, const TokenRecord& record, WriteUnit* unit) const;
  absl::StatusOr<TokenSweep> SweepExpiredTokens(int64_t now_ms, const std::string& from, size_t max,
                                                absl::FunctionRef<bool(std::string_view token)> claim);

  // For consumers of the change log: writes `unit` and moves the cursors of `table` in one batch, without fsync.
  // Exactly once by atomicity: what a crash takes back is consumed again.
  absl::Status CommitConsumed(const WriteUnit& unit, TableId table,
                              const std::vector<std::pair<IndexId, ChangeSequence>>& cursors);
  ChangeLog& change_log();

  // The life of a global index that is added to a live table; see IndexBuild. All but the first two write.
  //
  // Whether all who hold the table `table` hold it with the index that was added last.
  bool IsKnownToAll(TableId table) const;
  // Calls `listener` (on any thread) when that, or the set of tables or indexes, may have changed; null to stop. It
  // must be short.
  void SetCatalogListener(std::function<void()> listener);
  // Notes the position of the log, from which on the index will apply it, and begins the scan.
  absl::Status BeginIndexScan(TableId table, const Index& index);
  // Writes entries that the scan has made, and how far it is, in one batch, without fsync.
  absl::Status CommitBuilt(const WriteUnit& unit, TableId table, const Index& index, const BuildState& state);
  // The index has caught up, becomes ACTIVE. Does nothing if it was removed meanwhile.
  absl::Status ActivateIndex(TableId table, IndexId index);

  std::shared_ptr<const CatalogSnapshot> catalog() const;
  // See Catalog::Add and MarkDeleting. The work goes on in the background.
  absl::StatusOr<model::TableDescriptor> CreateTable(model::TableDescriptor descriptor);
  absl::StatusOr<model::TableDescriptor> DeleteTable(std::string_view name);
  // See Catalog::Update. Durable and visible when it returns; families that it needs or needs no more are made and
  // dropped in the background.
  absl::StatusOr<std::optional<model::TableDescriptor>> UpdateTable(
      std::string_view name, absl::FunctionRef<absl::Status(model::TableDescriptor*)> change);

  // Waits until the table is gone, or can be read and written. False if that takes longer.
  bool AwaitOpen(TableId table, absl::Duration patience) const;
  // Ends the life of a table that is being restored as such: from now on it is one like any other, or it goes. Nothing
  // happens if there is none of that id. UpdateTable and DeleteTable refuse it before with ResourceInUse, and a start
  // that finds it so deletes it.
  absl::Status FinishRestore(TableId table);
  absl::Status AbandonRestore(TableId table);

  // Ends all waits for global indexes, now and later, with `status`: before the server stops.
  void EndWaits(const absl::Status& status);

  // For status reports.
  const std::string& database_id() const;
  size_t column_family_count() const;
  CommitterCounters committer_counters() const;
  // May take some milliseconds with very many tables.
  DatabaseStats stats() const;
  // A part of stats() that costs next to nothing.
  DiskReport disk_report() const;

 private:
  // Copies its files.
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
