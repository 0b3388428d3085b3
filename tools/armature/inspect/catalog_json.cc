#include "tools/armature/inspect/catalog_json.h"

#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/store/meta_keys.h"

namespace armature::cli {
namespace {

double Seconds(int64_t milliseconds) { return static_cast<double>(milliseconds) / 1000; }

Json ToJson(const std::string& value) { return value; }
Json ToJson(const std::integral auto& value) { return value; }
Json ToJson(TableId id) { return id.value(); }
Json ToJson(IndexId id) { return id.value(); }
Json ToJson(model::ScalarType type) { return model::ScalarTypeName(type); }
Json ToJson(model::TableState state) { return model::TableStateName(state); }
Json ToJson(model::ProjectionType type) { return model::ProjectionTypeName(type); }
Json ToJson(model::BillingMode mode) { return model::BillingModeName(mode); }
Json ToJson(const std::pair<std::string, std::string>& tag) { return {{"Key", tag.first}, {"Value", tag.second}}; }

// Stands before the names id, name and type of fields.
template <class T>
constexpr std::string_view kKind = "";
template <>
constexpr std::string_view kKind<model::TableDescriptor> = "Table";
template <>
constexpr std::string_view kKind<model::IndexDescriptor> = "Index";
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

Json DescriptorToJson(const model::TableDescriptor& table) { return ToJson(table); }

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
