#include "storage/store/range_reader.h"

#include <cstdint>
#include <memory>

#include "storage/base/status_macros.h"
#include "storage/store/column_family.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

// Deleted and overwritten rows between two live ones that a read passes over without being allowed to block.
constexpr uint64_t kSkippedInMemoryMax = 1000;

}  // namespace

absl::StatusOr<RangeEnd> ReadRows(RocksDb* db, const ColumnFamily& family, const KeyRange& range, Direction direction,
                                  ReadMode mode,
                                  absl::FunctionRef<RowVerdict(std::string_view, std::string_view)> visit) {
  if (!range.end.empty() && range.begin >= range.end) return RangeEnd::kReached;
  const rocksdb::Slice begin(range.begin);
  const rocksdb::Slice end(range.end);
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  if (mode == ReadMode::kMemoryOnly) {
    options.read_tier = rocksdb::kBlockCacheTier;
    // A long run of deleted rows takes as long as the disk.
    options.max_skippable_internal_keys = kSkippedInMemoryMax;
  }
  options.iterate_lower_bound = &begin;
  if (!range.end.empty()) options.iterate_upper_bound = &end;
  const std::unique_ptr<rocksdb::Iterator> it(db->db()->NewIterator(options, family.handle()));
  const bool forward = direction == Direction::kForward;
  for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid(); forward ? it->Next() : it->Prev()) {
    if (visit(ToView(it->key()), ToView(it->value())) == RowVerdict::kStop) return RangeEnd::kStopped;
  }
  if (it->status().IsIncomplete()) return RangeEnd::kWouldBlock;
  ARM_RETURN_IF_ERROR(FromRocks(it->status(), Cat("read range of ", family.name())));
  return RangeEnd::kReached;
}

}  // namespace armature::store
