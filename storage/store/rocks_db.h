#ifndef ARMATURE_STORAGE_STORE_ROCKS_DB_H_
#define ARMATURE_STORAGE_STORE_ROCKS_DB_H_

// Owns the storage engine and its column families. Inside the store only.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/db.h"
#include "rocksdb/statistics.h"
#include "rocksdb/write_batch.h"
#include "storage/store/damaged_families.h"
#include "storage/store/dead_ranges.h"
#include "storage/store/disk_space.h"
#include "storage/store/keyspace.h"
#include "storage/store/log_files.h"
#include "storage/store/memtable/read_horizon.h"
#include "storage/store/meta_keys.h"
#include "storage/store/options.h"
#include "storage/store/spare_file.h"
#include "storage/store/wal/log_batch.h"
#include "storage/store/wal/log_check.h"
#include "storage/store/wal/log_keeper.h"

namespace armature::store {

struct FileStats;

// The column family behind a Keyspace. The family of a table or an index is made in RocksDB before the first write to
// it; until then it has no handle, and no rows.
//
// A reader that finds no handle has read the empty family, as of that moment. A reader of a snapshot loads the handle
// after it took the snapshot: rows of a family that is made later are not in the snapshot.
//
// Thread-safety: thread-safe. The handle is set once.
class ColumnFamily {
 public:
  ColumnFamily(std::string name, rocksdb::ColumnFamilyHandle* handle)
      : is_of_table_(IsTableFamilyName(name)), handle_(handle), stats_(std::move(name), StatsDelta{}) {}

  const std::string& name() const { return stats_.family_name(); }
  // Null until the family is made. Destroyed by its database.
  rocksdb::ColumnFamilyHandle* handle() const { return handle_.load(std::memory_order_acquire); }
  bool is_made() const { return handle() != nullptr; }
  // True for the families of tables and indexes; false for those that every database has.
  bool is_of_table() const { return is_of_table_; }
  KeyspaceStats* stats() { return &stats_; }

 private:
  friend class RocksDb;
  const bool is_of_table_;
  std::atomic<rocksdb::ColumnFamilyHandle*> handle_;
  KeyspaceStats stats_;
};

// Thread-safety: thread-safe. Families are created and dropped by one thread at a time; others wait for it.
// Lifetime: outlives every ColumnFamily pointer it returns. DropFamilies destroys the objects of dropped families.
class RocksDb {
 public:
  // `if_missing`: action when `path`, a directory, holds no database. kFail returns DataLoss. DataLoss, too, if files
  // of the write-ahead log are missing or damaged; the text names them.
  enum class IfMissing { kCreate, kFail };
  // kAcceptLosses: missing files of the log are forgotten, damaged records in it are skipped. kAcceptLostFiles: like
  // kAcceptLosses, and table files that cannot be opened are accepted, too; the caller drops their families.
  enum class IfDamaged { kRefuse, kAcceptLosses, kAcceptLostFiles };
  // `keeper`, which outlives the database, keeps the files of the write-ahead log, and each batch gets its time. Null:
  // no archive can continue behind this opening.
  static absl::StatusOr<std::unique_ptr<RocksDb>> Open(const std::string& path, const DatabaseOptions& options,
                                                       IfMissing if_missing = IfMissing::kCreate,
                                                       IfDamaged if_damaged = IfDamaged::kRefuse,
                                                       LogKeeper* keeper = nullptr);
  ~RocksDb();
  RocksDb(const RocksDb&) = delete;
  RocksDb& operator=(const RocksDb&) = delete;

  rocksdb::DB* db() { return db_.get(); }
  ColumnFamily* meta() { return meta_; }
  ColumnFamily* log() { return log_; }
  ColumnFamily* stream() { return stream_; }
  ColumnFamily* expiry() { return expiry_; }
  // Where reads of tables, of indexes and of meta are registered; see read_horizon.h.
  ReadHorizon* horizon() { return &horizon_; }
  DeadRanges* dead_ranges() { return &dead_ranges_; }
  DamagedFamilies* damages() { return &damages_; }

  // Returns the family called `name` if it is made, else null.
  ColumnFamily* Find(std::string_view name);
  // Returns the family of a table or an index, made or not. Errors: DataLoss if it had rows before the database was
  // opened, and is missing.
  absl::StatusOr<ColumnFamily*> Place(const std::string& name);
  // The families that are made, by their ids in batches.
  FamilyNamesById FamilyIds();
  // Sequence of the last write that the database had when it was opened. The next one may have a higher one than the
  // number behind.
  uint64_t opened_sequence() const { return opened_sequence_; }
  uint64_t last_sequence() { return db_->GetLatestSequenceNumber(); }
  // Names and number of the families that are made.
  std::vector<std::string> FamilyNames();
  size_t family_count();
  // Limit on the number of families that all tables and indexes together may need.
  size_t table_families_max() const { return options_.column_families_max; }

