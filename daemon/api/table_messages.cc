#include "daemon/api/table_messages.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "daemon/message_json/given_fields.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/table_name.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

// The name of an enum value; empty if the field is absent.
std::string EnumWord(const Message& message, int number) { return GivenEnum(message, number).value_or(""); }

template <class Elements>
std::vector<model::KeyElementDefinition> ToKeySchema(const Elements& elements) {
  std::vector<model::KeyElementDefinition> schema;
  for (const v1::KeySchemaElement& element : elements) {
    schema.push_back({element.attribute_name(), EnumWord(element, element.kKeyTypeFieldNumber)});
  }
  return schema;
}

template <class Definitions>
std::vector<model::AttributeDefinition> ToAttributeDefinitions(const Definitions& definitions) {
  std::vector<model::AttributeDefinition> to;
  for (const v1::AttributeDefinition& definition : definitions) {
    to.push_back({definition.attribute_name(), EnumWord(definition, definition.kAttributeTypeFieldNumber)});
  }
  return to;
}

// ProvisionedThroughput, OnDemandThroughput and WarmThroughput have the same two fields. An absent amount is
// model::kThroughputNotGiven.
model::Throughput ToThroughput(const Message& throughput) {
  constexpr int kReadField = v1::ProvisionedThroughput::kReadCapacityUnitsFieldNumber;
  constexpr int kWriteField = v1::ProvisionedThroughput::kWriteCapacityUnitsFieldNumber;
  return {GivenInteger(throughput, kReadField).value_or(model::kThroughputNotGiven),
          GivenInteger(throughput, kWriteField).value_or(model::kThroughputNotGiven)};
}

// Throughput of a table or a global index, in CreateTable or UpdateTable.
template <class From>
void ToThroughputs(const From& from, model::ThroughputSettings* to) {
  if (from.has_provisioned_throughput()) to->provisioned = ToThroughput(from.provisioned_throughput());
  if (from.has_on_demand_throughput()) to->on_demand_max = ToThroughput(from.on_demand_throughput());
  if (from.has_warm_throughput()) to->warm = ToThroughput(from.warm_throughput());
}

// `Index`: LocalSecondaryIndex or GlobalSecondaryIndex.
template <class Index>
model::IndexDefinition ToIndex(const Index& index) {
  model::IndexDefinition to;
  to.index_name = index.index_name();
  to.key_schema = ToKeySchema(index.key_schema());
  const v1::Projection& projection = index.projection();
  to.projection.projection_type = EnumWord(projection, projection.kProjectionTypeFieldNumber);
  if (IsListGiven(projection, projection.kNonKeyAttributesFieldNumber)) {
    to.projection.non_key_attributes.emplace(projection.non_key_attributes().begin(),
                                             projection.non_key_attributes().end());
  }
  if constexpr (!std::is_same_v<Index, v1::LocalSecondaryIndex>) ToThroughputs(index, &to);
  return to;
}

template <class Indexes>
std::vector<model::IndexDefinition> ToIndexes(const Indexes& indexes) {
  std::vector<model::IndexDefinition> to;
  for (const auto& index : indexes) to.push_back(ToIndex(index));
  return to;
}

model::SseDefinition ToSse(const v1::SseSpecification& sse) {
  return {GivenBool(sse, sse.kEnabledFieldNumber), EnumWord(sse, sse.kSseTypeFieldNumber), sse.kms_master_key_id()};
}

// `Request`: CreateTableRequest or UpdateTableRequest.
template <class Request>
void ToSettings(const Request& request, model::SettingsDefinition* to) {
  ToThroughputs(request, to);
  to->billing_mode = EnumWord(request, request.kBillingModeFieldNumber);
  if (request.has_stream_specification()) {
    const v1::StreamSpecification& stream = request.stream_specification();
    to->stream = {GivenBool(stream, stream.kStreamEnabledFieldNumber),
                  EnumWord(stream, stream.kStreamViewTypeFieldNumber),
                  GivenInteger(stream, stream.kShardCountFieldNumber)};
  }
  if (request.has_sse_specification()) {
    to->sse = ToSse(request.sse_specification());
  }
  to->table_class = EnumWord(request, request.kTableClassFieldNumber);
  to->deletion_protection = GivenBool(request, request.kDeletionProtectionEnabledFieldNumber);
}

