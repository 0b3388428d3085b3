#include "daemon/json/table_answers.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/strings.h"
#include "storage/model/table_name.h"

namespace armature::daemon {
namespace {

using model::Throughput;

// States of indexes have the names of those of tables.
std::string_view IndexStateName(model::IndexState state) {
  return model::TableStateName(static_cast<model::TableState>(state));
}

// An on-demand table or index reports zeros.
void WriteProvisioned(const std::optional<Throughput>& throughput, const model::ThroughputChanges& changes,
                      int64_t now_ms, JsonWriter* writer) {
  const Throughput shown = throughput.value_or(Throughput());
  writer->Key("ProvisionedThroughput").BeginObject();
  if (changes.last_increase_ms != 0) writer->Key("LastIncreaseDateTime").Timestamp(changes.last_increase_ms);
  if (changes.last_decrease_ms != 0) writer->Key("LastDecreaseDateTime").Timestamp(changes.last_decrease_ms);
  writer->Key("NumberOfDecreasesToday").Integer(model::DecreasesOnDayOf(now_ms, changes));
  writer->Key("ReadCapacityUnits").Integer(shown.read_units);
  writer->Key("WriteCapacityUnits").Integer(shown.write_units).EndObject();
}

void WriteWarm(const Throughput& throughput, std::string_view status, JsonWriter* writer) {
  writer->Key("WarmThroughput").BeginObject();
  writer->Key("ReadUnitsPerSecond").Integer(throughput.read_units);
  writer->Key("WriteUnitsPerSecond").Integer(throughput.write_units);
  writer->Member("Status", status).EndObject();
}

// What both kinds of index report. Leaves the object open.
void BeginIndex(const model::IndexDescriptor& index, const engine::Totals& totals, std::string_view table_arn,
                JsonWriter* writer) {
  writer->BeginObject().Member("IndexName", index.name);
  WriteKeySchema(index.key, &writer->Key("KeySchema"));
  WriteProjection(index.projection, &writer->Key("Projection"));
  writer->Key("IndexSizeBytes").Integer(totals.size_bytes).Key("ItemCount").Integer(totals.item_count);
  writer->Member("IndexArn", Cat(table_arn, "/index/", index.name));
}

// Not part of the documented API, whose clients pass over members that they do not know.
void WriteBacklog(const std::optional<engine::Backlog>& backlog, JsonWriter* writer) {
  if (!backlog.has_value()) return;
  writer->Key("Backlog").BeginObject().Key("Records").Integer(static_cast<int64_t>(backlog->records));
  writer->Key("Bytes").Integer(static_cast<int64_t>(backlog->bytes));
  writer->Key("AgeSeconds").Integer(backlog->age_ms / 1000).EndObject();
}

void WriteIndexes(const engine::TableDescription& description, std::string_view arn, JsonWriter* writer) {
  const model::TableDescriptor& table = description.descriptor;
  if (!table.local_indexes.empty()) {
    writer->Key("LocalSecondaryIndexes").BeginArray();
    for (size_t i = 0; i < table.local_indexes.size(); ++i) {
      BeginIndex(table.local_indexes[i], description.local_indexes[i], arn, writer);
      writer->EndObject();
    }
    writer->EndArray();
  }
  if (table.global_indexes.empty()) return;
  writer->Key("GlobalSecondaryIndexes").BeginArray();
  for (size_t i = 0; i < table.global_indexes.size(); ++i) {
    const model::IndexDescriptor& index = table.global_indexes[i];
    BeginIndex(index, description.global_indexes[i], arn, writer);
    writer->Member("IndexStatus", IndexStateName(index.state));
    if (const std::optional<bool> backfilling = engine::BackfillingOf(table, index)) {
      writer->Key("Backfilling").Boolean(*backfilling);
    }
    WriteBacklog(description.global_indexes[i].backlog, writer);
    WriteProvisioned(index.provisioned, index.throughput_changes, description.time_ms, writer);
    WriteOnDemand(index.on_demand_max, writer);
    WriteWarm(engine::WarmThroughputOf(index.warm, index.provisioned), IndexStateName(engine::WarmStateOf(index.state)),
              writer);
    writer->EndObject();
  }
  writer->EndArray();
}

void WriteStream(const model::TableDescriptor& table, JsonWriter* writer) {
  if (const std::string label = table.LatestStreamLabel(); !label.empty()) {
    writer->Member("LatestStreamLabel", label).Member("LatestStreamArn", model::StreamArn(table.name, label));
  }
  WriteStreamSpecification("StreamSpecification", table.settings, writer);
}

void WriteTableClass(const model::TableSettings& settings, JsonWriter* writer) {
  if (settings.table_class.empty()) return;
  writer->Key("TableClassSummary").BeginObject().Member("TableClass", settings.table_class);
  if (settings.table_class_changed_ms != 0) {
    writer->Key("LastUpdateDateTime").Timestamp(settings.table_class_changed_ms);
  }
  writer->EndObject();
}

void WriteSettings(const engine::TableDescription& description, JsonWriter* writer) {
  const model::TableDescriptor& table = description.descriptor;
  const model::TableSettings& settings = table.settings;
  WriteProvisioned(settings.provisioned, settings.throughput_changes, description.time_ms, writer);
  if (const int64_t since_ms = table.OnDemandSinceMs(); since_ms != 0) {
    writer->Key("BillingModeSummary").BeginObject();
    writer->Member("BillingMode", model::BillingModeName(settings.billing_mode));
    writer->Key("LastUpdateToPayPerRequestDateTime").Timestamp(since_ms).EndObject();
  }
  writer->Key("DeletionProtectionEnabled").Boolean(settings.deletion_protection);
  WriteOnDemand(settings.on_demand_max, writer);
  WriteWarm(engine::WarmThroughputOf(settings.warm, settings.provisioned),
            model::TableStateName(engine::WarmStateOf(table.state)), writer);
  WriteTableClass(settings, writer);
  WriteStream(table, writer);
  WriteEncryption(settings, writer);
}

void WriteRestore(const std::optional<model::RestoreOrigin>& origin, JsonWriter* writer) {
  if (!origin.has_value()) return;
  writer->Key("RestoreSummary").BeginObject().Member("SourceBackupArn", origin->backup_arn);
  writer->Member("SourceTableArn", origin->source_table_arn);
  writer->Key("RestoreDateTime").Timestamp(origin->time_ms);
  writer->Key("RestoreInProgress").Boolean(origin->in_progress).EndObject();
}

}  // namespace

void WriteOnDemand(const std::optional<Throughput>& throughput, JsonWriter* writer) {
  if (!throughput.has_value()) return;
  writer->Key("OnDemandThroughput").BeginObject();
  writer->Key("MaxReadRequestUnits").Integer(throughput->read_units);
  writer->Key("MaxWriteRequestUnits").Integer(throughput->write_units).EndObject();
}

void WriteStreamSpecification(std::string_view member, const model::TableSettings& settings, JsonWriter* writer) {
  if (!settings.stream_enabled) return;
  writer->Key(member).BeginObject().Key("StreamEnabled").Boolean(true);
  writer->Member("StreamViewType", settings.stream_view_type).EndObject();
}

void WriteEncryption(const model::TableSettings& settings, JsonWriter* writer) {
  if (!settings.sse_enabled) return;
  writer->Key("SSEDescription").BeginObject().Member("Status", "ENABLED");
  writer->Member("SSEType", settings.sse_type.empty() ? "KMS" : settings.sse_type);
  if (!settings.sse_kms_key.empty()) writer->Member("KMSMasterKeyArn", settings.sse_kms_key);
  writer->EndObject();
}

void WriteKeySchema(const model::KeySchema& key, JsonWriter* writer) {
  writer->BeginArray();
  for (const model::KeyAttribute& attribute : key.partition) {
    writer->BeginObject().Member("AttributeName", attribute.name).Member("KeyType", "HASH").EndObject();
  }
  for (const model::KeyAttribute& attribute : key.sort) {
    writer->BeginObject().Member("AttributeName", attribute.name).Member("KeyType", "RANGE").EndObject();
  }
  writer->EndArray();
}

void WriteProjection(const model::Projection& projection, JsonWriter* writer) {
  writer->BeginObject().Member("ProjectionType", model::ProjectionTypeName(projection.type));
  if (!projection.non_key_attributes.empty()) {
    std::vector<std::string> names = projection.non_key_attributes;
    std::sort(names.begin(), names.end());  // kept in the order given, described in this one
    writer->Key("NonKeyAttributes").BeginArray();
    for (const std::string& name : names) writer->String(name);
    writer->EndArray();
  }
  writer->EndObject();
}

void WriteTableDescription(const engine::TableDescription& description, JsonWriter* writer) {
  const model::TableDescriptor& table = description.descriptor;
  const std::string arn = model::TableArn(table.name);
  writer->BeginObject().Member("TableName", table.name).Member("TableStatus", model::TableStateName(table.state));
  writer->Key("CreationDateTime").Timestamp(table.creation_time_ms);
  writer->Member("TableArn", arn).Member("TableId", table.uuid);
  writer->Key("ItemCount").Integer(description.totals.item_count);
  writer->Key("TableSizeBytes").Integer(description.totals.size_bytes);
  WriteSettings(description, writer);
  WriteRestore(table.restore, writer);
  if (table.state != model::TableState::kDeleting) {
    writer->Key("AttributeDefinitions").BeginArray();
    for (const model::KeyAttribute& attribute : table.attribute_definitions) {
      writer->BeginObject().Member("AttributeName", attribute.name);
      writer->Member("AttributeType", model::ScalarTypeName(attribute.type)).EndObject();
    }
    writer->EndArray();
    WriteKeySchema(table.key, &writer->Key("KeySchema"));
    WriteIndexes(description, arn, writer);
  }
  writer->EndObject();
}

}  // namespace armature::daemon