  // Makes those of `names` that are not made, in one call.
  absl::Status CreateFamilies(const std::vector<std::string>& names);
  // Drops those of `names` that are made, and forgets all of them. The caller ensures that no one uses them. On an
  // error some of them may be dropped; the others remain.
  absl::Status DropFamilies(const std::vector<std::string>& names);

  // Drops those of the families `names` that every database has, but meta, with all rows, and makes them anew. After an
  // error the next start makes them.
  absl::Status RemakeShared(const std::vector<std::string>& names);
  // Ends the automatic compactions of a family, if it is made: its files hold no writes back from then on. As each
  // change of options, it takes effect first, and then waits for the writes that the files of other families hold back.
  // See CompactionSwitches for a thread that must not wait. A family may be dropped meanwhile.
  absl::Status StopCompactions(std::string_view name);
  // Begins the automatic compactions of a family again, and waits as StopCompactions does. The family's files hold no
  // writes back until the database is opened again.
  absl::Status StartCompactions(std::string_view name);
  // True if StopCompactions has nothing to do.
  bool AreCompactionsStopped(std::string_view name);
  // Makes all writes that are held back look whether they still are: RocksDB does not wake them.
  void WakeWrites();
  // The path of a table file of a family; empty if the family does not have it. A family may be dropped meanwhile.
  std::string PathOf(std::string_view family, std::string_view file);

  // Blocks the creation and dropping of families by any thread until ReleaseFamilies. To be held briefly.
  void HoldFamilies();
  void ReleaseFamilies();

  // True if `family` has no key.
  absl::StatusOr<bool> IsEmpty(const ColumnFamily& family);
  // Point read. nullopt if the key does not exist.
  absl::StatusOr<std::optional<std::string>> Get(const ColumnFamily& family, std::string_view key);
  // Calls fn(key, value) for every key that begins with `prefix`.
  template <class Fn>
  absl::Status ForEachWithPrefix(const ColumnFamily& family, std::string_view prefix, Fn fn);

  // The only way to write to the database. A batch that names a dropped family is applied without that part: an error
  // would stop all later writes of the engine. After a write failed for lack of space, all writes return
  // ServiceUnavailable until Resume. A batch that is synced gets a mark in the log; see SyncMark.
  absl::Status Write(rocksdb::WriteBatch* batch, bool sync, std::string_view context);
  // Write with `sync` that fails instead of waiting while the engine resumes or holds writes back.
  absl::Status TryWrite(rocksdb::WriteBatch* batch, std::string_view context);
  // How far the write-ahead log is synced.
  LogPosition synced_log() const { return log_files_.synced(); }
  // Makes all writes without `sync` durable.
  absl::Status SyncLog();

  // Re-enables writes after one failed for lack of space or descriptors: flushes all memtables, so that the failed log
  // is not needed any more, and begins a new log. Waits for writes in progress and blocks new ones. Errors, with
  // nothing changed: ResourceExhausted if there is still no space, Unavailable.
  absl::Status Resume();
  // Calls `resumed` after each Resume that succeeded, on its thread. It must only take a note. Null removes it; it is
  // not running when the call returns.
  void SetResumeListener(std::function<void()> resumed);
  // Ends a present or future Resume with an error. Called before the database closes.
  void CancelResume();
  // Call periodically from one thread: keeps Resume, and a start on a full disk, possible.
  void KeepResumable();
  // Call periodically from one thread, with the time of a monotonic clock: writes the memtables of some families that
  // were not written for DatabaseOptions::idle_flush_ms. They release their memory, and the log is not needed for them.
  void FlushIdle(int64_t now_ns);

  // Number of writes of clients so far: background work gives way to them.
  uint64_t client_writes() const { return client_writes_.load(std::memory_order_relaxed); }
  void CountClientWrites(uint64_t count) { client_writes_.fetch_add(count, std::memory_order_relaxed); }

  FileStats file_stats();
  // Free space that must be left for the spare file.
  uint64_t spare_bytes() const { return spare_.is_released() ? SpareFile::kBytes : 0; }
  // Size of all memtables, including those that are being flushed.
  uint64_t memtable_bytes();

  // Outlives the objects opened from this database.
  DiskSpace* space() { return &space_; }
  // The size of the block cache from now on.
  void ChangeCacheBytes(uint64_t bytes);
  // The place of the database's files.
  Volume* volume() const { return options_.volume; }
  // To be called between a read and its answer. Errors: ServiceUnavailable if the volume may have another owner.
  absl::Status CheckCurrent() const;

