#include "storage/store/rocks_options.h"

#include <algorithm>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "storage/store/rocks_logging.h"

namespace armature::store {
namespace {

rocksdb::CompressionType FastCompression() {
  const std::vector<rocksdb::CompressionType> supported = rocksdb::GetSupportedCompressions();
  for (const rocksdb::CompressionType type : {rocksdb::kLZ4Compression, rocksdb::kSnappyCompression}) {
    if (std::find(supported.begin(), supported.end(), type) != supported.end()) return type;
  }
  return rocksdb::kNoCompression;
}

rocksdb::BlockBasedTableOptions MakeTableOptions(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = 8 << 10;
  table.format_version = 5;
  // The packaged CRC32C is a software implementation; XXH3 costs a tenth of it.
  table.checksum = rocksdb::kXXH3;
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  return table;
}

}  // namespace

rocksdb::DBOptions MakeDbOptions(const DatabaseOptions& options) {
  rocksdb::DBOptions db;
  // Families are made in bulk by the DDL worker, never at open.
  db.create_missing_column_families = false;
  db.max_total_wal_size = options.wal_max_bytes;
  db.max_background_jobs = 2;
  db.bytes_per_sync = 1 << 20;
  db.max_open_files = -1;
  // RocksDB starts this many threads for each family that it opens, even for few files.
  db.max_file_opening_threads = 4;
  // One thread does almost all writes, so a concurrent memtable would only cost.
  db.allow_concurrent_memtable_write = false;
  db.enable_pipelined_write = false;
  // With fsync before every answer, only the tail of the log may be torn. A hole before it is corruption: continuing
  // from before the hole would lose acknowledged writes.
  db.wal_recovery_mode = options.durability == Durability::kSync
                             ? rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords
                             : rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  db.info_log = MakeRocksLogger();
  // Memtables with rows that are not in the log hold only RocksDb's own mark.
  db.avoid_flush_during_shutdown = true;
  db.stats_dump_period_sec = 0;
  db.stats_persist_period_sec = 0;
  return db;
}

rocksdb::ColumnFamilyOptions MakeDataFamilyOptions(const DatabaseOptions& options,
                                                   const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions family;
  family.write_buffer_size = options.memtable_bytes;
  // Small blocks: a thousand idle families must not pin a megabyte each.
  family.arena_block_size = 64 << 10;
  family.max_write_buffer_number = 3;
  family.compression = FastCompression();
  rocksdb::BlockBasedTableOptions table = MakeTableOptions(cache);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.whole_key_filtering = true;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.level_compaction_dynamic_level_bytes = true;
  return family;
}

rocksdb::ColumnFamilyOptions MakeTableFamilyOptions(const DatabaseOptions& options,
                                                    const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions family = MakeDataFamilyOptions(options, cache);
  // Ten bits per row of 300 bytes. Allocated with the memtable, so tables without writes pay for it as well.
  family.memtable_prefix_bloom_size_ratio = 0.003;
  family.memtable_whole_key_filtering = true;
  return family;
}

rocksdb::ColumnFamilyOptions MakeLogFamilyOptions(const DatabaseOptions& options,
                                                  const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions family = MakeDataFamilyOptions(options, cache);
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(MakeTableOptions(cache)));
  return family;
}

}  // namespace armature::store