void FillProjection(const model::Projection& from, v1::Projection* to) {
  to->set_projection_type(static_cast<v1::ProjectionType>(from.type));
  std::vector<std::string> names = from.non_key_attributes;
  std::sort(names.begin(), names.end());  // stored in the given order, described in this one
  for (std::string& name : names) to->add_non_key_attributes(std::move(name));
}

// Fills the member of `to`. A maximum that is not set is absent, and so is the member without any.
template <class Message>
void FillOnDemand(const std::optional<model::Throughput>& from, Message* to) {
  if (!from.has_value()) return;
  if (from->read_units >= 0) to->mutable_on_demand_throughput()->set_max_read_request_units(from->read_units);
  if (from->write_units >= 0) to->mutable_on_demand_throughput()->set_max_write_request_units(from->write_units);
}

// For a table with an enabled stream.
void FillStreamSpecification(const model::TableSettings& settings, v1::StreamSpecification* to) {
  to->set_stream_enabled(true);
  SetEnum(to->kStreamViewTypeFieldNumber, settings.stream_view_type, to);
  if (settings.stream_shards != 0) to->set_shard_count(static_cast<int32_t>(settings.stream_shards));
}

// For an encrypted table.
void FillSse(const model::TableSettings& settings, v1::SseDescription* to) {
  to->set_status(v1::SSE_STATUS_ENABLED);
  to->set_sse_type(v1::SSE_TYPE_KMS);
  if (!settings.sse_type.empty()) SetEnum(to->kSseTypeFieldNumber, settings.sse_type, to);
  to->set_kms_master_key_arn(settings.sse_kms_key.empty() ? std::string(model::kDefaultKmsKeyArn)
                                                          : settings.sse_kms_key);
}

// An on-demand table or index reports zeros.
template <class Message>
void FillProvisioned(const std::optional<model::Throughput>& from, Message* to) {
  to->set_read_capacity_units(from.has_value() ? from->read_units : 0);
  to->set_write_capacity_units(from.has_value() ? from->write_units : 0);
}

void FillProvisioned(const std::optional<model::Throughput>& from, const model::ThroughputChanges& changes,
                     int64_t now_ms, v1::ProvisionedThroughputDescription* to) {
  FillProvisioned(from, to);
  to->set_number_of_decreases_today(model::DecreasesOnDayOf(now_ms, changes));
  if (changes.last_increase_ms != 0) to->set_last_increase_date_time_ms(changes.last_increase_ms);
  if (changes.last_decrease_ms != 0) to->set_last_decrease_date_time_ms(changes.last_decrease_ms);
}

template <class Message>
void FillWarm(const model::Throughput& from, Message* to) {
  to->set_read_units_per_second(from.read_units);
  to->set_write_units_per_second(from.write_units);
}

// Fills members that all kinds of index have, in descriptions and in backups.
template <class Message>
void FillIndex(const model::IndexDescriptor& index, Message* to) {
  to->set_index_name(index.name);
  FillKeySchema(index.key, to->mutable_key_schema());
  FillProjection(index.projection, to->mutable_projection());
}

// Fills common members of both kinds of index.
template <class Message>
void FillIndex(const model::IndexDescriptor& index, const engine::Totals& totals, const std::string& table_arn,
               Message* to) {
  FillIndex(index, to);
  to->set_index_size_bytes(totals.size_bytes);
  to->set_item_count(totals.item_count);
  to->set_index_arn(Cat(table_arn, "/index/", index.name));
}

