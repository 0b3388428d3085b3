#ifndef ARMATURE_STORAGE_STORE_OPTIONS_H_
#define ARMATURE_STORAGE_STORE_OPTIONS_H_

// How a database is opened.

#include <cstddef>
#include <cstdint>
#include <string>

namespace armature::store {

// When a commit is acknowledged. kSync: after fsync; nothing acknowledged is ever lost. kInterval: fsync every
// `interval_ms`; a crash of the machine may lose that much, a crash of the process nothing. kOs: when the operating
// system likes.
enum class Durability : uint8_t { kSync, kInterval, kOs };

// What of the disk clients may not take: the smaller of `bytes` and `percent` of its size.
struct DiskReserve {
  uint64_t bytes = 0;
  uint32_t percent = 100;
};

struct DatabaseOptions {
  std::string path;
  Durability durability = Durability::kSync;
  int64_t sync_interval_ms = 100;  // kInterval only; at least 1
  // Block cache in bytes: data, index and filter blocks of all families.
  size_t cache_bytes = size_t{256} << 20;
  // Memtables are flushed when the write-ahead log that they pin grows beyond this.
  size_t wal_max_bytes = size_t{256} << 20;
  size_t memtable_bytes = size_t{32} << 20;  // per column family
  size_t column_families_max = 2000;
  // Commit queue: beyond either bound new writes are throttled.
  size_t commit_queue_units_max = 100'000;
  size_t commit_queue_bytes_max = size_t{128} << 20;
  size_t lock_stripes = 16'384;
  // A commit that would make a counter (the size of an item collection) grow beyond it is refused.
  uint64_t item_collection_bytes_max = uint64_t{10} << 30;
  // With less than that free, clients' writes are refused.
  DiskReserve disk_reserve;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_OPTIONS_H_
