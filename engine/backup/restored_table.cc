#include "engine/backup/restored_table.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/setting_rules.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_name.h"
#include "storage/model/table_update.h"

namespace armature::engine {
namespace {

using model::BillingMode;

// True if the definition of `wanted` has the keys and projection of `index`.
bool IsSameIndex(const model::IndexDefinition& wanted, const model::IndexDescriptor& index) {
  std::vector<model::KeyElementDefinition> key;
  for (const model::KeyAttribute& each : index.key.partition) key.push_back({each.name, "HASH"});
  for (const model::KeyAttribute& each : index.key.sort) key.push_back({each.name, "RANGE"});
  if (wanted.key_schema != key ||
      wanted.projection.projection_type != model::ProjectionTypeName(index.projection.type)) {
    return false;
  }
  const std::vector<std::string> names = wanted.projection.non_key_attributes.value_or(std::vector<std::string>());
  return std::multiset<std::string>(names.begin(), names.end()) ==
         std::multiset<std::string>(index.projection.non_key_attributes.begin(),
                                    index.projection.non_key_attributes.end());
}

// Checks the throughput that overrides that of the owner in a table with `mode`, and replaces it in `throughput`. An
// empty maximum counts as absent.
absl::Status Override(const model::ThroughputSettings& given, const model::ThroughputOwner& owner, BillingMode mode,
                      model::ThroughputSettings* throughput) {
  ARM_RETURN_IF_ERROR(model::CheckAgainstBilling(given, owner, mode));
  ARM_RETURN_IF_ERROR(model::CheckAmounts(given, owner));
  if (given.provisioned.has_value()) throughput->provisioned = given.provisioned;
  const model::ThroughputSettings filled = model::WithDefaults(given);
  if (filled.on_demand_max.has_value() &&
      filled.on_demand_max != model::Throughput{model::kNoMaximum, model::kNoMaximum}) {
    throughput->on_demand_max = filled.on_demand_max;
  }
  return absl::OkStatus();
}

model::ThroughputOwner OwnerOf(const RestoreTableRequest& request, std::string_view index_name = {}) {
  return {
      .use = model::SettingUse::kRestore, .index_name = index_name, .overrides_mode = request.billing_mode.has_value()};
}

// Keeps the wanted ones of `indexes`, under their new names and with their new throughput.
absl::Status ChooseIndexes(const RestoreTableRequest& request,
                           const std::optional<std::vector<model::IndexDefinition>>& wanted, BillingMode mode,
                           std::vector<model::IndexDescriptor>* indexes) {
  if (!wanted.has_value()) return absl::OkStatus();
  std::vector<model::IndexDescriptor> chosen;
  // Each source index can be chosen once.
  for (const model::IndexDefinition& each : *wanted) {
    const auto found = std::find_if(indexes->begin(), indexes->end(),
                                    [&](const model::IndexDescriptor& index) { return IsSameIndex(each, index); });
    if (found == indexes->end()) {
      return InvalidRequestError(Cat("Index ", each.index_name,
                                     " does not match a secondary index that existed in the source table and cannot be "
                                     "created during the restore operation"));
    }
    model::IndexDescriptor index = std::move(*found);
    indexes->erase(found);
    index.name = each.index_name;
    ARM_RETURN_IF_ERROR(Override(each, OwnerOf(request, each.index_name), mode, &index));
    chosen.push_back(std::move(index));
  }
  *indexes = std::move(chosen);
  return absl::OkStatus();
}

absl::Status CheckIndexNames(const model::TableDescriptor& table) {
  std::set<std::string_view> names;
  for (const model::IndexDescriptor* const index : table.indexes()) {
    if (!names.insert(index->name).second) return InvalidParameterError(Cat("Duplicate index name: ", index->name));
  }
  return absl::OkStatus();
}

// Units and maxima of the source belong to its billing mode.
void DropUnitsOfOtherMode(model::TableDescriptor* table) {
  const bool is_provisioned = table->settings.billing_mode == BillingMode::kProvisioned;
  const auto drop = [is_provisioned](model::ThroughputSettings* settings) {
    if (is_provisioned) {
      settings->on_demand_max.reset();
    } else {
      settings->provisioned.reset();
    }
  };
  drop(&table->settings);
  for (model::IndexDescriptor& index : table->global_indexes) drop(&index);
}

absl::Status OverrideThroughput(const RestoreTableRequest& request, model::TableDescriptor* table) {
  model::TableSettings& settings = table->settings;
  const BillingMode before = settings.billing_mode;
  if (request.billing_mode.has_value()) {
    settings.billing_mode =
        *request.billing_mode == model::kOnDemandName ? BillingMode::kPayPerRequest : BillingMode::kProvisioned;
    if (settings.billing_mode == BillingMode::kProvisioned && !request.provisioned.has_value()) {
      return InvalidRequestError("Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED");
    }
  }
  // Maxima that a provisioned source has kept from an earlier time do not come back either.
  if (before != settings.billing_mode) settings.on_demand_max.reset();
  for (model::IndexDescriptor& index : table->global_indexes) {
    if (before != settings.billing_mode) index.on_demand_max.reset();
  }
  DropUnitsOfOtherMode(table);
  ARM_RETURN_IF_ERROR(Override({.provisioned = request.provisioned, .on_demand_max = request.on_demand_max, .warm = {}},
                               OwnerOf(request), settings.billing_mode, &settings));
  ARM_RETURN_IF_ERROR(ChooseIndexes(request, request.local_indexes, settings.billing_mode, &table->local_indexes));
  ARM_RETURN_IF_ERROR(ChooseIndexes(request, request.global_indexes, settings.billing_mode, &table->global_indexes));
  if (settings.billing_mode == BillingMode::kPayPerRequest) return absl::OkStatus();
  for (const model::IndexDescriptor& index : table->global_indexes) {
    if (!index.provisioned.has_value()) {
      return InvalidRequestError(Cat("Must specify provisioned throughput for index ", index.name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<model::TableDescriptor> RestoredTable(const model::TableDescriptor& source,
                                                     const RestoreTableRequest& request) {
  model::TableDescriptor target;
  target.name = *request.target_table_name;
  target.key = source.key;
  target.local_indexes = source.local_indexes;
  target.global_indexes = source.global_indexes;
  // An index that was being deleted does not belong to the table any more.
  std::erase_if(target.global_indexes,
                [](const model::IndexDescriptor& index) { return index.state == model::IndexState::kDeleting; });
  target.settings.billing_mode = source.settings.billing_mode;
  target.settings.provisioned = source.settings.provisioned;
  target.settings.on_demand_max = source.settings.on_demand_max;
  target.settings.sse_enabled = source.settings.sse_enabled;
  target.settings.sse_type = source.settings.sse_type;
  target.settings.sse_kms_key = source.settings.sse_kms_key;
  ARM_RETURN_IF_ERROR(OverrideThroughput(request, &target));
  ARM_RETURN_IF_ERROR(CheckIndexNames(target));
  for (model::IndexDescriptor& index : target.global_indexes) {
    index.state = model::IndexState::kActive;
    index.backfilling = false;
    index.warm.reset();
    index.throughput_changes = {};
    index.contributor_insights.reset();
  }
  if (request.sse.has_value()) {
    ARM_RETURN_IF_ERROR(model::CheckSse(request.sse));
    model::ApplySse(*request.sse, &target.settings);
  }
  target.attribute_definitions = source.attribute_definitions;
  model::EraseUnusedDefinitions(&target);
  target.restore = model::RestoreOrigin{.backup_arn = request.backup_arn.value_or(""),
                                        .source_table_arn = model::TableArn(source.name),
                                        .time_ms = absl::ToUnixMillis(absl::Now()),
                                        .in_progress = true};
  return target;
}

}  // namespace armature::engine