void FillIndexes(const engine::TableDescription& description, const std::string& arn, v1::TableDescription* to) {
  const model::TableDescriptor& table = description.descriptor;
  for (size_t i = 0; i < table.local_indexes.size(); ++i) {
    FillIndex(table.local_indexes[i], description.local_indexes[i], arn, to->add_local_secondary_indexes());
  }
  for (size_t i = 0; i < table.global_indexes.size(); ++i) {
    const model::IndexDescriptor& index = table.global_indexes[i];
    v1::GlobalSecondaryIndexDescription* const out = to->add_global_secondary_indexes();
    FillIndex(index, description.global_indexes[i], arn, out);
    out->set_index_status(static_cast<v1::IndexStatus>(index.state));
    if (const std::optional<bool> backfilling = engine::BackfillingOf(table, index)) {
      out->set_backfilling(*backfilling);
    }
    if (const std::optional<engine::Backlog>& backlog = description.global_indexes[i].backlog) {
      out->mutable_backlog()->set_records(backlog->records);
      out->mutable_backlog()->set_bytes(backlog->bytes);
      out->mutable_backlog()->set_age_ms(backlog->age_ms);
    }
    FillProvisioned(index.provisioned, index.throughput_changes, description.time_ms,
                    out->mutable_provisioned_throughput());
    FillOnDemand(index.on_demand_max, out);
    if (table.state == model::TableState::kCreating) continue;
    FillWarm(model::WarmThroughputOf(index), out->mutable_warm_throughput());
    out->mutable_warm_throughput()->set_status(static_cast<v1::IndexStatus>(engine::WarmStateOf(index.state)));
  }
}

void FillStream(const model::TableDescriptor& table, v1::TableDescription* to) {
  const std::string label = table.LatestStreamLabel();
  if (label.empty()) return;
  to->set_latest_stream_label(label);
  to->set_latest_stream_arn(model::StreamArn(table.name, label));
  if (table.settings.stream_enabled) FillStreamSpecification(table.settings, to->mutable_stream_specification());
}

void FillSettings(const engine::TableDescription& description, v1::TableDescription* to) {
  const model::TableDescriptor& table = description.descriptor;
  const model::TableSettings& settings = table.settings;
  // The original shows neither warm throughput nor the time of the billing mode while a table is created.
  const bool is_new = table.state == model::TableState::kCreating;
  FillProvisioned(settings.provisioned, settings.throughput_changes, description.time_ms,
                  to->mutable_provisioned_throughput());
  if (const int64_t since_ms = table.OnDemandSinceMs(); since_ms != 0) {
    to->mutable_billing_mode_summary()->set_billing_mode(static_cast<v1::BillingMode>(settings.billing_mode));
    if (!is_new) to->mutable_billing_mode_summary()->set_last_update_to_pay_per_request_date_time_ms(since_ms);
  }
  to->set_deletion_protection_enabled(settings.deletion_protection);
  FillOnDemand(settings.on_demand_max, to);
  if (!is_new) {
    FillWarm(model::WarmThroughputOf(settings), to->mutable_warm_throughput());
    to->mutable_warm_throughput()->set_status(static_cast<v1::TableStatus>(engine::WarmStateOf(table.state)));
  }
  if (!settings.table_class.empty()) {
    SetEnum(v1::TableClassSummary::kTableClassFieldNumber, settings.table_class, to->mutable_table_class_summary());
    if (settings.table_class_changed_ms != 0) {
      to->mutable_table_class_summary()->set_last_update_date_time_ms(settings.table_class_changed_ms);
    }
  }
  FillStream(table, to);
  if (settings.sse_enabled) FillSse(settings, to->mutable_sse_description());
}

void FillRestore(const model::RestoreOrigin& origin, v1::RestoreSummary* to) {
  if (!origin.backup_arn.empty()) to->set_source_backup_arn(origin.backup_arn);
  to->set_source_table_arn(origin.source_table_arn);
  to->set_restore_date_time_ms(origin.time_ms);
  to->set_restore_in_progress(origin.in_progress);
}

