#include "engine/tables/table_ops.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/time/clock.h"
#include "engine/parts.h"
#include "engine/tables/resource_policies.h"
#include "engine/tables/table_settings.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"
#include "storage/store/log/index_backlog.h"

namespace armature::engine {
namespace {

constexpr int64_t kListLimitMax = 100;

void AppendStatus(const store::ChangeLog& log, const store::Table& table, std::vector<IndexStatus>* all) {
  std::vector<IndexStatus> statuses;
  for (const std::vector<store::Index>* group : {&table.local_indexes, &table.global_indexes}) {
    for (const store::Index& index : *group) {
      IndexStatus status;
      status.table_name = table.descriptor.name;
      status.descriptor = index.descriptor;
      status.totals = TotalsOf(index.keyspace);
      status.table_item_count = TotalsOf(table.data).item_count;
      if (index.build != nullptr) status.build = index.build->state();
      if (const std::optional<Backlog> backlog = BacklogOf(index)) {
        status.log_sequence = log.watermark().value();
        const ChangeSequence applied =
            index.build == nullptr ? log.AppliedBy(index.progress.get()) : index.progress->applied();
        status.applied_sequence = applied.value();
        status.is_stalled = index.progress->is_stalled();
        status.backlog = *backlog;
      }
      statuses.push_back(std::move(status));
    }
  }
  std::sort(statuses.begin(), statuses.end(),
            [](const IndexStatus& a, const IndexStatus& b) { return a.descriptor.name < b.descriptor.name; });
  std::move(statuses.begin(), statuses.end(), std::back_inserter(*all));
}

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

absl::StatusOr<TableDescription> CreateTable(store::Database* database, const model::TableDefinition& definition) {
  ARM_ASSIGN_OR_RETURN(model::TableDescriptor descriptor, model::BuildTableDescriptor(definition));
  if (definition.resource_policy.has_value()) {
    ARM_ASSIGN_OR_RETURN(descriptor.settings.resource_policy,
                         MakeTablePolicy(definition.table_name, *definition.resource_policy));
  }
  ARM_ASSIGN_OR_RETURN(descriptor, database->tables().Create(std::move(descriptor)));
  return DescribeWithoutTotals(std::move(descriptor));
}

absl::StatusOr<TableDescription> DeleteTable(store::Database* database, const std::optional<std::string>& name_or_arn) {
  ARM_RETURN_IF_ERROR(model::CheckRequiredTableReference(name_or_arn));
  const std::string_view name = model::LocalTableName(*name_or_arn);
  ARM_ASSIGN_OR_RETURN(model::TableDescriptor descriptor, database->tables().Delete(name));
  return DescribeWithoutTotals(std::move(descriptor));
}

absl::StatusOr<TableDescription> DescribeTable(const store::Database& database,
                                               const std::optional<std::string>& name_or_arn) {
  ARM_RETURN_IF_ERROR(model::CheckRequiredTableReference(name_or_arn));
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTableInAnyState(database, *name_or_arn));
  return Describe(*pinned.table);
}

absl::StatusOr<ListTablesResult> ListTables(const store::Database& database,
                                            const std::optional<std::string>& start_after,
                                            const std::optional<int64_t>& limit) {
  const int64_t wanted = limit.value_or(kListLimitMax);
  model::ConstraintList constraints;
  if (start_after.has_value()) {
    constraints.CheckName(*start_after, "exclusiveStartTableName", model::kTableNameMinChars);
  }
  constraints.CheckMinimum(wanted, "limit", 1);
  constraints.CheckMaximum(wanted, "limit", kListLimitMax);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  const std::shared_ptr<const store::CatalogSnapshot> catalog = database.catalog();
  ListTablesResult result;
  const auto& tables = catalog->tables();
  auto it = start_after.has_value() ? tables.upper_bound(*start_after) : tables.begin();
  for (; it != tables.end() && static_cast<int64_t>(result.names.size()) < wanted; ++it) {
    result.names.push_back(it->first);
  }
  if (it != tables.end() && !result.names.empty()) result.last_evaluated = result.names.back();
  return result;
}

absl::StatusOr<TableDescription> UpdateTable(store::Database* database, const model::TableUpdate& update) {
  ARM_RETURN_IF_ERROR(model::CheckTableUpdate(update));
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTableWithSettings(*database, *update.table_name));
  model::TableDescriptor before;
  ARM_ASSIGN_OR_RETURN(std::optional<model::TableDescriptor> after,
                       database->tables().Update(pinned.table->descriptor.name, [&](model::TableDescriptor* table) {
                         before = *table;
                         return model::ApplyTableUpdate(update, absl::ToUnixMillis(absl::Now()), table);
                       }));
  if (!after.has_value()) return NoSuchTableError(*update.table_name);
  TableDescription description = Describe(*pinned.table);
  description.descriptor = AsAccepted(before, *std::move(after));
  description.global_indexes.resize(description.descriptor.global_indexes.size());  // one index may be new
  return description;
}

absl::StatusOr<std::vector<IndexStatus>> ListIndexStatus(store::Database* database,
                                                         const std::optional<std::string>& table_name) {
  const std::shared_ptr<const store::CatalogSnapshot> catalog = database->catalog();
  std::vector<IndexStatus> all;
  if (table_name.has_value()) {
    ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTableInAnyState(*database, *table_name));
    AppendStatus(database->change_log(), *pinned.table, &all);
    return all;
  }
  for (const auto& [name, table] : catalog->tables()) {
    AppendStatus(database->change_log(), *table, &all);
  }
  return all;
}

}  // namespace armature::engine
