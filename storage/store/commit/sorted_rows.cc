#include "storage/store/commit/sorted_rows.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include "glog/logging.h"
#include "rocksdb/write_batch.h"
#include "storage/store/commit/write_unit.h"
#include "storage/store/keyspace.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {

bool SortedRows::Row::operator<(const Row& other) const {
  if (family != other.family) return std::less<>()(family, other.family);
  if (key_front != other.key_front) return key_front < other.key_front;
  return key < other.key;
}

void SortedRows::Add(const WriteUnit& unit) {
  for (const WriteUnit::Op& op : unit.ops()) {
    if (op.kind == WriteUnit::OpKind::kCounter) continue;
    Add({op.family, 0, unit.key(op), unit.value(op), {}, op.kind == WriteUnit::OpKind::kDelete});
  }
}

void SortedRows::Put(const Keyspace& keyspace, std::string_view key, std::string_view value_begin,
                     std::string_view value_end) {
  Add({keyspace.family, 0, key, value_begin, value_end, /*is_delete=*/false});
}

void SortedRows::Delete(const Keyspace& keyspace, std::string_view key) {
  Add({keyspace.family, 0, key, {}, {}, /*is_delete=*/true});
}

void SortedRows::Add(const Row& row) {
  Row& added = rows_.emplace_back(row);
  for (size_t i = 0; i < sizeof(added.key_front); ++i) {
    added.key_front = added.key_front << 8 | (i < row.key.size() ? static_cast<uint8_t>(row.key[i]) : 0);
  }
}

void SortedRows::PutRow(rocksdb::ColumnFamilyHandle* handle, const Row& row, rocksdb::WriteBatch* batch) {
  const rocksdb::Slice key = ToSlice(row.key);
  if (row.value_end.empty()) {
    batch->Put(handle, key, ToSlice(row.value));
    return;
  }
  const std::array<rocksdb::Slice, 2> value = {ToSlice(row.value), ToSlice(row.value_end)};
  batch->Put(handle, rocksdb::SliceParts(&key, 1), rocksdb::SliceParts(value.data(), value.size()));
}

void SortedRows::AddTo(rocksdb::WriteBatch* batch) {
  std::stable_sort(rows_.begin(), rows_.end());
  for (const Row& row : rows_) {
    rocksdb::ColumnFamilyHandle* const handle = row.family->handle();
    if (!row.is_delete) {
      // RocksDB would take null for its default family.
      CHECK(handle != nullptr) << row.family->name() << " is written before it is made";
      PutRow(handle, row, batch);
    } else if (handle != nullptr) {
      batch->Delete(handle, ToSlice(row.key));
    }
  }
}

}  // namespace armature::store