model::GlobalIndexUpdate ToIndexUpdate(const v1::GlobalSecondaryIndexUpdate& entry) {
  model::GlobalIndexUpdate to;
  const auto update = GivenMember<v1::UpdateGlobalSecondaryIndexAction>(entry, entry.kUpdateFieldNumber);
  if (update.has_value()) {
    ToThroughputs(*update, &to.update.emplace());
    to.update->index_name = update->index_name();
  }
  const auto create = GivenMember<v1::CreateGlobalSecondaryIndexAction>(entry, entry.kCreateFieldNumber);
  if (create.has_value()) to.create = ToIndex(*create);
  const auto remove = GivenMember<v1::DeleteGlobalSecondaryIndexAction>(entry, entry.kDeleteFieldNumber);
  if (remove.has_value()) to.remove = remove->index_name();
  return to;
}

// Target and overrides of a restore. `Request`: RestoreTableFromBackupRequest or RestoreTableToPointInTimeRequest.
template <class Request>
engine::RestoreTableRequest ToOverrides(const Request& request) {
  engine::RestoreTableRequest to;
  to.target_table_name = GivenText(request, request.kTargetTableNameFieldNumber);
  to.billing_mode = GivenEnum(request, request.kBillingModeOverrideFieldNumber);
  if (request.has_local_secondary_index_override()) {
    to.local_indexes = ToIndexes(request.local_secondary_index_override().indexes());
  }
  if (request.has_global_secondary_index_override()) {
    to.global_indexes = ToIndexes(request.global_secondary_index_override().indexes());
  }
  if (request.has_provisioned_throughput_override()) {
    to.provisioned = ToThroughput(request.provisioned_throughput_override());
  }
  if (request.has_on_demand_throughput_override()) {
    to.on_demand_max = ToThroughput(request.on_demand_throughput_override());
  }
  if (request.has_sse_specification_override()) to.sse = ToSse(request.sse_specification_override());
  return to;
}

v1::BackupStatus StatusOf(engine::BackupStatus status) {
  switch (status) {
    case engine::BackupStatus::kCreating:
      return v1::BACKUP_STATUS_CREATING;
    case engine::BackupStatus::kAvailable:
      return v1::BACKUP_STATUS_AVAILABLE;
    case engine::BackupStatus::kDeleted:
      return v1::BACKUP_STATUS_DELETED;
  }
  return v1::BACKUP_STATUS_UNSPECIFIED;
}

void FillSource(const engine::TableBackup& backup, v1::SourceTableDetails* to) {
  const model::TableDescriptor& table = backup.table;
  to->set_table_name(table.name);
  to->set_table_id(table.uuid);
  to->set_table_arn(model::TableArn(table.name));
  to->set_table_size_bytes(backup.size_bytes);
  to->set_item_count(backup.item_count);
  to->set_table_creation_date_time_ms(table.creation_time_ms);
  FillKeySchema(table.key, to->mutable_key_schema());
  to->set_billing_mode(static_cast<v1::BillingMode>(table.settings.billing_mode));
  FillProvisioned(table.settings.provisioned, to->mutable_provisioned_throughput());
  FillOnDemand(table.settings.on_demand_max, to);
}

void FillFeatures(const model::TableDescriptor& table, v1::SourceTableFeatureDetails* to) {
  for (const model::IndexDescriptor& index : table.local_indexes) FillIndex(index, to->add_local_secondary_indexes());
  for (const model::IndexDescriptor& index : table.global_indexes) {
    v1::GlobalSecondaryIndexInfo* const out = to->add_global_secondary_indexes();
    FillIndex(index, out);
    FillProvisioned(index.provisioned, out->mutable_provisioned_throughput());
    FillOnDemand(index.on_demand_max, out);
  }
  const model::TableSettings& settings = table.settings;
  if (settings.stream_enabled) FillStreamSpecification(settings, to->mutable_stream_description());
  if (!settings.time_to_live_attribute.empty()) {
    to->mutable_time_to_live_description()->set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_ENABLED);
    to->mutable_time_to_live_description()->set_attribute_name(settings.time_to_live_attribute);
  }
  if (settings.sse_enabled) FillSse(settings, to->mutable_sse_description());
}

