#include "engine/tables/update_table.h"

#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "engine/parts.h"
#include "storage/base/status_macros.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

// `after`, with the states and amounts at the moment when the change was accepted.
model::TableDescriptor AsAccepted(const model::TableDescriptor& before, model::TableDescriptor after) {
  if (model::NeedsUpdating(before.settings, after.settings)) after.state = model::TableState::kUpdating;
  after.settings.provisioned = before.settings.provisioned;
  after.settings.throughput_changes = before.settings.throughput_changes;
  for (size_t i = 0; i < before.global_indexes.size(); ++i) {
    model::IndexDescriptor& index = after.global_indexes[i];
    const model::IndexDescriptor& old = before.global_indexes[i];
    if (index.state == model::IndexState::kDeleting) continue;
    if (index.provisioned != old.provisioned || index.on_demand_max != old.on_demand_max) {
      index.state = model::IndexState::kUpdating;
    }
    index.provisioned = old.provisioned;
    index.throughput_changes = old.throughput_changes;
  }
  return after;
}

}  // namespace

absl::StatusOr<TableDescription> UpdateTable(store::Database* database, const model::TableUpdate& update) {
  ARM_RETURN_IF_ERROR(model::CheckTableUpdate(update));
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTableInAnyState(*database, *update.table_name));
  model::TableDescriptor before;
  ARM_ASSIGN_OR_RETURN(std::optional<model::TableDescriptor> after,
                       database->UpdateTable(pinned.table->descriptor.name, [&](model::TableDescriptor* table) {
                         before = *table;
                         return model::ApplyTableUpdate(update, absl::ToUnixMillis(absl::Now()), table);
                       }));
  if (!after.has_value()) return NoSuchTableError(*update.table_name);
  TableDescription description = Describe(*pinned.table);
  description.descriptor = AsAccepted(before, *std::move(after));
  description.global_indexes.resize(description.descriptor.global_indexes.size());  // one index may be new
  return description;
}

}  // namespace armature::engine
