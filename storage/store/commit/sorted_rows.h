#ifndef ARMATURE_STORAGE_STORE_COMMIT_SORTED_ROWS_H_
#define ARMATURE_STORAGE_STORE_COMMIT_SORTED_ROWS_H_

// Rows of a batch. Inside the store only.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rocksdb {
class ColumnFamilyHandle;
class WriteBatch;
}  // namespace rocksdb

namespace armature::store {

class ColumnFamily;
class WriteUnit;
struct Keyspace;

// The rows of several units, in the order of families and keys; rows of equal keys in the order of the units. RocksDB
// finds the place of a row in its memtable by way of the row before it, in a fraction of the time if that is near.
//
// Thread-safety: owned by one thread. Lifetime: the units, and the bytes of other rows, outlive it.
class SortedRows {
 public:
  // Makes room for as many rows.
  void Reserve(size_t rows) { rows_.reserve(rows); }
  void Add(const WriteUnit& unit);
  // The value in two parts.
  void Put(const Keyspace& keyspace, std::string_view key, std::string_view value_begin, std::string_view value_end);
  void Delete(const Keyspace& keyspace, std::string_view key);
  // Adds all rows to `batch`. Call it once.
  void AddTo(rocksdb::WriteBatch* batch);

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

  void Add(const Row& row);
  static void PutRow(rocksdb::ColumnFamilyHandle* handle, const Row& row, rocksdb::WriteBatch* batch);

  std::vector<Row> rows_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_SORTED_ROWS_H_
