#include "storage/model/table_update.h"

#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/index_definition.h"
#include "storage/model/index_update.h"
#include "storage/model/table_shape.h"

namespace armature::model {
namespace {

constexpr std::string_view kOnDemand = "PAY_PER_REQUEST";
constexpr std::string_view kProvisioned = "PROVISIONED";
constexpr std::string_view kNoUnitsOnDemand =
    "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST";

bool HasIndexUpdates(const TableUpdate& update) {
  return update.global_index_updates.has_value() && !update.global_index_updates->empty();
}

int CountChanges(const TableUpdate& update) { return CountGiven(update) + (HasIndexUpdates(update) ? 1 : 0); }

absl::Status CheckCombination(const TableUpdate& update) {
  if (MakesOrRemovesIndex(update)) {
    constexpr std::string_view kNoIndex = "You cannot create or delete index while ";
    if (update.provisioned.has_value() && update.billing_mode.empty()) {
      return InvalidParameterError(Cat(kNoIndex, "updating table IOPS"));
    }
    if (update.stream.has_value()) return InvalidParameterError(Cat(kNoIndex, "changing stream status"));
  }
  if (CountChanges(update) > 1) {
    constexpr std::string_view kAlone = " modification must be the only operation in the request";
    if (update.deletion_protection.has_value()) return InvalidParameterError(Cat("DeletionProtection", kAlone));
    if (update.sse.has_value()) return InvalidParameterError(Cat("Server-Side Encryption", kAlone));
    if (!update.table_class.empty()) return InvalidParameterError(Cat("TableClass", kAlone));
  }
  if (update.stream.has_value() && update.provisioned.has_value()) {
    return InvalidParameterError("You cannot modify stream status while updating table IOPS");
  }
  return absl::OkStatus();
}

absl::Status CheckStream(const StreamDefinition& stream) {
  const bool enabled = stream.enabled.value_or(false);
  if (enabled && stream.view_type.empty()) {
    return InvalidParameterError("If stream is being enabled then UpdateViewType is required");
  }
  if (!enabled && !stream.view_type.empty()) {
    return InvalidParameterError("If stream is being disabled, then UpdateViewType must not be specified");
  }
  return absl::OkStatus();
}

absl::Status CheckBilling(const TableUpdate& update) {
  if (update.billing_mode == kOnDemand && update.provisioned.has_value()) {
    return InvalidParameterError(kNoUnitsOnDemand);
  }
  if (update.billing_mode == kProvisioned && !update.provisioned.has_value()) {
    return InvalidParameterError("ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
  }
  return update.provisioned.has_value() ? CheckCapacityBounds(*update.provisioned, "") : absl::OkStatus();
}

// True if the update leaves throughput, stream and the set of indexes alone. An UPDATING table allows such updates.
bool IsLight(const TableUpdate& update) {
  return !update.provisioned.has_value() && update.billing_mode.empty() && !update.stream.has_value() &&
         update.table_class.empty() && !MakesOrRemovesIndex(update);
}

absl::Status CheckState(const TableUpdate& update, const TableDescriptor& table) {
  constexpr std::string_view kInUse = "Attempt to change a resource which is still in use: ";
  switch (table.state) {
    case TableState::kCreating:
      return ResourceInUseError(Cat(kInUse, "Table is being created: ", table.name));
    case TableState::kDeleting:
      return ResourceInUseError(Cat(kInUse, "Table is being deleted: ", table.name));
    case TableState::kUpdating:
      for (const IndexDescriptor& index : table.global_indexes) {
        if (index.state == IndexState::kDeleting && (update.provisioned.has_value() || !update.billing_mode.empty())) {
          return ResourceInUseError(Cat(kInUse, "Can't change table IOPS when an index is being deleted. Table: ",
                                        table.name, " Indexes: [", index.name, "]"));
        }
        if (index.state == IndexState::kCreating && update.stream.has_value()) {
          return ResourceInUseError(Cat(kInUse, "Can't change stream status when an index is being created"));
        }
      }
      ARM_RETURN_IF_ERROR(CheckIndexStates(update, table));
      if (IsLight(update)) break;
      return ResourceInUseError(Cat(kInUse, "Table: ", table.name, " is in the process of being updated."));
    case TableState::kActive:
      break;
  }
  return absl::OkStatus();
}

void BecomeOnDemand(int64_t now_ms, TableDescriptor* table) {
  table->settings.billing_mode = BillingMode::kPayPerRequest;
  table->settings.on_demand_since_ms = now_ms;
  table->settings.provisioned.reset();
  for (IndexDescriptor& index : table->global_indexes) index.provisioned.reset();
}

// Every global index must get its throughput in the same request.
absl::Status BecomeProvisioned(const TableUpdate& update, TableDescriptor* table) {
  for (const IndexDescriptor& index : table->global_indexes) {
    bool given = false;
    for (const GlobalIndexUpdate& entry : update.global_index_updates.value_or(std::vector<GlobalIndexUpdate>())) {
      given = given || (entry.update.has_value() && entry.update->index_name == index.name &&
                        entry.update->provisioned.has_value());
    }
    if (!given) {
      return InvalidParameterError(Cat("ProvisionedThroughput must be specified for index: ", index.name));
    }
  }
  table->settings.on_demand_since_ms = table->OnDemandSinceMs();
  table->settings.billing_mode = BillingMode::kProvisioned;
  table->settings.provisioned = update.provisioned;
  return absl::OkStatus();
}

absl::Status ApplyBilling(const TableUpdate& update, int64_t now_ms, TableDescriptor* table) {
  const bool is_on_demand = table->settings.billing_mode == BillingMode::kPayPerRequest;
  if (update.billing_mode == kOnDemand) {
    if (!is_on_demand) BecomeOnDemand(now_ms, table);
    return absl::OkStatus();
  }
  if (!update.provisioned.has_value()) return absl::OkStatus();
  if (is_on_demand) {
    return update.billing_mode.empty() ? InvalidParameterError(kNoUnitsOnDemand) : BecomeProvisioned(update, table);
  }
  return ChangeProvisioned(*update.provisioned, "table", now_ms, &table->settings.provisioned,
                           &table->settings.throughput_changes);
}

// Returns a label later than `before`, even if the clock stands still or goes back.
std::string NextStreamLabel(int64_t now_ms, const std::string& before) {
  std::string label = StreamLabel(now_ms);
  absl::Time last;
  if (label > before || !absl::ParseTime("%Y-%m-%dT%H:%M:%E*S", before, absl::UTCTimeZone(), &last, nullptr)) {
    return label;
  }
  return StreamLabel(absl::ToUnixMillis(last) + 1);
}

absl::Status ApplyStream(const StreamDefinition& stream, int64_t now_ms, TableDescriptor* table) {
  TableSettings& settings = table->settings;
  const bool enabled = stream.enabled.value_or(false);
  if (enabled && settings.stream_enabled) {
    return ValidationError(Cat("Table already has an enabled stream: TableName: ", table->name));
  }
  if (!enabled && !settings.stream_enabled) {
    return ValidationError(Cat("Table has no stream to disable: TableName: ", table->name));
  }
  const std::string latest = table->LatestStreamLabel();
  settings.latest_stream_label = enabled ? NextStreamLabel(now_ms, latest) : latest;
  settings.stream_enabled = enabled;
  settings.stream_view_type = stream.view_type;
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTableUpdate(const TableUpdate& update) {
  ARM_RETURN_IF_ERROR(CheckTableUpdateShape(update));
  if (CountChanges(update) == 0) {
    return ValidationError(
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
        "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
        "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required");
  }
  ARM_RETURN_IF_ERROR(CheckIndexUpdates(update));
  ARM_RETURN_IF_ERROR(CheckCombination(update));
  if (update.stream.has_value()) ARM_RETURN_IF_ERROR(CheckStream(*update.stream));
  ARM_RETURN_IF_ERROR(CheckBilling(update));
  return CheckTableClass(update.table_class);
}

absl::Status ApplyTableUpdate(const TableUpdate& update, int64_t now_ms, TableDescriptor* table) {
  ARM_RETURN_IF_ERROR(CheckState(update, *table));
  ARM_RETURN_IF_ERROR(CheckIndexStates(update, *table));
  const bool was_on_demand = table->settings.billing_mode == BillingMode::kPayPerRequest;
  ARM_RETURN_IF_ERROR(ApplyBilling(update, now_ms, table));
  ARM_RETURN_IF_ERROR(ApplyIndexUpdates(update, now_ms, was_on_demand, table));
  if (update.stream.has_value()) ARM_RETURN_IF_ERROR(ApplyStream(*update.stream, now_ms, table));
  ApplyPlainSettings(update, now_ms, &table->settings);
  return absl::OkStatus();
}

}  // namespace armature::model
