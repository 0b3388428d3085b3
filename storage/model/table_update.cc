#include "storage/model/table_update.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "storage/model/setting_rules.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_shape.h"

namespace armature::model {
namespace {

const std::string& IndexNameOf(const GlobalIndexUpdate& entry) {
  if (entry.create.has_value()) return entry.create->index_name;
  return entry.update.has_value() ? entry.update->index_name : *entry.remove;
}

absl::Status OneIndexAtATimeError() {
  return LimitExceededError(
      "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table");
}

absl::Status CheckActions(const std::vector<GlobalIndexUpdate>& entries) {
  for (const GlobalIndexUpdate& entry : entries) {
    const int actions =
        (entry.update.has_value() ? 1 : 0) + (entry.create.has_value() ? 1 : 0) + (entry.remove.has_value() ? 1 : 0);
    if (actions == 0) {
      return InvalidParameterError(
          "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
          "GlobalSecondaryIndexUpdate.Delete must not be null");
    }
    if (actions > 1) {
      return InvalidParameterError(
          "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object");
    }
  }
  return absl::OkStatus();
}

// The definitions of the new index's key attributes, sorted by name. Other listed definitions are ignored.
absl::StatusOr<std::vector<KeyAttribute>> DefinitionsOf(const IndexDefinition& index,
                                                        const std::vector<AttributeDefinition>& listed) {
  std::vector<AttributeDefinition> needed;
  for (const KeyElementDefinition& element : index.key_schema) {
    const auto found = std::find_if(listed.begin(), listed.end(), [&](const AttributeDefinition& definition) {
      return definition.attribute_name == element.attribute_name;
    });
    if (found == listed.end()) {
      return InvalidParameterError(Cat("AttributeDefinitions is not specified for index: ", index.index_name));
    }
    needed.push_back(*found);
  }
  return BuildKeyAttributes(needed);
}

absl::Status CheckNewIndex(const IndexDefinition& index, const TableUpdate& update) {
  ARM_RETURN_IF_ERROR(CheckGlobalIndexKey(index.key_schema));
  ARM_RETURN_IF_ERROR(BuildKeyAttributes(update.attribute_definitions).status());
  ARM_RETURN_IF_ERROR(DefinitionsOf(index, update.attribute_definitions).status());
  ARM_RETURN_IF_ERROR(CheckProjection(index.projection));
  return CheckAmounts(index, {.use = SettingUse::kCreation, .index_name = index.index_name});
}

absl::Status CheckIndexThroughput(const IndexThroughputUpdate& update) {
  if (!update.provisioned.has_value() && !update.on_demand_max.has_value() && !update.warm.has_value()) {
    return InvalidParameterError(Cat("ProvisionedThroughput is not specified for index: ", update.index_name));
  }
  return CheckAmounts(update, {.use = SettingUse::kChange, .index_name = update.index_name});
}

std::string PrintedElement(const KeyAttribute& attribute, std::string_view role) {
  return Cat("Schema:[SchemaElement: key{", attribute.name, ":", ScalarTypeName(attribute.type), ":", role, "}]");
}

// The role of `name` in `key`; empty if it has none.
std::string_view RoleIn(const KeySchema& key, std::string_view name) {
  const auto has_name = [name](const KeyAttribute& attribute) { return attribute.name == name; };
  if (std::any_of(key.partition.begin(), key.partition.end(), has_name)) return "HASH";
  return std::any_of(key.sort.begin(), key.sort.end(), has_name) ? "RANGE" : std::string_view();
}

std::string_view RoleIn(const TableDescriptor& table, std::string_view name) {
  std::string_view role = RoleIn(table.key, name);
  for (const IndexDescriptor* const index : table.indexes()) {
    if (role.empty()) role = RoleIn(index->key, name);
  }
  return role;
}

// An attribute that the table defines already must keep its type.
absl::Status CheckTypes(const IndexDefinition& index, const std::vector<KeyAttribute>& wanted,
                        const TableDescriptor& table) {
  for (const KeyElementDefinition& element : index.key_schema) {
    const auto has_name = [&](const KeyAttribute& attribute) { return attribute.name == element.attribute_name; };
    const auto& known = table.attribute_definitions;
    const auto old = std::find_if(known.begin(), known.end(), has_name);
    const auto now = std::find_if(wanted.begin(), wanted.end(), has_name);
    if (old == known.end() || old->type == now->type) continue;
    return InvalidParameterError(
        Cat("Attributes cannot be redefined. Please check that your attribute has the same type as previously "
            "defined. Existing schema: ",
            PrintedElement(*old, RoleIn(table, old->name)), " New schema: ", PrintedElement(*now, element.key_type)));
  }
  return absl::OkStatus();
}

// Adds those of `attributes` that are missing in `defined`, which is sorted by name.
void AddDefinitions(const std::vector<KeyAttribute>& attributes, std::vector<KeyAttribute>* defined) {
  const auto by_name = [](const KeyAttribute& a, const KeyAttribute& b) { return a.name < b.name; };
  for (const KeyAttribute& attribute : attributes) {
    const auto place = std::lower_bound(defined->begin(), defined->end(), attribute, by_name);
    if (place == defined->end() || place->name != attribute.name) defined->insert(place, attribute);
  }
}

absl::Status CreateIndex(const IndexDefinition& definition, const TableUpdate& update, TableDescriptor* table) {
  if (table->FindIndex(definition.index_name) != nullptr) {
    return ValidationError("Attempting to create an index which already exists");
  }
  ARM_ASSIGN_OR_RETURN(const std::vector<KeyAttribute> attributes,
                       DefinitionsOf(definition, update.attribute_definitions));
  ARM_RETURN_IF_ERROR(CheckTypes(definition, attributes, *table));
  AddDefinitions(attributes, &table->attribute_definitions);
  ARM_ASSIGN_OR_RETURN(IndexDescriptor index, BuildAddedIndex(definition, *table));
  if (table->global_indexes.size() >= kGlobalIndexesMax) {
    return LimitExceededError(
        Cat("Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of ",
            kGlobalIndexesMax));
  }
  index.state = IndexState::kCreating;
  table->global_indexes.push_back(std::move(index));
  table->state = TableState::kUpdating;
  return absl::OkStatus();
}

// The global index called `name`. `verb` names the action in errors.
absl::StatusOr<IndexDescriptor*> FindGlobalIndex(std::string_view name, std::string_view verb, TableDescriptor* table) {
  for (IndexDescriptor& index : table->global_indexes) {
    if (index.name == name) return &index;
  }
  if (table->FindIndex(name) != nullptr) {
    return ValidationError(Cat("Cannot ", verb, " an index that is not a GlobalSecondaryIndex: ", name));
  }
  return ResourceNotFoundError(Cat("Requested resource not found: Index ", name, " for table ", table->name));
}

// Sets `*current` to `wanted` and records the change and its time in `changes`. `resource` is "table" or "index
// <name>". Errors: ValidationException if the amounts stay as they are.
absl::Status ChangeProvisioned(const Throughput& wanted, std::string_view resource, int64_t now_ms,
                               std::optional<Throughput>* current, ThroughputChanges* changes) {
  const Throughput old = current->value_or(Throughput());
  if (wanted == old) {
    const std::string_view kind = resource.substr(0, resource.find(' '));
    return ValidationError(
        Cat("The provisioned throughput for the ", resource,
            " will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned "
            "for the ",
            kind, ": ", old.read_units, ". Requested ReadCapacityUnits: ", wanted.read_units,
            ". Current WriteCapacityUnits provisioned for the ", kind, ": ", old.write_units,
            ". Requested WriteCapacityUnits: ", wanted.write_units,
            ". Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."));
  }
  if (wanted.read_units > old.read_units || wanted.write_units > old.write_units) changes->last_increase_ms = now_ms;
  if (wanted.read_units < old.read_units || wanted.write_units < old.write_units) {
    changes->decreases = DecreasesOnDayOf(now_ms, *changes) + 1;
    changes->last_decrease_ms = now_ms;
  }
  *current = wanted;
  return absl::OkStatus();
}

// `table` has its new billing mode already.
absl::Status UpdateIndex(const IndexThroughputUpdate& update, int64_t now_ms, const TableDescriptor& before,
                         TableDescriptor* table) {
  ARM_ASSIGN_OR_RETURN(IndexDescriptor* const index, FindGlobalIndex(update.index_name, "update", table));
  const ThroughputOwner owner = {.use = SettingUse::kChange, .index_name = index->name};
  ARM_RETURN_IF_ERROR(CheckAgainstBilling(update, owner, table->settings.billing_mode));
  if (update.provisioned.has_value()) {
    if (before.settings.billing_mode == BillingMode::kPayPerRequest) {
      index->provisioned = update.provisioned;
    } else {
      ARM_RETURN_IF_ERROR(ChangeProvisioned(*update.provisioned, Cat("index ", index->name), now_ms,
                                            &index->provisioned, &index->throughput_changes));
    }
  }
  ARM_RETURN_IF_ERROR(
      CheckWarm(update.warm, owner, index->provisioned, WarmThroughputOf(*before.FindIndex(index->name))));
  ApplyThroughputLimits(update, index);
  return absl::OkStatus();
}

// Applies the entries to `table`, which has its new billing mode already.
absl::Status ApplyIndexUpdates(const TableUpdate& update, int64_t now_ms, const TableDescriptor& before,
                               TableDescriptor* table) {
  if (!update.global_index_updates.has_value()) return absl::OkStatus();
  for (const GlobalIndexUpdate& entry : *update.global_index_updates) {
    if (entry.update.has_value()) {
      ARM_RETURN_IF_ERROR(UpdateIndex(*entry.update, now_ms, before, table));
    } else if (entry.create.has_value()) {
      ARM_RETURN_IF_ERROR(CreateIndex(*entry.create, update, table));
    } else {
      ARM_ASSIGN_OR_RETURN(IndexDescriptor* const index, FindGlobalIndex(*entry.remove, "delete", table));
      index->state = IndexState::kDeleting;
      index->backfilling = false;
      table->state = TableState::kUpdating;
    }
  }
  return absl::OkStatus();
}

// Checks the rules of the entries that need no table: each entry has one action, each index occurs once, and at most
// one index is added or removed.
absl::Status CheckIndexUpdates(const TableUpdate& update) {
  if (!update.global_index_updates.has_value()) return absl::OkStatus();
  const std::vector<GlobalIndexUpdate>& entries = *update.global_index_updates;
  if (entries.empty()) return InvalidParameterError("List of GlobalSecondaryIndexUpdates is empty");
  ARM_RETURN_IF_ERROR(CheckActions(entries));
  std::set<std::string_view> seen;
  int made_or_removed = 0;
  for (const GlobalIndexUpdate& entry : entries) {
    if (!seen.insert(IndexNameOf(entry)).second) {
      return InvalidParameterError(Cat(
          "Only one global secondary index update per index is allowed simultaneously. Index: ", IndexNameOf(entry)));
    }
    if (!entry.update.has_value()) ++made_or_removed;
  }
  if (made_or_removed > 1) return OneIndexAtATimeError();
  for (const GlobalIndexUpdate& entry : entries) {
    if (entry.create.has_value()) ARM_RETURN_IF_ERROR(CheckNewIndex(*entry.create, update));
    if (entry.update.has_value()) ARM_RETURN_IF_ERROR(CheckIndexThroughput(*entry.update));
  }
  return absl::OkStatus();
}

// Checks that the states of the indexes admit the entries: one index is added or removed at a time, an index that is
// being removed does not change, and an index without its column family cannot be removed.
absl::Status CheckIndexStates(const TableUpdate& update, const TableDescriptor& table) {
  if (!update.global_index_updates.has_value()) return absl::OkStatus();
  for (const GlobalIndexUpdate& entry : *update.global_index_updates) {
    const IndexDescriptor* const named = table.FindIndex(IndexNameOf(entry));
    if (named != nullptr && named->state == IndexState::kDeleting && !entry.create.has_value()) {
      return StillInUseError(Cat("Index is being deleted. Table: ", table.name, " Index: ", named->name));
    }
    if (entry.update.has_value()) continue;
    for (const IndexDescriptor& other : table.global_indexes) {
      if (other.state != IndexState::kCreating && other.state != IndexState::kDeleting) continue;
      if (!entry.remove.has_value() || &other != named) return OneIndexAtATimeError();
      if (!other.backfilling) {
        return StillInUseError(
            Cat("Index creation is in resource allocation phase. Retry deletion during backfilling phase or when the "
                "index is active. Table: ",
                table.name, " Index: ", other.name));
      }
    }
  }
  return absl::OkStatus();
}

// True if the update adds or removes an index.
bool MakesOrRemovesIndex(const TableUpdate& update) {
  if (!update.global_index_updates.has_value()) return false;
  return std::any_of(update.global_index_updates->begin(), update.global_index_updates->end(),
                     [](const GlobalIndexUpdate& entry) { return !entry.update.has_value(); });
}

int CountChanges(const TableUpdate& update) {
  const bool has_index_updates = update.global_index_updates.has_value() && !update.global_index_updates->empty();
  return CountGiven(update) + (has_index_updates ? 1 : 0);
}

absl::Status CheckCombination(const TableUpdate& update) {
  if (MakesOrRemovesIndex(update)) {
    constexpr std::string_view kNoIndex = "You cannot create or delete index while ";
    const bool has_units = update.provisioned.has_value() || update.on_demand_max.has_value();
    if ((has_units && update.billing_mode.empty()) || update.warm.has_value()) {
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
  if (update.stream.has_value() && (update.provisioned.has_value() || update.on_demand_max.has_value())) {
    return InvalidParameterError("You cannot modify stream status while updating table IOPS");
  }
  return absl::OkStatus();
}

// The billing mode after the update of a table that has `current`.
BillingMode ModeAfter(const TableUpdate& update, BillingMode current) {
  if (update.billing_mode.empty()) return current;
  return update.billing_mode == kOnDemandName ? BillingMode::kPayPerRequest : BillingMode::kProvisioned;
}

absl::Status CheckTableThroughput(const TableUpdate& update, BillingMode mode) {
  return CheckAgainstBilling(update, {.use = SettingUse::kChange}, mode);
}

absl::Status CheckBilling(const TableUpdate& update) {
  if (update.billing_mode == kProvisionedName && !update.provisioned.has_value()) {
    return InvalidParameterError("ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
  }
  if (!update.billing_mode.empty()) {
    ARM_RETURN_IF_ERROR(CheckTableThroughput(update, ModeAfter(update, BillingMode::kProvisioned)));
  }
  return CheckAmounts(update, {.use = SettingUse::kChange});
}

// True if the update leaves throughput, stream and the set of indexes alone. An UPDATING table allows such updates.
bool IsLight(const TableUpdate& update) {
  return !update.provisioned.has_value() && !update.on_demand_max.has_value() && update.billing_mode.empty() &&
         !update.stream.has_value() && update.table_class.empty() && !MakesOrRemovesIndex(update);
}

absl::Status CheckState(const TableUpdate& update, const TableDescriptor& table) {
  switch (table.state) {
    case TableState::kCreating:
      return StillInUseError(Cat("Table is being created: ", table.name));
    case TableState::kDeleting:
      return StillInUseError(Cat("Table is being deleted: ", table.name));
    case TableState::kUpdating:
      for (const IndexDescriptor& index : table.global_indexes) {
        if (index.state == IndexState::kDeleting && (update.provisioned.has_value() || !update.billing_mode.empty())) {
          return StillInUseError(Cat("Can't change table IOPS when an index is being deleted. Table: ", table.name,
                                     " Indexes: [", index.name, "]"));
        }
        if (index.state == IndexState::kCreating && update.stream.has_value()) {
          return StillInUseError("Can't change stream status when an index is being created");
        }
      }
      ARM_RETURN_IF_ERROR(CheckIndexStates(update, table));
      if (IsLight(update)) break;
      return StillInUseError(Cat("Table: ", table.name, " is in the process of being updated."));
    case TableState::kActive:
      break;
  }
  return absl::OkStatus();
}

// Removes the units and maxima of a table that changes its billing mode. The request has the new ones.
void DropUnits(TableDescriptor* table) {
  table->settings.provisioned.reset();
  table->settings.on_demand_max.reset();
  for (IndexDescriptor& index : table->global_indexes) {
    index.provisioned.reset();
    index.on_demand_max.reset();
  }
}

void BecomeOnDemand(int64_t now_ms, TableDescriptor* table) {
  table->settings.billing_mode = BillingMode::kPayPerRequest;
  table->settings.on_demand_since_ms = now_ms;
  DropUnits(table);
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
  DropUnits(table);
  table->settings.provisioned = update.provisioned;
  return absl::OkStatus();
}

absl::Status ApplyBilling(const TableUpdate& update, int64_t now_ms, TableDescriptor* table) {
  const BillingMode before = table->settings.billing_mode;
  const BillingMode after = ModeAfter(update, before);
  ARM_RETURN_IF_ERROR(CheckTableThroughput(update, after));
  if (after == BillingMode::kPayPerRequest) {
    if (before != after) BecomeOnDemand(now_ms, table);
    return absl::OkStatus();
  }
  if (!update.provisioned.has_value()) return absl::OkStatus();
  if (before != after) return BecomeProvisioned(update, table);
  return ChangeProvisioned(*update.provisioned, "table", now_ms, &table->settings.provisioned,
                           &table->settings.throughput_changes);
}

// The table and its indexes stay able to serve at once what they could.
void KeepWarmThroughputs(const TableDescriptor& before, TableDescriptor* table) {
  KeepWarmThroughput(WarmThroughputOf(before.settings), &table->settings);
  for (size_t i = 0; i < before.global_indexes.size(); ++i) {
    KeepWarmThroughput(WarmThroughputOf(before.global_indexes[i]), &table->global_indexes[i]);
  }
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
    const bool keeps_view = stream.view_type.empty() || stream.view_type == settings.stream_view_type;
    if (stream.shards.has_value() && keeps_view) {
      settings.stream_shards = static_cast<uint32_t>(*stream.shards);
      return absl::OkStatus();
    }
    return ValidationError(Cat("Table already has an enabled stream: TableName: ", table->name));
  }
  if (!enabled && !settings.stream_enabled) {
    return ValidationError(Cat("Table has no stream to disable: TableName: ", table->name));
  }
  if (enabled && stream.view_type.empty()) return ViewTypeRequiredError(SettingUse::kChange);
  const std::string latest = table->LatestStreamLabel();
  settings.latest_stream_label = enabled ? NextStreamLabel(now_ms, latest) : latest;
  settings.stream_enabled = enabled;
  settings.stream_view_type = stream.view_type;
  settings.stream_shards = static_cast<uint32_t>(stream.shards.value_or(0));
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
  if (update.stream.has_value()) ARM_RETURN_IF_ERROR(CheckStream(*update.stream, SettingUse::kChange));
  ARM_RETURN_IF_ERROR(CheckBilling(update));
  ARM_RETURN_IF_ERROR(CheckSse(update.sse));
  return CheckTableClass(update.table_class);
}

absl::Status ApplyTableUpdate(const TableUpdate& update, int64_t now_ms, TableDescriptor* table) {
  ARM_RETURN_IF_ERROR(CheckState(update, *table));
  ARM_RETURN_IF_ERROR(CheckIndexStates(update, *table));
  const TableDescriptor before = *table;
  ARM_RETURN_IF_ERROR(ApplyBilling(update, now_ms, table));
  ARM_RETURN_IF_ERROR(ApplyIndexUpdates(update, now_ms, before, table));
  if (update.stream.has_value()) ARM_RETURN_IF_ERROR(ApplyStream(*update.stream, now_ms, table));
  if (update.sse.has_value()) ARM_RETURN_IF_ERROR(CheckSseChange(*update.sse, before.settings));
  ARM_RETURN_IF_ERROR(CheckWarm(update.warm, {.use = SettingUse::kChange}, table->settings.provisioned,
                                WarmThroughputOf(before.settings)));
  ApplyPlainSettings(update, now_ms, &table->settings);
  KeepWarmThroughputs(before, table);
  return absl::OkStatus();
}

void EraseGlobalIndex(IndexId id, TableDescriptor* table) {
  std::erase_if(table->global_indexes, [id](const IndexDescriptor& index) { return index.id == id; });
  EraseUnusedDefinitions(table);
}

void EraseUnusedDefinitions(TableDescriptor* table) {
  std::erase_if(table->attribute_definitions,
                [table](const KeyAttribute& attribute) { return RoleIn(*table, attribute.name).empty(); });
}

}  // namespace armature::model
