#include "tools/armature/inspect/record_json.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"
#include "storage/base/strings.h"
#include "storage/codec/change_codec.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/key_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/wire.h"
#include "storage/store/meta_keys.h"
#include "tools/armature/attribute_json.h"

namespace armature::cli {
namespace {

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
  api::v1::Item item;
  if (!item.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    decoded->problems.emplace_back("item: malformed");
    return;
  }
  decoded->json["Item"] = ItemToJson(item);
  const absl::StatusOr<codec::CanonicalItem> canonical = codec::CanonicalizeItem(bytes);
  if (!canonical.ok()) {
    decoded->problems.push_back(Cat("item: ", Sv(canonical.status().message())));
  } else if (canonical->bytes != bytes) {
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
  const Decoded row = change.is_delete ? DecodeKey(change.key, layout) : DecodeRow(change.key, change.value, layout);
  json.update(row.json);
  json["ItemDelta"] = change.item_delta;
  json["ByteDelta"] = change.byte_delta;
  Append(row.problems, Cat("change of index ", change.index.value()), &record->problems);
  return json;
}

}  // namespace

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
  decoded.json["DateTime"] = static_cast<double>(record->time_ms) / 1000;
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

Json WithProblems(const Decoded& decoded, std::string_view value) {
  Json json = decoded.json;
  if (decoded.problems.empty()) return json;
  json["Problems"] = decoded.problems;
  json["ValueHex"] = Hex(value);
  return json;
}

}  // namespace armature::cli
