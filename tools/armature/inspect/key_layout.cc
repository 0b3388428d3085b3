#include "tools/armature/inspect/key_layout.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/key_codec.h"
#include "tools/armature/text_table.h"

namespace armature::cli {
namespace {

void Append(const std::vector<model::KeyAttribute>& from, std::vector<model::KeyAttribute>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

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

}  // namespace

KeyLayout LayoutOfTable(const model::TableDescriptor& table) {
  KeyLayout layout = LayoutOfCollections(table);
  Append(table.key.sort, &layout.attributes);
  return layout;
}

KeyLayout LayoutOfIndex(const model::TableDescriptor& table, const model::IndexDescriptor& index) {
  KeyLayout layout{index.key.partition, index.key.partition.size()};
  Append(index.key.sort, &layout.attributes);
  if (index.kind == model::IndexKind::kGlobal) Append(table.key.partition, &layout.attributes);
  Append(table.key.sort, &layout.attributes);
  return layout;
}

KeyLayout LayoutOfCollections(const model::TableDescriptor& table) {
  return {table.key.partition, table.key.partition.size()};
}

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

std::string Hex(std::string_view bytes) { return absl::BytesToHexString(Av(bytes)); }

}  // namespace armature::cli
