#include "engine/tables/table_description.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "storage/model/limits.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/log/index_backlog.h"

namespace armature::engine {
namespace {

// Shows a table as CREATING that is not usable yet.
void ShowAsCreating(model::TableDescriptor* table) {
  if (table->state != model::TableState::kActive) return;
  table->state = model::TableState::kCreating;
  for (model::IndexDescriptor& index : table->global_indexes) index.state = model::IndexState::kCreating;
}

}  // namespace

Totals TotalsOf(const store::Keyspace& keyspace) {
  if (keyspace.stats == nullptr) return {};
  const int64_t items = keyspace.stats->items();
  return {items, keyspace.stats->bytes() + items * static_cast<int64_t>(model::kStorageOverheadBytes)};
}

std::optional<Backlog> BacklogOf(const store::Index& index) {
  if (index.progress == nullptr) return std::nullopt;
  if (index.build != nullptr && index.build->phase() != store::BuildPhase::kCatchingUp) return std::nullopt;
  const store::IndexBacklog::State state = index.progress->backlog().state();
  Backlog backlog = {.records = state.load.records, .bytes = state.load.bytes};
  if (state.oldest_ms != 0) backlog.age_ms = std::max<int64_t>(0, absl::ToUnixMillis(absl::Now()) - state.oldest_ms);
  return backlog;
}

TableDescription Describe(const store::Table& table) {
  TableDescription description;
  description.descriptor = table.descriptor;
  if (table.descriptor.is_being_restored()) ShowAsCreating(&description.descriptor);
  description.totals = TotalsOf(table.data);
  for (const store::Index& index : table.local_indexes) {
    description.local_indexes.push_back(TotalsOf(index.keyspace));
  }
  for (const store::Index& index : table.global_indexes) {
    description.global_indexes.push_back({TotalsOf(index.keyspace), BacklogOf(index)});
  }
  description.time_ms = absl::ToUnixMillis(absl::Now());
  return description;
}

TableDescription DescribeWithoutTotals(model::TableDescriptor descriptor) {
  TableDescription description;
  description.local_indexes.resize(descriptor.local_indexes.size());
  description.global_indexes.resize(descriptor.global_indexes.size());
  description.descriptor = std::move(descriptor);
  description.time_ms = absl::ToUnixMillis(absl::Now());
  return description;
}

std::optional<bool> BackfillingOf(const model::TableDescriptor& table, const model::IndexDescriptor& index) {
  if (table.state == model::TableState::kCreating || index.state != model::IndexState::kCreating) return std::nullopt;
  return index.backfilling;
}

}  // namespace armature::engine
