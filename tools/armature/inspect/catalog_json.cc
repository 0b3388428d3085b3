#include "tools/armature/inspect/catalog_json.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/store/meta_keys.h"

namespace armature::cli {
namespace {

double Seconds(int64_t milliseconds) { return static_cast<double>(milliseconds) / 1000; }

Json ToJson(const std::vector<model::KeyAttribute>& attributes) {
  Json json = Json::array();
  for (const model::KeyAttribute& attribute : attributes) {
    json.push_back({{"AttributeName", attribute.name}, {"AttributeType", model::ScalarTypeName(attribute.type)}});
  }
  return json;
}

Json ToJson(const model::KeySchema& key) { return {{"Partition", ToJson(key.partition)}, {"Sort", ToJson(key.sort)}}; }

void Set(const char* name, const std::optional<model::Throughput>& throughput, Json* json) {
  if (!throughput.has_value()) return;
  (*json)[name] = {{"ReadUnits", throughput->read_units}, {"WriteUnits", throughput->write_units}};
}

Json ToJson(const model::ThroughputChanges& changes) {
  return {{"LastIncreaseDateTime", Seconds(changes.last_increase_ms)},
          {"LastDecreaseDateTime", Seconds(changes.last_decrease_ms)},
          {"Decreases", changes.decreases}};
}

// The states of an index are those of a table.
std::string_view StateName(model::IndexState state) {
  return model::TableStateName(static_cast<model::TableState>(static_cast<uint8_t>(state)));
}

Json ToJson(const model::IndexDescriptor& index) {
  Json json = Json::object();
  json["IndexId"] = index.id.value();
  json["IndexName"] = index.name;
  json["State"] = StateName(index.state);
  json["Backfilling"] = index.backfilling;
  json["Key"] = ToJson(index.key);
  json["Projection"] = {{"ProjectionType", model::ProjectionTypeName(index.projection.type)},
                        {"NonKeyAttributes", index.projection.non_key_attributes}};
  Set("Provisioned", index.provisioned, &json);
  Set("OnDemandMax", index.on_demand_max, &json);
  Set("Warm", index.warm, &json);
  json["ThroughputChanges"] = ToJson(index.throughput_changes);
  return json;
}

Json ToJson(const model::TableSettings& settings) {
  Json json = Json::object();
  json["BillingMode"] = model::BillingModeName(settings.billing_mode);
  Set("Provisioned", settings.provisioned, &json);
  Set("OnDemandMax", settings.on_demand_max, &json);
  Set("Warm", settings.warm, &json);
  json["DeletionProtection"] = settings.deletion_protection;
  json["TableClass"] = settings.table_class;
  json["TableClassChangedDateTime"] = Seconds(settings.table_class_changed_ms);
  json["StreamEnabled"] = settings.stream_enabled;
  json["StreamViewType"] = settings.stream_view_type;
  json["LatestStreamLabel"] = settings.latest_stream_label;
  json["SseEnabled"] = settings.sse_enabled;
  json["SseType"] = settings.sse_type;
  json["SseKmsKey"] = settings.sse_kms_key;
  json["Tags"] = Json::array();
  for (const auto& [key, value] : settings.tags) json["Tags"].push_back({{"Key", key}, {"Value", value}});
  json["ThroughputChanges"] = ToJson(settings.throughput_changes);
  json["OnDemandSinceDateTime"] = Seconds(settings.on_demand_since_ms);
  json["TimeToLiveAttribute"] = settings.time_to_live_attribute;
  if (settings.point_in_time_recovery.has_value()) {
    json["PointInTimeRecovery"] = {{"EnabledSinceDateTime", Seconds(settings.point_in_time_recovery->enabled_since_ms)},
                                   {"PeriodDays", settings.point_in_time_recovery->period_days}};
  }
  return json;
}

Json ToJson(const store::BuildState& build) {
  constexpr const char* kPhases[] = {"WAITING", "SCANNING", "CATCHING_UP"};
  return {{"Phase", kPhases[static_cast<size_t>(build.phase)]},
          {"FromSequence", build.from_sequence.value()},
          {"ThroughSequence", build.through_sequence.value()},
          {"NextKeyHex", Hex(build.next_key)},
          {"Scanned", build.scanned},
          {"Written", build.written},
          {"Skipped", build.skipped},
          {"StartedDateTime", Seconds(build.started_ms)}};
}

Json ToJson(const store::StatsDelta& totals) { return {{"Rows", totals.items}, {"Bytes", totals.bytes}}; }

// Adds the family and its totals. Absent totals count as zero.
void SetFamily(const std::string& family, const Tables& tables, Json* json) {
  (*json)["Family"] = family;
  (*json)["Totals"] = ToJson(tables.TotalsOf(family).value_or(store::StatsDelta{}));
}

void SetIndexes(const model::TableDescriptor& table, const std::vector<model::IndexDescriptor>& indexes,
                const Tables& tables, Json* list) {
  for (size_t i = 0; i < indexes.size(); ++i) {
    const model::IndexDescriptor& index = indexes[i];
    Json& json = (*list)[i];
    SetFamily(FamilyOf(table, index), tables, &json);
    if (index.kind == model::IndexKind::kLocal) continue;
    json["Cursor"] = tables.CursorOf(table.id, index.id).value_or(0);
    if (const store::BuildState* const build = tables.BuildOf(table.id, index.id); build != nullptr) {
      json["Build"] = ToJson(*build);
    }
  }
}

// A token as text, or in hex if it is malformed.
void SetToken(const std::string& token, Json* json) {
  if (codec::IsValidUtf8(token)) {
    (*json)["Token"] = token;
  } else {
    (*json)["TokenHex"] = Hex(token);
  }
}

void SetContent(const store::MetaRecord& record, Json* json) {
  Json& to = *json;
  switch (record.kind) {
    case store::MetaKind::kNextId:
      to["NextId"] = record.number;
      break;
    case store::MetaKind::kSequence:
      to["Sequence"] = record.number;
      break;
    case store::MetaKind::kTable:
      to.update(DescriptorToJson(record.descriptor));
      break;
    case store::MetaKind::kCursor:
      to["Sequence"] = record.number;
      break;
    case store::MetaKind::kBuild:
      to.update(ToJson(record.build));
      break;
    case store::MetaKind::kStats:
      to.update(ToJson(record.totals));
      break;
    case store::MetaKind::kToken:
      to["ExpiresDateTime"] = Seconds(record.token.expires_ms);
      to["FingerprintHex"] = Hex(record.token.fingerprint);
      break;
    case store::MetaKind::kTokenTime:
    case store::MetaKind::kUnknown:
      break;
  }
}

// The members known from the key, which do not need the value.
void SetKeyParts(const store::MetaRecord& record, Json* json) {
  using store::MetaKind;
  const MetaKind kind = record.kind;
  if (kind == MetaKind::kTable || kind == MetaKind::kCursor || kind == MetaKind::kBuild) {
    (*json)["TableId"] = record.table.value();
  }
  if (kind == MetaKind::kCursor || kind == MetaKind::kBuild) (*json)["IndexId"] = record.index.value();
  if (kind == MetaKind::kStats) (*json)["Family"] = record.name;
  if (kind == MetaKind::kToken || kind == MetaKind::kTokenTime) SetToken(record.name, json);
  if (kind == MetaKind::kTokenTime) (*json)["ExpiresDateTime"] = Seconds(record.expires_ms);
}

}  // namespace

Json DescriptorToJson(const model::TableDescriptor& table) {
  Json json = Json::object();
  json["TableId"] = table.id.value();
  json["TableName"] = table.name;
  json["Uuid"] = table.uuid;
  json["State"] = model::TableStateName(table.state);
  json["CreationDateTime"] = Seconds(table.creation_time_ms);
  json["Key"] = ToJson(table.key);
  json["AttributeDefinitions"] = ToJson(table.attribute_definitions);
  json["LocalIndexes"] = Json::array();
  for (const model::IndexDescriptor& index : table.local_indexes) json["LocalIndexes"].push_back(ToJson(index));
  json["GlobalIndexes"] = Json::array();
  for (const model::IndexDescriptor& index : table.global_indexes) json["GlobalIndexes"].push_back(ToJson(index));
  json["Settings"] = ToJson(table.settings);
  if (table.restore.has_value()) {
    json["Restore"] = {{"BackupArn", table.restore->backup_arn},
                       {"SourceTableArn", table.restore->source_table_arn},
                       {"DateTime", Seconds(table.restore->time_ms)},
                       {"InProgress", table.restore->in_progress}};
  }
  return json;
}

Json TableToJson(const model::TableDescriptor& table, const Tables& tables) {
  Json json = DescriptorToJson(table);
  SetFamily(store::DataFamilyName(table.id), tables, &json);
  if (!table.local_indexes.empty()) json["CollectionsFamily"] = store::CollectionFamilyName(table.id);
  SetIndexes(table, table.local_indexes, tables, &json["LocalIndexes"]);
  SetIndexes(table, table.global_indexes, tables, &json["GlobalIndexes"]);
  return json;
}

std::string KeySchemaText(const model::KeySchema& key) {
  const auto list = [](const std::vector<model::KeyAttribute>& attributes) {
    std::string text;
    for (const model::KeyAttribute& attribute : attributes) {
      text += Cat(text.empty() ? "" : ", ", attribute.name, " ", model::ScalarTypeName(attribute.type));
    }
    return text;
  };
  return key.sort.empty() ? list(key.partition) : Cat(list(key.partition), " | ", list(key.sort));
}

Decoded MetaRecordToJson(std::string_view key, const store::MetaRecord& record) {
  constexpr const char* kKinds[] = {"Unknown", "NextId", "Sequence", "Table",    "Cursor",
                                    "Build",   "Totals", "Token",    "TokenTime"};
  Decoded decoded;
  decoded.json["Kind"] = kKinds[static_cast<size_t>(record.kind)];
  SetKeyParts(record, &decoded.json);
  if (record.status.ok()) {
    SetContent(record, &decoded.json);
  } else {
    decoded.json["KeyHex"] = Hex(key);
    decoded.problems.emplace_back(Sv(record.status.message()));
  }
  return decoded;
}

}  // namespace armature::cli
