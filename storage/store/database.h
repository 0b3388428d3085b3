#ifndef ARMATURE_STORAGE_STORE_DATABASE_H_
#define ARMATURE_STORAGE_STORE_DATABASE_H_

// The storage seam: all operations that the layers above use on durable storage.
//
// Nothing that reads or writes rows holds an iterator or a handle between calls, so that the engine can later run on
// storage that distributes partitions over machines. The one exception is KeyspaceSnapshot: it is for exports only, and
// few exist at a time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/base/timer_queue.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/commit/commits.h"
#include "storage/store/commit/idempotency.h"
#include "storage/store/damaged_tables.h"
#include "storage/store/disk_space.h"
#include "storage/store/expiry/expiry_index.h"
#include "storage/store/file_stats.h"
#include "storage/store/log/change_log.h"
#include "storage/store/options.h"
#include "storage/store/rows.h"
#include "storage/store/transfer_records.h"

namespace armature::store {

class BacklogCount;
class DamageKeeper;
class DataDirectory;
class DdlWorker;
class LogKeeper;
class CommittedLog;
class RocksDb;
class StreamKeeper;

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

// One database and its facets: each is an interface to a part of it, and lives as long as the database.
//
// Thread-safety: thread-safe. Lifetime: outlives all requests. The destructor first commits all queued units.
class Database {
 public:
  // Opens or creates the database in `options.path`, and completes or undoes work that a crash interrupted (tables half
  // created or half deleted). Errors: those of DataDirectory::Open; DataLoss with file and reason for damaged data.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const DatabaseOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const Rows& rows() const { return *rows_; }
  Commits& commits() { return *commits_; }
  // Idempotency tokens of requests.
  Tokens& tokens() { return *tokens_; }
  Catalog& tables() { return *catalog_; }
  std::shared_ptr<const CatalogSnapshot> catalog() const { return catalog_->snapshot(); }
  const DamagedTables& damages() const { return *damages_; }
  ChangeLog& change_log() const { return *log_; }
  StreamLog& streams() const { return *streams_; }
  const StreamKeeper& stream_keeper() const { return *stream_keeper_; }
  // Items by the time at which they expire.
  ExpiryIndex& expiry() const { return *expiry_; }
  // Records of exports, imports and bulk operations.
  TransferRecords& transfers() const { return *transfers_; }

  // The write-ahead log for an archive; null without DatabaseOptions::archived_log.
  CommittedLog* committed_log() const { return committed_log_.get(); }

  // Calls the listener of `owner` (on any thread) when Catalog::IsKnownToAll, or the set or the states of tables or
  // indexes, may have changed; null removes it. The listener must be short.
  void SetCatalogListener(const void* owner, std::function<void()> listener);

  // Change the settings of an open database: DatabaseOptions::disk_reserve, and cache_bytes, beyond which the cache
  // gives back memory at once.
  void ChangeDiskReserve(DiskReserve reserve);
  void ChangeCacheBytes(uint64_t bytes);

  const std::string& database_id() const;
  // May take some milliseconds with very many tables.
  DatabaseStats stats() const;
  // The disk part of stats(), at almost no cost.
  DiskReport disk_report() const;

 private:
  // BackupRepository copies the database's files.
  friend class BackupRepository;
  RocksDb* rocks() const { return rocks_db_.get(); }
  int format_version() const;

  Database();

  // In order of construction; destroyed in reverse.
  std::unique_ptr<DataDirectory> directory_;
  TimerQueue timers_;
  std::unique_ptr<LogKeeper> log_keeper_;
  std::unique_ptr<RocksDb> rocks_db_;
  std::unique_ptr<CommittedLog> committed_log_;
  std::unique_ptr<DamageKeeper> damage_keeper_;
  std::unique_ptr<SequenceTickets> tickets_;
  std::unique_ptr<StreamLog> streams_;
  std::unique_ptr<StreamKeeper> stream_keeper_;
  std::unique_ptr<ExpiryIndex> expiry_;
  std::unique_ptr<TransferRecords> transfers_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<DamagedTables> damages_;
  std::unique_ptr<ChangeLog> log_;
  std::unique_ptr<Rows> rows_;
  std::unique_ptr<Tokens> tokens_;
  std::unique_ptr<DdlWorker> ddl_;
  std::unique_ptr<BacklogCount> backlog_count_;
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<FamilyMaker> families_;
  std::unique_ptr<Commits> commits_;
  std::unique_ptr<DiskGuard> guard_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DATABASE_H_
