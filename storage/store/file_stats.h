#ifndef ARMATURE_STORAGE_STORE_FILE_STATS_H_
#define ARMATURE_STORAGE_STORE_FILE_STATS_H_

// Counts and sizes of the storage engine, for metrics.

#include <cstdint>

namespace armature::store {

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

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_FILE_STATS_H_
