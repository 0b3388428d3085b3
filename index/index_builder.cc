#include "index/index_builder.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "glog/logging.h"
#include "index/index_delta.h"
#include "index/index_entry.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/stored_item.h"

namespace armature::index {
namespace {

constexpr absl::Duration kScanRetryAfter = absl::Seconds(1);
// Interval of checks whether an index has caught up.
constexpr absl::Duration kCatchUpPoll = absl::Milliseconds(10);
constexpr absl::Duration kGiveWayMax = absl::Milliseconds(200);

}  // namespace

IndexBuilder::IndexBuilder(store::Database* database, GsiApplier* applier, const IndexBuilderOptions& options)
    : database_(database), applier_(applier), options_(options) {}

IndexBuilder::~IndexBuilder() { Stop(); }

void IndexBuilder::Start() {
  database_->SetCatalogListener(this, [this] { worker_.Wake(); });
  worker_.Start();
}

void IndexBuilder::Stop() {
  database_->SetCatalogListener(this, nullptr);
  worker_.Stop();
}

Worker::Next IndexBuilder::Work() {
  const absl::StatusOr<Turn> turn = RunOnce();
  if (!turn.ok()) {
    LOG_EVERY_N(ERROR, 60) << "index build: turn failed status=" << turn.status();
    return Worker::Next::WhenWoken(kScanRetryAfter);
  }
  if (!turn->advanced) return Worker::Next::WhenWoken(turn->building ? kCatchUpPoll : absl::InfiniteDuration());
  return IsLoaded() ? Worker::Next::Share(options_.share_under_load, kGiveWayMax) : Worker::Next::AtOnce();
}

bool IndexBuilder::IsLoaded() {
  const uint64_t units = database_->commits().counters().units;
  return std::exchange(units_seen_, units) != units;
}

absl::StatusOr<IndexBuilder::Turn> IndexBuilder::RunOnce() {
  const std::shared_ptr<const store::CatalogSnapshot> snapshot = database_->catalog();
  Turn turn;
  absl::Status failed;
  for (const auto& [id, table] : snapshot->unsettled()) {
    for (const store::Index& index : table->global_indexes) {
      if (index.build == nullptr) continue;
      turn.building = true;
      const absl::StatusOr<bool> advanced = Advance(snapshot, *table, index);
      // An index that fails does not delay the others.
      if (!advanced.ok()) {
        failed = WithContext(advanced.status(), Cat(table->descriptor.name, "/", index.descriptor.name));
        continue;
      }
      turn.advanced = turn.advanced || *advanced;
    }
  }
  if (!failed.ok() && !turn.advanced) return failed;
  return turn;
}

absl::StatusOr<bool> IndexBuilder::Advance(const std::shared_ptr<const store::CatalogSnapshot>& snapshot,
                                           const store::Table& table, const store::Index& index) {
  const TableId table_id = table.descriptor.id;
  switch (index.build->phase()) {
    case store::BuildPhase::kWaiting:
      if (!database_->tables().IsKnownToAll(table_id)) return false;
      ARM_RETURN_IF_ERROR(database_->tables().BeginIndexScan(table_id, index));
      LOG(INFO) << "index build: started table=" << table.descriptor.name << " index=" << index.descriptor.name;
      return true;
    case store::BuildPhase::kScanning:
      if (const auto scanned = scanned_.find(index.descriptor.id); scanned != scanned_.end()) {
        return FinishScan(snapshot, table, index, scanned->second);
      }
      ARM_RETURN_IF_ERROR(ScanPage(snapshot, table, index));
      return true;
    case store::BuildPhase::kCatchingUp:
      break;
  }
  const store::BuildState state = index.build->state();
  if (index.progress->applied() < state.through_sequence) {
    applier_->OnAppended({table_id});
    return false;
  }
  ARM_RETURN_IF_ERROR(database_->tables().ActivateIndex(table_id, index.descriptor.id));
  LOG(INFO) << "index build: done table=" << table.descriptor.name << " index=" << index.descriptor.name
            << " items=" << state.scanned << " entries=" << state.written << " skipped=" << state.skipped
            << " ms=" << absl::ToUnixMillis(absl::Now()) - state.started_ms;
  return true;
}

// Ends the scan once the watermark covers all that the scan may have seen: the newest batch may be visible a moment
// before its sequence is below the watermark.
absl::StatusOr<bool> IndexBuilder::FinishScan(const std::shared_ptr<const store::CatalogSnapshot>& snapshot,
                                              const store::Table& table, const store::Index& index,
                                              ChangeSequence last_seen) {
  if (database_->change_log().watermark() < last_seen) return false;
  store::BuildState state = index.build->state();
  state.phase = store::BuildPhase::kCatchingUp;
  state.through_sequence = last_seen;
  state.next_key.clear();
  ARM_RETURN_IF_ERROR(database_->tables().CommitBuilt(store::WriteUnit(snapshot), table.descriptor.id, index, state));
  scanned_.erase(index.descriptor.id);
  applier_->OnAppended({table.descriptor.id});
  return true;
}

absl::Status IndexBuilder::ScanPage(const std::shared_ptr<const store::CatalogSnapshot>& snapshot,
                                    const store::Table& table, const store::Index& index) {
  store::BuildState state = index.build->state();
  store::WriteUnit unit(snapshot);
  store::StatsDelta total;
  size_t rows = 0;
  size_t bytes = 0;
  std::string last_key;
  const auto visit = [&](std::string_view key, std::string_view value) {
    const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(value);
    ++state.scanned;
    if (!stored.ok()) {
      // A malformed row cannot be in any index. A check of the table reports it.
      LOG_EVERY_N(ERROR, 100) << "index build: skipped an unreadable row table=" << table.descriptor.name
                              << " status=" << stored.status();
      ++state.skipped;
    } else if (const std::optional<Entry> entry = MakeEntry(index, table.descriptor.key, stored->item)) {
      unit.Put(index.keyspace, entry->key, codec::EncodeStoredItem(entry->item));
      ++total.items;
      total.bytes += static_cast<int64_t>(entry->item.api_size);
    } else if (FindKeyFault(index.descriptor.key, stored->item).has_value()) {
      ++state.skipped;
    }
    bytes += value.size();
    last_key.assign(key);
    if (++rows < options_.page_rows && bytes < options_.page_bytes) return store::RowVerdict::kContinue;
    return store::RowVerdict::kStop;
  };
  ARM_ASSIGN_OR_RETURN(const store::RangeEnd end, database_->rows().ReadRange(table.data, {state.next_key, ""},
                                                                              store::Direction::kForward, visit));
  state.written += total.items;
  unit.AddStats(index.keyspace, total);
  // The smallest key behind `last_key`.
  if (!last_key.empty()) state.next_key = last_key + '\0';
  ARM_RETURN_IF_ERROR(database_->tables().CommitBuilt(unit, table.descriptor.id, index, state));
  if (end == store::RangeEnd::kReached) scanned_[index.descriptor.id] = database_->change_log().last_taken();
  return absl::OkStatus();
}

}  // namespace armature::index
