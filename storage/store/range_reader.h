#ifndef ARMATURE_STORAGE_STORE_RANGE_READER_H_
#define ARMATURE_STORAGE_STORE_RANGE_READER_H_

// The only code that creates iterators over rows. Inside the store only.

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "storage/store/database.h"

namespace armature::store {

class ColumnFamily;
class RocksDb;

// The rows to read, and how.
struct RangeRead {
  const KeyRange& range;
  Direction direction = Direction::kForward;
  ReadMode mode = ReadMode::kMayBlock;
  SkipLimit* limit = nullptr;
};

// See Database::ReadRange. Both bounds are always set, so that iterators never step over tombstones or rows outside the
// range.
absl::StatusOr<RangeEnd> ReadRows(RocksDb* db, const ColumnFamily& family, const RangeRead& read, RowVisitor visit);

// See Database::ReadJoined. Entries and rows are read from one snapshot, which is released at the end of the call.
absl::StatusOr<RangeEnd> ReadJoinedRows(RocksDb* db, const ColumnFamily& index, const RangeRead& read,
                                        const ColumnFamily& rows, JoinVisitor* visitor);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_RANGE_READER_H_