// Fills common members of BackupDetails and BackupSummary.
template <class Message>
void FillSummary(const engine::TableBackup& backup, Message* to) {
  to->set_backup_arn(backup.arn);
  to->set_backup_name(backup.name);
  to->set_backup_size_bytes(backup.size_bytes);
  to->set_backup_status(StatusOf(backup.status));
  to->set_backup_type(v1::BACKUP_TYPE_USER);
  to->set_backup_creation_date_time_ms(backup.creation_time_ms);
}

}  // namespace

void FillKeySchema(const model::KeySchema& key, google::protobuf::RepeatedPtrField<v1::KeySchemaElement>* to) {
  for (const model::KeyAttribute& attribute : key.partition) {
    v1::KeySchemaElement* const element = to->Add();
    element->set_attribute_name(attribute.name);
    element->set_key_type(v1::KEY_TYPE_HASH);
  }
  for (const model::KeyAttribute& attribute : key.sort) {
    v1::KeySchemaElement* const element = to->Add();
    element->set_attribute_name(attribute.name);
    element->set_key_type(v1::KEY_TYPE_RANGE);
  }
}

model::Tags ToTags(const google::protobuf::RepeatedPtrField<v1::Tag>& tags, std::optional<size_t>* without_value) {
  model::Tags to;
  for (const v1::Tag& tag : tags) {
    const std::optional<std::string> value = GivenText(tag, tag.kValueFieldNumber);
    if (!value.has_value() && !without_value->has_value()) *without_value = to.size();
    to.emplace_back(tag.key(), value.value_or(""));
  }
  return to;
}

model::TableDefinition ToTableDefinition(const v1::CreateTableRequest& request) {
  model::TableDefinition definition;
  definition.table_name = request.table_name();
  definition.has_table_name = GivenText(request, request.kTableNameFieldNumber).has_value();
  definition.attribute_definitions = ToAttributeDefinitions(request.attribute_definitions());
  definition.key_schema = ToKeySchema(request.key_schema());
  definition.empty_key_schema_given =
      definition.key_schema.empty() && IsListGiven(request, request.kKeySchemaFieldNumber);
  if (IsListGiven(request, request.kLocalSecondaryIndexesFieldNumber)) {
    definition.local_indexes = ToIndexes(request.local_secondary_indexes());
  }
  if (IsListGiven(request, request.kGlobalSecondaryIndexesFieldNumber)) {
    definition.global_indexes = ToIndexes(request.global_secondary_indexes());
  }
  ToSettings(request, &definition);
  definition.resource_policy = GivenText(request, request.kResourcePolicyFieldNumber);
  definition.tags = ToTags(request.tags(), &definition.tag_without_value);
  return definition;
}

model::TableUpdate ToTableUpdate(const v1::UpdateTableRequest& request) {
  model::TableUpdate update;
  update.table_name = GivenText(request, request.kTableNameFieldNumber);
  update.attribute_definitions = ToAttributeDefinitions(request.attribute_definitions());
  ToSettings(request, &update);
  if (IsListGiven(request, request.kGlobalSecondaryIndexUpdatesFieldNumber)) update.global_index_updates.emplace();
  for (const v1::GlobalSecondaryIndexUpdate& entry : request.global_secondary_index_updates()) {
    update.global_index_updates->push_back(ToIndexUpdate(entry));
  }
  return update;
}

