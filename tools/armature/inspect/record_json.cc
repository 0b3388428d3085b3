#include "tools/armature/inspect/record_json.h"

#include <concepts>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "armature/api/v1/types.pb.h"
#include "storage/base/strings.h"
#include "storage/codec/canonical_text.h"
#include "storage/codec/change_codec.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/key_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/codec/stream_codec.h"
#include "storage/model/plain_item.h"
#include "storage/model/wire.h"
#include "storage/store/meta_keys.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"

namespace armature::cli {
namespace {

// ---- Keys, rows and records of the change log ----

Json ScalarToJson(model::ScalarType type, const std::string& scalar) {
  const bool is_binary = type == model::ScalarType::kBinary;
  return Json{{std::string(model::ScalarTypeName(type)), is_binary ? absl::Base64Escape(scalar) : scalar}};
}

// The contradiction between the layout and the component at `place`, or nothing.
std::string FaultOf(const codec::DecodedComponent& component, size_t place, const KeyLayout& layout) {
  if (component.type == model::ScalarType::kString && !codec::IsValidUtf8(component.scalar)) {
    return Cat("key: component ", place + 1, " is no UTF-8");
  }
  if (layout.attributes.empty()) return "";
  if (place >= layout.attributes.size()) return Cat("key: component ", place + 1, " belongs to no attribute");
  const model::KeyAttribute& attribute = layout.attributes[place];
  if (attribute.type == component.type) return "";
  return Cat("key: ", attribute.name, " is of type ", model::ScalarTypeName(component.type), ", not ",
             model::ScalarTypeName(attribute.type));
}

// The number of leading components whose hash is the hash of the key; 0 if there is none. `ends`: the end of each
// component in `components`.
size_t PartitionComponents(uint32_t hash, std::string_view components, const std::vector<size_t>& ends) {
  for (size_t i = 0; i < ends.size(); ++i) {
    if (codec::PartitionHash(components.substr(0, ends[i])) == hash) return i + 1;
  }
  return 0;
}

void CheckHash(uint32_t hash, std::string_view components, const std::vector<size_t>& ends, const KeyLayout& layout,
               Decoded* decoded) {
  if (layout.attributes.empty()) {
    const size_t count = PartitionComponents(hash, components, ends);
    if (count == 0) decoded->problems.emplace_back("key: the hash is not that of its first components");
    if (count != 0) decoded->json["PartitionComponents"] = count;
    return;
  }
  if (ends.size() < layout.attributes.size()) {
    decoded->problems.push_back(Cat("key: ", ends.size(), " components of ", layout.attributes.size()));
  }
  if (ends.size() < layout.partition_count) return;
  if (codec::PartitionHash(components.substr(0, ends[layout.partition_count - 1])) != hash) {
    decoded->problems.emplace_back("key: the hash is not that of the partition");
  }
}

// Compares the key attributes of the item with the components of the key, which are intact.
void CheckKeyAttributes(std::string_view key, const model::ItemView& item, const KeyLayout& layout, Decoded* decoded) {
  std::string expected(key.substr(0, codec::kPartitionHashBytes));
  for (const model::KeyAttribute& attribute : layout.attributes) {
    const std::string before = expected;
    if (!codec::AppendKeyComponents({attribute}, item, &expected)) {
      decoded->problems.push_back(Cat("item: has no ", attribute.name, " of the type that the key needs"));
      return;
    }
    if (!key.starts_with(expected)) {
      decoded->problems.push_back(Cat("item: has another ", attribute.name, " than its key"));
      return;
    }
  }
}

// Adds the content of the value of a row.
void AddItem(std::string_view key, std::string_view value, const KeyLayout& layout, Decoded* decoded) {
  const bool is_key_sound = decoded->problems.empty();
  decoded->json["StoredBytes"] = value.size();
  const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(value);
  if (!stored.ok()) {
    decoded->problems.emplace_back(Sv(stored.status().message()));
    return;
  }
  decoded->json["ItemSize"] = stored->api_size;
  const std::string_view bytes = stored->item.bytes();
  const std::string plain = stored->compact_numbers ? model::PlainItem(bytes) : std::string();
  const std::string_view shown = stored->compact_numbers ? plain : bytes;
  api::v1::Item item;
  if (!item.ParseFromArray(shown.data(), static_cast<int>(shown.size()))) {
    decoded->problems.emplace_back("item: malformed");
    return;
  }
  decoded->json["Item"] = MessageToJson(item);
  const absl::StatusOr<codec::CanonicalItem> canonical = codec::CanonicalizeItem(bytes, codec::ValueTexts::kStored);
  if (!canonical.ok()) {
    decoded->problems.push_back(Cat("item: ", Sv(canonical.status().message())));
  } else if (canonical->bytes != bytes || canonical->compact_numbers != stored->compact_numbers) {
    decoded->problems.emplace_back("item: not in canonical form");
  } else if (canonical->api_size != stored->api_size) {
    decoded->problems.push_back(Cat("item: its size is ", canonical->api_size, ", not ", stored->api_size));
  } else if (is_key_sound) {
    CheckKeyAttributes(key, stored->item, layout, decoded);
  }
}

void Append(const std::vector<std::string>& from, std::string_view context, std::vector<std::string>* to) {
  for (const std::string& each : from) to->push_back(Cat(context, ": ", each));
}

Json ChangeToJson(const codec::IndexRowChange& change, const model::TableDescriptor* table,
                  const model::IndexDescriptor* index, Decoded* record) {
  const KeyLayout layout = table != nullptr && index != nullptr ? LayoutOfIndex(*table, *index) : KeyLayout();
  Json json = Json::object();
  json["IndexId"] = change.index.value();
  if (index != nullptr) json["IndexName"] = index->name;
  json["Kind"] = change.is_delete ? "DELETE" : "PUT";
  const Decoded row = change.is_delete ? DecodeKey(change.key, layout)
                                       : DecodeRow(change.key, Cat(change.value_head, change.value), layout);
  json.update(row.json);
  json["ItemDelta"] = change.item_delta;
  json["ByteDelta"] = change.byte_delta;
  Append(row.problems, Cat("change of index ", change.index.value()), &record->problems);
  return json;
}

// ---- Tables and records of the family `meta` ----

double Seconds(int64_t milliseconds) { return static_cast<double>(milliseconds) / 1000; }

Json ToJson(const std::string& value) { return value; }
Json ToJson(const std::integral auto& value) { return value; }
Json ToJson(TableId id) { return id.value(); }
Json ToJson(IndexId id) { return id.value(); }
Json ToJson(StreamId id) { return id.value(); }
Json ToJson(SegmentId id) { return id.value(); }
Json ToJson(ChangeSequence sequence) { return sequence.value(); }
Json ToJson(model::StreamView view) { return model::StreamViewName(view); }
Json ToJson(model::ScalarType type) { return model::ScalarTypeName(type); }
Json ToJson(model::TableState state) { return model::TableStateName(state); }
Json ToJson(model::ProjectionType type) { return model::ProjectionTypeName(type); }
Json ToJson(model::BillingMode mode) { return model::BillingModeName(mode); }
Json ToJson(model::TransferKind kind) {
  constexpr const char* kKinds[] = {"EXPORT", "IMPORT", "BULK_PUT"};
  return kKinds[static_cast<size_t>(kind) - 1];
}
Json ToJson(model::TransferState state) {
  constexpr const char* kStates[] = {"IN_PROGRESS",           "CANCELLING", "COMPLETED",
                                     "COMPLETED_WITH_ERRORS", "CANCELLED",  "FAILED"};
  return kStates[static_cast<size_t>(state) - 1];
}
Json ToJson(model::TransferFormat format) { return format == model::TransferFormat::kCsv ? "CSV" : "DYNAMODB_JSON"; }
Json ToJson(model::TransferCompression compression) {
  constexpr const char* kCompressions[] = {"NONE", "GZIP", "ZSTD"};
  return kCompressions[static_cast<size_t>(compression) - 1];
}
Json ToJson(model::InsightsMode mode) { return model::InsightsModeName(mode); }
Json ToJson(const std::pair<std::string, std::string>& tag) { return {{"Key", tag.first}, {"Value", tag.second}}; }

// Stands before the names id, name and type of fields.
template <class T>
constexpr std::string_view kKind = "";
template <>
constexpr std::string_view kKind<model::TableDescriptor> = "Table";
template <>
constexpr std::string_view kKind<model::IndexDescriptor> = "Index";
template <>
constexpr std::string_view kKind<model::StreamDescriptor> = "Stream";
template <>
constexpr std::string_view kKind<model::KeyAttribute> = "Attribute";
template <>
constexpr std::string_view kKind<model::Projection> = "Projection";

// "on_demand_max" -> "OnDemandMax", "creation_time_ms" -> "CreationDateTime".
std::string MemberName(std::string_view kind, std::string_view field) {
  std::string name(field == "id" || field == "name" || field == "type" ? kind : "");
  const bool is_time = field.ends_with("_ms");
  if (is_time) field.remove_suffix(field.ends_with("time_ms") ? 7 : 3);
  bool is_first = true;
  for (const char c : field) {
    if (c != '_') name += is_first ? static_cast<char>(absl::ascii_toupper(static_cast<unsigned char>(c))) : c;
    is_first = c == '_';
  }
  return is_time ? name + "DateTime" : name;
}

template <class T>
Json ToJson(const std::vector<T>& values);

// Every field of a struct that the catalog keeps. An absent optional field has no member.
template <class T>
Json ToJson(const T& value) {
  Json json = Json::object();
  T::VisitFields(value, [&json]<class Field>(std::string_view field, const Field& member) {
    const std::string name = MemberName(kKind<T>, field);
    if constexpr (requires { member.has_value(); }) {
      if (member.has_value()) json[name] = ToJson(*member);
    } else {
      json[name] = ToJson(member);
    }
    if (field.ends_with("_ms")) json[name] = json[name].get<double>() / 1000;
  });
  return json;
}

template <class T>
Json ToJson(const std::vector<T>& values) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(ToJson(value));
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

Json ToJson(const store::ExpiryState& expiry) {
  constexpr const char* kPhases[] = {"SCANNING", "COMPLETE", "CLEARED"};
  return {{"Phase", kPhases[static_cast<size_t>(expiry.phase) - 1]},
          {"Generation", expiry.generation},
          {"NextKeyHex", Hex(expiry.next_key)}};
}

Json ToJson(const store::StatsDelta& totals) { return {{"Rows", totals.items}, {"Bytes", totals.bytes}}; }

// Adds the family and its totals. Absent totals count as zero.
void SetFamily(const std::string& family, const Tables& tables, Json* json) {
  const store::StatsDelta* const totals = tables.TotalsOf(family);
  (*json)["Family"] = family;
  (*json)["Totals"] = ToJson(totals == nullptr ? store::StatsDelta{} : *totals);
}

void SetIndexes(const model::TableDescriptor& table, const std::vector<model::IndexDescriptor>& indexes,
                const Tables& tables, Json* list) {
  for (size_t i = 0; i < indexes.size(); ++i) {
    const model::IndexDescriptor& index = indexes[i];
    Json& json = (*list)[i];
    SetFamily(FamilyOf(table, index), tables, &json);
    if (index.kind == model::IndexKind::kLocal) continue;
    json["Cursor"] = tables.CursorOf(table.id, index.id);
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
    case store::MetaKind::kTable:
      to.update(ToJson(record.descriptor));
      break;
    case store::MetaKind::kSequence:
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
    case store::MetaKind::kStream:
      to.update(ToJson(record.stream_descriptor));
      break;
    case store::MetaKind::kSegment:
      to["BeginDateTime"] = Seconds(static_cast<int64_t>(record.begin_ms));
      to["FirstSequence"] = record.number;
      break;
    case store::MetaKind::kEpoch:
      to["BaseSequence"] = record.number;
      to["BeginDateTime"] = Seconds(static_cast<int64_t>(record.begin_ms));
      break;
    case store::MetaKind::kDamage:
      to["File"] = record.damage.file;
      to["Reason"] = record.damage.reason;
      to["FoundDateTime"] = Seconds(record.damage.found_ms);
      break;
    case store::MetaKind::kExpiry:
      to.update(ToJson(record.expiry));
      break;
    case store::MetaKind::kTransfer:
      to.update(ToJson(record.transfer));
      to["RequestHex"] = Hex(record.transfer.request);
      to.erase("Request");
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
  const bool is_of_table = kind == MetaKind::kTable || kind == MetaKind::kCursor || kind == MetaKind::kBuild;
  if (is_of_table || kind == MetaKind::kExpiry) {
    (*json)["TableId"] = record.table.value();
  }
  if (kind == MetaKind::kCursor || kind == MetaKind::kBuild) (*json)["IndexId"] = record.index.value();
  if (kind == MetaKind::kStream) (*json)["StreamId"] = record.stream.value();
  if (kind == MetaKind::kSegment) (*json)["Segment"] = record.segment.value();
  if (kind == MetaKind::kStats || kind == MetaKind::kDamage) (*json)["Family"] = record.name;
  if (kind == MetaKind::kToken || kind == MetaKind::kTokenTime) SetToken(record.name, json);
  if (kind == MetaKind::kTokenTime) (*json)["ExpiresDateTime"] = Seconds(record.expires_ms);
}

}  // namespace

Decoded DecodeKey(std::string_view key, const KeyLayout& layout) {
  Decoded decoded;
  decoded.json["KeyHex"] = Hex(key);
  if (key.size() < codec::kPartitionHashBytes) {
    decoded.problems.push_back(Cat("key: ", key.size(), " bytes are too few for a hash"));
    return decoded;
  }
  decoded.json["Hash"] = Hex(key.substr(0, codec::kPartitionHashBytes));
  const std::string_view components = key.substr(codec::kPartitionHashBytes);
  Json list = Json::array();
  std::vector<size_t> ends;
  std::string_view rest = components;
  while (!rest.empty()) {
    const absl::StatusOr<codec::DecodedComponent> component = codec::TakeKeyComponent(&rest);
    if (!component.ok()) {
      const size_t at = ends.empty() ? 0 : ends.back();
      decoded.problems.push_back(
          Cat(Sv(component.status().message()), ", at byte ", codec::kPartitionHashBytes + at, " of the key"));
      break;
    }
    Json entry = Json::object();
    if (list.size() < layout.attributes.size()) entry["Attribute"] = layout.attributes[list.size()].name;
    entry["Value"] = ScalarToJson(component->type, component->scalar);
    if (std::string fault = FaultOf(*component, list.size(), layout); !fault.empty()) {
      decoded.problems.push_back(std::move(fault));
    }
    list.push_back(std::move(entry));
    ends.push_back(components.size() - rest.size());
  }
  decoded.json["Components"] = std::move(list);
  CheckHash(codec::HashOfKey(key), components, ends, layout, &decoded);
  return decoded;
}

std::string ComponentsText(const Json& components) {
  std::string text;
  for (const Json& component : components) {
    text += text.empty() ? "" : ", ";
    if (component.contains("Attribute")) text += component["Attribute"].get<std::string>() + "=";
    text += Cat(component["Value"].begin().key(), ":", ShowValue(component["Value"]));
  }
  return text;
}

Decoded DecodeRow(std::string_view key, std::string_view value, const KeyLayout& layout) {
  Decoded decoded = DecodeKey(key, layout);
  AddItem(key, value, layout, &decoded);
  return decoded;
}

Decoded DecodeCollection(std::string_view key, std::string_view value, const KeyLayout& layout) {
  Decoded decoded = DecodeKey(key, layout);
  uint64_t bytes = 0;
  if (model::TakeVarint(&value, &bytes) && value.empty()) {
    decoded.json["CollectionBytes"] = bytes;
  } else {
    decoded.problems.emplace_back("size of a collection: expected one varint");
  }
  return decoded;
}

Decoded DecodeLogRecord(std::string_view key, std::string_view value, const Tables& tables) {
  Decoded decoded;
  const std::optional<ChangeSequence> sequence = store::SequenceOfLogKey(key);
  if (!sequence.has_value()) {
    decoded.json["KeyHex"] = Hex(key);
    decoded.problems.emplace_back("key of the log: expected a table id and a sequence");
    return decoded;
  }
  const TableId id(*store::ParseU32(key.substr(0, sizeof(uint32_t))));
  const model::TableDescriptor* const table = tables.Find(id);
  decoded.json["TableId"] = id.value();
  if (table != nullptr) decoded.json["TableName"] = table->name;
  decoded.json["Sequence"] = sequence->value();
  const absl::StatusOr<codec::ChangeRecord> record = codec::ParseChangeRecord(value);
  if (!record.ok()) {
    decoded.problems.emplace_back(Sv(record.status().message()));
    return decoded;
  }
  decoded.json["Version"] = static_cast<int>(value.front());
  decoded.json["DateTime"] = Seconds(record->time_ms);
  Decoded base = DecodeKey(record->base_key, table == nullptr ? KeyLayout() : LayoutOfTable(*table));
  Append(base.problems, "item", &decoded.problems);
  decoded.json["BaseKey"] = std::move(base.json);
  Json changes = Json::array();
  for (const codec::IndexRowChange& change : record->index_changes) {
    changes.push_back(ChangeToJson(change, table, tables.FindIndex(id, change.index), &decoded));
  }
  decoded.json["Changes"] = std::move(changes);
  return decoded;
}

Decoded DecodeStreamRecord(std::string_view key, std::string_view value) {
  Decoded decoded;
  const std::optional<ChangeSequence> sequence = store::SequenceOfStreamRecordKey(key);
  if (!sequence.has_value()) {
    decoded.json["KeyHex"] = Hex(key);
    decoded.problems.emplace_back("key of the streams: expected a segment, a stream, a slot and a sequence");
    return decoded;
  }
  constexpr size_t kIdBytes = sizeof(uint32_t);
  decoded.json["Segment"] = *store::ParseU32(key.substr(0, kIdBytes));
  decoded.json["StreamId"] = *store::ParseU32(key.substr(kIdBytes, kIdBytes));
  decoded.json["Slot"] = static_cast<int>(static_cast<uint8_t>(key[2 * kIdBytes]));
  decoded.json["Sequence"] = sequence->value();
  const absl::StatusOr<codec::StreamRecord> record = codec::ParseStreamRecord(value);
  if (!record.ok()) {
    decoded.problems.emplace_back(Sv(record.status().message()));
    return decoded;
  }
  decoded.json["Event"] = codec::StreamEventName(record->event);
  if (record->is_expiry) decoded.json["Expiry"] = true;
  decoded.json["DateTime"] = Seconds(record->time_ms);
  const std::pair<const char*, const std::optional<std::string_view>&> images[] = {
      {"Keys", record->keys}, {"NewImage", record->new_image}, {"OldImage", record->old_image}};
  for (const auto& [name, image] : images) {
    if (!image.has_value()) continue;
    Decoded item;
    AddItem("", *image, {}, &item);
    Append(item.problems, name, &decoded.problems);
    if (item.json.contains("Item")) decoded.json[name] = item.json["Item"];
  }
  return decoded;
}

Json WithProblems(const Decoded& decoded, std::string_view value) {
  Json json = decoded.json;
  if (decoded.problems.empty()) return json;
  json["Problems"] = decoded.problems;
  json["ValueHex"] = Hex(value);
  return json;
}

Json TableToJson(const model::TableDescriptor& table, const Tables& tables) {
  Json json = ToJson(table);
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
  constexpr const char* kKinds[] = {"Unknown",       "NextId", "Sequence", "Table",     "Cursor",
                                    "Build",         "Totals", "Token",    "TokenTime", "Stream",
                                    "StreamSegment", "Expiry", "Transfer", "Epoch",     "Damage"};
  static_assert(std::size(kKinds) == static_cast<size_t>(store::MetaKind::kLast) + 1);
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