 private:
  RocksDb(const std::string& path, const DatabaseOptions& options, CheckedLogs logs, LogKeeper* keeper);
  // Writes a mark to the log. False if that is not possible now.
  bool WriteMark();
  absl::Status OpenFamilies(const std::string& path, IfMissing if_missing, IfDamaged if_damaged);
  bool LacksSpaceToReplay(const std::string& path) const;
  rocksdb::ColumnFamilyOptions MakeFamilyOptions(std::string_view name) const;
  rocksdb::Status ShrinkMemtables();
  absl::Status WriteInGate(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* batch, std::string_view context)
      ABSL_SHARED_LOCKS_REQUIRED(write_gate_);
  rocksdb::Status WriteNoted(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* batch);
  absl::Status MakeShared();
  absl::Status LoadStats();
  void AddFamily(rocksdb::ColumnFamilyHandle* handle) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Fits the budget of memtables to the number of families.
  void SetMemtableBudget() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The handles of all families that are made.
  std::vector<rocksdb::ColumnFamilyHandle*> Handles();
  absl::Status AfterWrite(const rocksdb::Status& status, std::string_view context);
  rocksdb::Status ResumeEngine();

  const DatabaseOptions options_;
  DiskSpace space_;
  DamagedFamilies damages_;
  const CheckedLogs logs_;
  LogKeeper* const keeper_;
  uint64_t opened_sequence_ = 0;
  SpareFile spare_;  // used by the open, then by the thread of KeepResumable
  LogFiles log_files_;
  const std::unique_ptr<rocksdb::Env> env_;
  const std::shared_ptr<rocksdb::Cache> cache_;
  const std::shared_ptr<rocksdb::WriteBufferManager> memtables_;  // counts the memtables of all families
  const std::shared_ptr<rocksdb::Statistics> statistics_;
  ReadHorizon horizon_;
  DeadRanges dead_ranges_;
  // For the families of tables and indexes, and for meta.
  const std::shared_ptr<rocksdb::MemTableRepFactory> collapsing_memtables_;
  std::unique_ptr<rocksdb::DB> db_;
  // Held shared by operations that change files, and exclusively by Resume: during a resume RocksDB would accept writes
  // for the failed log.
  absl::Mutex write_gate_;
  std::atomic<bool> resume_cancelled_ = false;
  absl::Mutex resume_listener_mutex_;
  std::function<void()> on_resumed_ ABSL_GUARDED_BY(resume_listener_mutex_);
  std::atomic<uint64_t> client_writes_ = 0;
  // Size of a memtable, if it differs from the configured one, because the log was replayed without space for flushes.
  size_t replayed_memtable_bytes_ = 0;
  void FlushIdleFamilies(int64_t now_ns, int64_t idle_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(drop_mutex_);
  struct MemtableFill {
    uint64_t entries = 0;
    int64_t since_ns = 0;
  };
  // Used by the thread of FlushIdle.
  std::map<uint32_t, MemtableFill> fill_;  // by id of the family
  int64_t next_idle_scan_ns_ = 0;
  absl::Mutex drop_mutex_;     // held while families are dropped, or their handles used by FlushIdle
  absl::Mutex families_gate_;  // held while families are created or dropped
  bool families_free_ ABSL_GUARDED_BY(families_gate_) = true;
  absl::Mutex mutex_;
  std::map<std::string, std::unique_ptr<ColumnFamily>, std::less<>> families_ ABSL_GUARDED_BY(mutex_);
  size_t made_ ABSL_GUARDED_BY(mutex_) = 0;  // number of families that are made
  // Numbers of the uses by StopCompactions and the like. A lock would not do: a drop that waits for one family, whose
  // use waits for a write, must not keep others from the use of the family that holds the write back.
  class HandleUse;
  std::map<const rocksdb::ColumnFamilyHandle*, int> handle_uses_ ABSL_GUARDED_BY(mutex_);
  // Names of the families that had totals when the database was opened: all that had rows, and were counted.
  std::set<std::string, std::less<>> counted_;
  ColumnFamily* meta_ = nullptr;
  ColumnFamily* log_ = nullptr;
  ColumnFamily* stream_ = nullptr;
  ColumnFamily* expiry_ = nullptr;
};

template <class Fn>
absl::Status RocksDb::ForEachWithPrefix(const ColumnFamily& family, std::string_view prefix, Fn fn) {
  rocksdb::ColumnFamilyHandle* const handle = family.handle();
  if (handle == nullptr) return absl::OkStatus();
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  const ReadHorizon::Reading reading(&horizon_);
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read, handle));
  const rocksdb::Slice start(prefix.data(), prefix.size());
  for (it->Seek(start); it->Valid() && it->key().starts_with(start); it->Next()) {
    const absl::Status status = fn(std::string_view(it->key().data(), it->key().size()),
                                   std::string_view(it->value().data(), it->value().size()));
    if (!status.ok()) return status;
  }
  return it->status().ok() ? absl::OkStatus() : absl::DataLossError(family.name() + ": " + it->status().ToString());
}

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_ROCKS_DB_H_
