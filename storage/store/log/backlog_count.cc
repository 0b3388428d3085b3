#include "storage/store/log/backlog_count.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "glog/logging.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/codec/change_codec.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/log/change_log.h"
#include "storage/store/log/index_backlog.h"
#include "storage/store/meta_keys.h"

namespace armature::store {
namespace {

constexpr size_t kReadRecordsMax = 4096;
constexpr size_t kReadBytesMax = 4 << 20;

// Adds a record to the backlogs of those of `indexes` that it touches.
void CountRecord(const std::vector<const Index*>& indexes, ChangeSequence sequence, std::string_view bytes) {
  const absl::StatusOr<codec::ChangeRecord> record = codec::ParseChangeRecord(bytes);
  if (!record.ok()) return;
  for (const Index* const index : indexes) {
    if (sequence <= index->progress->applied()) continue;
    BacklogLoad load;
    for (const codec::IndexRowChange& change : record->index_changes) {
      if (change.index != index->descriptor.id) continue;
      load.records = 1;
      load.bytes += codec::RowBytes(change);
    }
    if (load.records > 0) index->progress->backlog().Count(sequence, record->time_ms, load);
  }
}

bool IsUncounted(const Index& index) { return index.progress != nullptr && !index.progress->backlog().is_counted(); }

}  // namespace

BacklogCount::BacklogCount(const ChangeLog* log, const Catalog* catalog) : log_(log), catalog_(catalog) {
  for (const auto& [name, table] : catalog->snapshot()->tables()) {
    bool may_wait = false;
    for (const Index& index : table->global_indexes) {
      // An index that waits for its scan has no position yet. BeginIndexScan starts its count.
      const bool waits = index.build != nullptr && index.build->phase() == BuildPhase::kWaiting;
      if (index.progress == nullptr || waits || index.progress->applied() >= log->opened_at()) continue;
      index.progress->backlog().BeginCount(log->opened_at());
      may_wait = true;
    }
    if (may_wait) tables_.push_back(table->descriptor.id);
  }
  if (!tables_.empty()) worker_.Start();
}

Worker::Next BacklogCount::Work() {
  const TableId table = tables_.back();
  const absl::StatusOr<bool> is_done = CountSome(table, &counted_);
  if (!is_done.ok()) {
    LOG(ERROR) << "store: cannot read the change log, backlog counts are incomplete family=" << kLogFamily
               << " table=" << table.value() << " after_sequence=" << counted_.value()
               << " status=" << is_done.status();
  }
  if (is_done.ok() && !*is_done) return Worker::Next::AtOnce();
  tables_.pop_back();
  counted_ = {};
  return tables_.empty() ? Worker::Next::Never() : Worker::Next::AtOnce();
}

// The table is looked up for each part: to hold it would delay the removal of its indexes.
absl::StatusOr<bool> BacklogCount::CountSome(TableId table_id, ChangeSequence* after) const {
  ARM_FAULT_POINT("backlog.count");
  const std::shared_ptr<const CatalogSnapshot> snapshot = catalog_->snapshot();
  const Table* const table = snapshot->Find(table_id);
  if (table == nullptr) return true;
  std::vector<const Index*> indexes;
  std::optional<ChangeSequence> from;
  for (const Index& index : table->global_indexes) {
    if (!IsUncounted(index)) continue;
    indexes.push_back(&index);
    const ChangeSequence applied = index.progress->applied();
    from = std::min(from.value_or(applied), applied);
  }
  if (indexes.empty()) return true;
  const auto count = [&](ChangeSequence sequence, std::string_view record) -> absl::StatusOr<size_t> {
    CountRecord(indexes, sequence, record);
    *after = sequence;
    return record.size();
  };
  const absl::StatusOr<ChangeLog::ReadOutcome> read =
      log_->Read(table_id, std::max(*after, *from), log_->opened_at(), kReadRecordsMax, kReadBytesMax, count);
  if (read.ok() && !read->drained) return false;
  for (const Index* const index : indexes) index->progress->backlog().EndCount();
  ARM_RETURN_IF_ERROR(read.status());
  return true;
}

}  // namespace armature::store
