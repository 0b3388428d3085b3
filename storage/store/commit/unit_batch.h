#ifndef ARMATURE_STORAGE_STORE_COMMIT_UNIT_BATCH_H_
#define ARMATURE_STORAGE_STORE_COMMIT_UNIT_BATCH_H_

// The sum of write units in one batch of RocksDB. Inside the store only.
//
//   counter := varint                              never 0: a counter at 0 has no row

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/write_batch.h"
#include "storage/store/commit/write_unit.h"
#include "storage/store/keyspace.h"

namespace armature::store {

class RocksDb;

// Decodes a stored counter. Errors: DataLoss.
absl::StatusOr<uint64_t> ParseCounter(std::string_view stored, const ColumnFamily& family);

// The one way of the rows, counters and totals of write units to the database.
//
// Rows are written in the order of families and keys, rows of equal keys in the order in which they were added. RocksDB
// finds the place of a row in its memtable by way of the row before it, in a fraction of the time if that is near.
//
// Thread-safety: owned by one thread, the only one that writes the keyspaces of the units meanwhile (KeyspaceStats).
// Lifetime: the units, and the bytes of other rows, outlive it.
class UnitBatch {
 public:
  // Makes room for `bytes` in all, and for `rows`, so that the batch need not grow.
  explicit UnitBatch(RocksDb* db, size_t bytes = 0, size_t rows = 0) : db_(db), batch_(bytes) { rows_.reserve(rows); }
  UnitBatch(const UnitBatch&) = delete;
  UnitBatch& operator=(const UnitBatch&) = delete;

  // Adds rows and totals of `unit`, not its counters. The families of its puts are made before Write.
  void Add(const WriteUnit& unit);
  // Adds the changes of the counters of `units`, or none of them: their sum is checked. Errors:
  // ItemCollectionSizeLimitExceeded if a counter would grow above `max`; DataLoss, Unavailable.
  absl::Status AddCounters(const std::vector<WriteUnit>& units, uint64_t max);
  // Add rows that no unit holds, a value in two parts, and changes of totals.
  void Put(const Keyspace& keyspace, std::string_view key, std::string_view value_begin, std::string_view value_end);
  void Delete(const Keyspace& keyspace, std::string_view key);
  void AddTotals(KeyspaceStats* stats, StatsDelta delta);
  // For all that is written with the units and is no row of a table or an index.
  rocksdb::WriteBatch& records() { return batch_; }

  // Makes the families of all puts, for units that did not pass FamilyMaker. Waits for the disk.
  absl::Status MakeFamilies();
  // Writes the batch; see RocksDb::Write. Call it once. The totals in memory change before, and are taken back on an
  // error.
  absl::Status Write(bool sync, std::string_view context);

 private:
  struct Row {
    ColumnFamily* family;
    uint64_t key_front;  // the first bytes of the key, which order most keys
    std::string_view key;
    std::string_view value;
    std::string_view value_end;  // behind `value`; most rows have none
    bool is_delete;

    bool operator<(const Row& other) const;
  };
  using CounterPlace = std::pair<ColumnFamily*, std::string>;
  struct Counter {
    uint64_t value = 0;
    bool changed = false;
  };

  void AddRow(const Row& row);
  absl::StatusOr<Counter*> FindCounter(const CounterPlace& place);
  void PutRows();
  void PutCounters();

  RocksDb* const db_;
  rocksdb::WriteBatch batch_;
  std::vector<Row> rows_;
  std::map<CounterPlace, Counter> counters_;
  absl::flat_hash_map<KeyspaceStats*, StatsDelta> totals_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_UNIT_BATCH_H_