void Fill(const engine::TableDescription& description, v1::TableDescription* to) {
  const model::TableDescriptor& table = description.descriptor;
  const std::string arn = model::TableArn(table.name);
  to->set_table_name(table.name);
  to->set_table_status(static_cast<v1::TableStatus>(table.state));
  if (table.state != model::TableState::kDeleting) to->set_creation_date_time_ms(table.creation_time_ms);
  to->set_table_arn(arn);
  to->set_table_id(table.uuid);
  to->set_item_count(description.totals.item_count);
  to->set_table_size_bytes(description.totals.size_bytes);
  FillSettings(description, to);
  // As in the original, the description does not mention a restore that is over.
  if (table.is_being_restored() && !table.is_being_imported()) {
    FillRestore(*table.restore, to->mutable_restore_summary());
  }
  if (table.state == model::TableState::kDeleting) return;
  for (const model::KeyAttribute& attribute : table.attribute_definitions) {
    v1::AttributeDefinition* const out = to->add_attribute_definitions();
    out->set_attribute_name(attribute.name);
    out->set_attribute_type(static_cast<v1::ScalarAttributeType>(attribute.type));
  }
  FillKeySchema(table.key, to->mutable_key_schema());
  FillIndexes(description, arn, to);
}

void Fill(const engine::ListTablesResult& result, v1::ListTablesResponse* to) {
  for (const std::string& name : result.names) to->add_table_names(name);
  if (result.last_evaluated.has_value()) to->set_last_evaluated_table_name(*result.last_evaluated);
}

engine::CreateBackupRequest ToCreateBackup(const v1::CreateBackupRequest& request) {
  return {.table_name = GivenText(request, request.kTableNameFieldNumber),
          .backup_name = GivenText(request, request.kBackupNameFieldNumber)};
}

engine::ListTableBackupsRequest ToListTableBackups(const v1::ListBackupsRequest& request) {
  return {.table_name = GivenText(request, request.kTableNameFieldNumber),
          .limit = GivenInteger(request, request.kLimitFieldNumber),
          .from_ms = GivenInteger(request, request.kTimeRangeLowerBoundMsFieldNumber),
          .until_ms = GivenInteger(request, request.kTimeRangeUpperBoundMsFieldNumber),
          .exclusive_start_arn = GivenText(request, request.kExclusiveStartBackupArnFieldNumber),
          .type = GivenEnum(request, request.kBackupTypeFieldNumber)};
}

engine::RestoreTableRequest ToRestoreTable(const v1::RestoreTableFromBackupRequest& request) {
  engine::RestoreTableRequest to = ToOverrides(request);
  to.backup_arn = GivenText(request, request.kBackupArnFieldNumber);
  return to;
}

engine::RestoreToPointInTimeRequest ToRestoreToPointInTime(const v1::RestoreTableToPointInTimeRequest& request) {
  return {.restore = ToOverrides(request),
          .source_table_name = GivenText(request, request.kSourceTableNameFieldNumber),
          .source_table_arn = GivenText(request, request.kSourceTableArnFieldNumber),
          .use_latest_time = GivenBool(request, request.kUseLatestRestorableTimeFieldNumber),
          .time_ms = GivenInteger(request, request.kRestoreDateTimeMsFieldNumber)};
}

void Fill(const engine::TableBackup& backup, v1::BackupDetails* to) { FillSummary(backup, to); }

void Fill(const engine::TableBackup& backup, v1::BackupDescription* to) {
  Fill(backup, to->mutable_backup_details());
  FillSource(backup, to->mutable_source_table_details());
  FillFeatures(backup.table, to->mutable_source_table_feature_details());
}

void Fill(const engine::ListTableBackupsResult& result, v1::ListBackupsResponse* to) {
  for (const engine::TableBackup& backup : result.backups) {
    v1::BackupSummary* const summary = to->add_backup_summaries();
    FillSummary(backup, summary);
    summary->set_table_name(backup.table.name);
    summary->set_table_id(backup.table.uuid);
    summary->set_table_arn(model::TableArn(backup.table.name));
  }
  if (result.last_evaluated_arn.has_value()) to->set_last_evaluated_backup_arn(*result.last_evaluated_arn);
}

}  // namespace armature::daemon
