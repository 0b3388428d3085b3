#include "storage/store/commit/index_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/codec/change_codec.h"
#include "storage/store/commit/unit_batch.h"
#include "storage/store/log/index_backlog.h"
#include "storage/store/rocks_db.h"

namespace armature::store {

bool IndexRows::Add(const WriteUnit& unit, UnitBatch* batch) {
  if (MayAdd(unit) && AddRows(unit, batch)) {
    added_ += unit.index_ops().size();
    return true;
  }
  logged_ += unit.index_ops().size();
  for (const WriteUnit::IndexOp& op : unit.index_ops()) waiting_.insert(op.backlog);
  return false;
}

bool IndexRows::MayAdd(const WriteUnit& unit) const {
  if (!is_enabled_ || unit.index_ops().empty()) return false;
  size_t bytes = 0;
  for (const WriteUnit::IndexOp& op : unit.index_ops()) {
    if (!op.is_built || op.keyspace.family->handle() == nullptr) return false;
    if (waiting_.contains(op.backlog)) return false;
    bytes += op.bytes;
  }
  if (bytes > kRecordBytesMax || bytes_ + bytes > kBatchBytesMax) return false;
  return std::all_of(unit.index_ops().begin(), unit.index_ops().end(),
                     [](const WriteUnit::IndexOp& op) { return op.backlog->AwaitEmpty(); });
}

bool IndexRows::AddRows(const WriteUnit& unit, UnitBatch* batch) {
  absl::StatusOr<codec::ChangeRecord> record = codec::ParseChangeRecord(unit.record());
  // The applier reports what is wrong with it.
  if (!record.ok()) return false;
  const std::vector<WriteUnit::IndexOp>& ops = unit.index_ops();
  const auto op_of = [&ops](IndexId index) {
    return std::find_if(ops.begin(), ops.end(), [index](const WriteUnit::IndexOp& op) { return op.index == index; });
  };
  for (const codec::IndexRowChange& change : record->index_changes) {
    if (op_of(change.index) == ops.end()) return false;
  }
  for (const codec::IndexRowChange& change : record->index_changes) {
    const Keyspace& keyspace = op_of(change.index)->keyspace;
    if (change.is_delete) {
      batch->Delete(keyspace, change.key);
    } else {
      batch->Put(keyspace, change.key, change.value_head, change.value);
    }
    bytes_ += codec::RowBytes(change);
    if (keyspace.stats != nullptr) batch->AddTotals(keyspace.stats, {change.item_delta, change.byte_delta});
  }
  if (record->joined != nullptr) joined_.push_back(std::move(record->joined));
  return true;
}

}  // namespace armature::store
