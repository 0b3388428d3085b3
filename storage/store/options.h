#ifndef ARMATURE_STORAGE_STORE_OPTIONS_H_
#define ARMATURE_STORAGE_STORE_OPTIONS_H_

// Options for opening a database.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "storage/store/files/volume.h"

namespace armature::store {

// When a commit is acknowledged. kSync: after fsync; no acknowledged write is ever lost. kInterval: after the write,
// with fsync every `sync_interval_ms`; a crash of the machine may lose the writes of one interval, a crash of the
// process loses none. kOs: after the write; the operating system decides when to sync.
enum class Durability : uint8_t { kSync, kInterval, kOs };

// How changes of global indexes are written. kWithItem: in the batch of the item, wherever no earlier change of the
// index waits (commit/index_rows.h). kLogged: always as records of the change log, for the applier.
enum class IndexUpdates : uint8_t { kWithItem, kLogged };

// Disk space withheld from clients: the smaller of `bytes` and `percent` of the disk.
struct DiskReserve {
  uint64_t bytes = 0;
  uint32_t percent = 100;
};

// The records of streams are kept for `retention_ms`, or, with a warning, for less if they take more than `bytes_max`.
struct StreamOptions {
  int64_t retention_ms = int64_t{24} * 3600 * 1000;
  uint64_t bytes_max = uint64_t{16} << 30;
  uint32_t shards = 1;  // of a new stream whose client has not asked for a number; see model::IsShardCount
};

// An archive follows the write-ahead log (store::CommittedLog).
struct ArchivedLogOptions {
  bool is_on = false;
  // Limit on the files of the log that wait for the archive, beside those that the database needs itself.
  uint64_t wait_bytes_max = uint64_t{4} << 30;
};

struct DatabaseOptions {
  Volume* volume = LocalVolume();  // outlives the database
  std::string path;                // data directory in it
  Durability durability = Durability::kSync;
  int64_t sync_interval_ms = 100;  // kInterval only; at least 1
  IndexUpdates index_updates = IndexUpdates::kWithItem;
  // Size of the block cache: data, index and filter blocks of all families.
  size_t cache_bytes = size_t{256} << 20;
  // Bytes of blocks that a point read may take from the page cache where it must not wait (ReadMode::kNoWait): about
  // the time of a few hand-overs to another thread. A row in blocks of usual size needs a tenth of it. 0: none.
  size_t no_wait_read_bytes_max = size_t{64} << 10;
  // Memtables are flushed when the write-ahead log that they keep alive exceeds this size.
  size_t wal_max_bytes = size_t{256} << 20;
  size_t memtable_bytes = size_t{32} << 20;  // per column family
  // Budget of the memtables of all column families, beside an allowance for each family. A write that finds it exceeded
  // begins the flush of the oldest memtable. While flushes are slower than writes, only `wal_max_bytes` is the bound.
  size_t memtables_bytes_max = size_t{512} << 20;
  // Flushes and compactions at once, at least 2. A large compaction is done by up to four threads.
  size_t background_threads = 2;
  // A memtable that was not written for this long is flushed.
  int64_t idle_flush_ms = int64_t{10} * 60 * 1000;
  size_t column_families_max = 16'000;  // that all tables and indexes together may need
  // Commit queue limits. Beyond either, new writes are throttled.
  size_t commit_queue_units_max = 100'000;
  size_t commit_queue_bytes_max = size_t{128} << 20;
  size_t lock_stripes = 16'384;
  // A commit that would raise a counter (the size of an item collection) above this value is refused.
  uint64_t item_collection_bytes_max = uint64_t{10} << 30;
  StreamOptions streams;
  ArchivedLogOptions archived_log;
  // A new epoch of change sequences begins behind this number, unless the database has reached it (see
  // log/sequence_epoch.h). Null: the microseconds since 1970, and some chance.
  std::function<uint64_t()> epoch_clock;
  // Client writes are refused when less than this is free.
  DiskReserve disk_reserve;
  // Called once, on a thread of the database, when a write has failed in a way that only a new start repairs, and not
  // for damaged files, which a new start does not repair. Must not use the database. May be null.
  std::function<void()> on_broken;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_OPTIONS_H_
