#ifndef ARMATURE_STORAGE_STORE_RANGE_READER_H_
#define ARMATURE_STORAGE_STORE_RANGE_READER_H_

// The only place that makes iterators over rows. Inside the store only.

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "rocksdb/snapshot.h"
#include "storage/store/database.h"

namespace armature::store {

class ColumnFamily;
class RocksDb;

// See Database::ReadRange. Bounds are always set on both ends, so that neither tombstones nor rows beyond the range are
// walked.
absl::StatusOr<RangeEnd> ReadRows(RocksDb* db, const ColumnFamily& family, const KeyRange& range, Direction direction,
                                  ReadMode mode,
                                  absl::FunctionRef<RowVerdict(std::string_view, std::string_view)> visit);

// See KeyspaceSnapshot::ReadRange.
absl::StatusOr<RangeEnd> ReadSnapshotRows(RocksDb* db, const ColumnFamily& family, const KeyRange& range,
                                          const rocksdb::Snapshot* snapshot,
                                          absl::FunctionRef<RowVerdict(std::string_view, std::string_view)> visit);

// See Database::ReadJoined. A snapshot makes entries and rows those of one moment; it goes with the call.
absl::StatusOr<RangeEnd> ReadJoinedRows(RocksDb* db, const ColumnFamily& index, const KeyRange& range,
                                        Direction direction, const ColumnFamily& rows, ReadMode mode,
                                        JoinVisitor* visitor);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_RANGE_READER_H_
