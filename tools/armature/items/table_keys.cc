#include "tools/armature/items/table_keys.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_join.h"
#include "daemon/message_json/base64.h"
#include "storage/base/did_you_mean.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/canonical_text.h"
#include "storage/model/number.h"
#include "tools/armature/command.h"
#include "tools/armature/items/item_text.h"
#include "tools/armature/plain_json.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

using api::v1::AttributeValue;
using api::v1::Item;
using api::v1::ScalarAttributeType;

std::string_view TypeLetter(ScalarAttributeType type) {
  switch (type) {
    case api::v1::SCALAR_ATTRIBUTE_TYPE_S:
      return "S";
    case api::v1::SCALAR_ATTRIBUTE_TYPE_N:
      return "N";
    case api::v1::SCALAR_ATTRIBUTE_TYPE_B:
      return "B";
    default:
      return "?";
  }
}

template <class Elements>
TargetKey TargetKeyOf(std::string name, const api::v1::TableDescription& table, const Elements& elements) {
  TargetKey key{.name = std::move(name), .attributes = {}};
  for (const api::v1::KeySchemaElement& element : elements) {
    KeyAttribute& attribute = key.attributes.emplace_back();
    attribute.name = element.attribute_name();
    attribute.is_partition = element.key_type() == api::v1::KEY_TYPE_HASH;
    for (const api::v1::AttributeDefinition& definition : table.attribute_definitions()) {
      if (definition.attribute_name() == attribute.name) attribute.type = definition.attribute_type();
    }
  }
  return key;
}

// Sets the target to the index if it is among `indexes`. Adds the names of all to `names`.
template <class Indexes>
void FindIndex(const api::v1::TableDescription& table, const Indexes& indexes, const std::string& name,
               TargetKeys* keys, std::vector<std::string>* names) {
  for (const auto& index : indexes) {
    names->push_back(index.index_name());
    if (index.index_name() != name) continue;
    keys->target = TargetKeyOf(Cat(table.table_name(), "/", name), table, index.key_schema());
    keys->item_count = index.item_count();
  }
}

// The attribute NAME of a text NAME=VALUE; null if it is no key attribute.
const KeyAttribute* NamedBy(const TargetKey& key, std::string_view text) {
  for (const KeyAttribute& attribute : key.attributes) {
    if (text.starts_with(attribute.name) && text.substr(attribute.name.size()).starts_with('=')) return &attribute;
  }
  return nullptr;
}

absl::Status WrongKey(const TargetKey& key, std::string_view fault) {
  return UsageError(Cat(fault, "; ", key.Describe()));
}

absl::StatusOr<Item> KeyFromJson(const TargetKey& key, const std::string& text) {
  absl::StatusOr<Item> item = ItemFromPlain(text);
  if (!item.ok()) return WrongKey(key, Cat("the key: ", Sv(item.status().message())));
  for (const KeyAttribute& attribute : key.attributes) {
    if (!item->attributes().contains(attribute.name)) return WrongKey(key, Cat("the key lacks ", attribute.name));
  }
  if (item->attributes().size() != key.attributes.size()) return WrongKey(key, "the key has other attributes, too");
  return item;
}

}  // namespace

absl::StatusOr<ItemTarget> ParseTarget(const std::string& text) {
  ItemTarget target{.table = text, .index = ""};
  const bool is_arn = text.starts_with("arn:");
  // The ARN of a table contains one slash: .../table/orders/index/by_status.
  const std::string_view separator = is_arn ? "/index/" : "/";
  const size_t slash = text.find(separator);
  if (slash != std::string::npos) {
    target = {.table = text.substr(0, slash), .index = text.substr(slash + separator.size())};
    if (target.index.empty()) return UsageError(Cat("\"", text, "\" lacks the name of the index: TABLE/INDEX"));
  }
  if (target.table.empty()) return UsageError(Cat("\"", text, "\" lacks the name of the table"));
  return target;
}

const KeyAttribute* TargetKey::Find(std::string_view attribute) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const KeyAttribute& each) { return each.name == attribute; });
  return found == attributes.end() ? nullptr : &*found;
}

std::string TargetKey::Describe() const {
  std::string text;
  for (const KeyAttribute& attribute : attributes) {
    text += Cat(text.empty() ? "" : ", ", attribute.name, " (", TypeLetter(attribute.type), ")");
  }
  return Cat(name, " has the key ", text);
}

std::vector<std::string> TargetKeys::Names() const {
  std::vector<std::string> names;
  for (const TargetKey* key : {&target, &table}) {
    for (const KeyAttribute& attribute : key->attributes) {
      if (std::find(names.begin(), names.end(), attribute.name) == names.end()) names.push_back(attribute.name);
    }
  }
  return names;
}

absl::StatusOr<TargetKeys> FindKeys(const client::Client& client, const ItemTarget& target) {
  ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription table, DescribeTable(client, target.table));
  TargetKeys keys;
  keys.table = TargetKeyOf(table.table_name(), table, table.key_schema());
  keys.target = keys.table;
  keys.item_count = table.item_count();
  if (target.index.empty()) return keys;
  std::vector<std::string> names;
  keys.target.attributes.clear();
  FindIndex(table, table.local_secondary_indexes(), target.index, &keys, &names);
  FindIndex(table, table.global_secondary_indexes(), target.index, &keys, &names);
  if (keys.target.attributes.empty()) {
    const std::string known = names.empty() ? "has no indexes" : Cat("has the indexes ", absl::StrJoin(names, ", "));
    return UsageError(
        Cat("there is no index ", target.index, "; ", table.table_name(), " ", known, DidYouMean(target.index, names)));
  }
  return keys;
}

absl::StatusOr<AttributeValue> KeyValueFromText(const TargetKey& key, const KeyAttribute& attribute,
                                                std::string_view text) {
  AttributeValue value;
  switch (attribute.type) {
    case api::v1::SCALAR_ATTRIBUTE_TYPE_N: {
      const auto number = model::Number::Parse(text);
      if (!number.ok()) {
        return WrongKey(key, Cat("the key attribute ", attribute.name, " is a number, not \"", text, "\""));
      }
      value.set_n(std::string(text));
      return value;
    }
    case api::v1::SCALAR_ATTRIBUTE_TYPE_B: {
      std::string bytes;
      if (text.size() % 4 == 0) bytes.resize(daemon::DecodedSize(text));
      if (text.empty() || bytes.empty() || !daemon::DecodeBase64(text, bytes.data())) {
        return WrongKey(key, Cat("the key attribute ", attribute.name, " is binary in base64, not \"", text, "\""));
      }
      value.set_b(std::move(bytes));
      return value;
    }
    default:
      if (text.empty()) return WrongKey(key, Cat("the key attribute ", attribute.name, " must not be empty"));
      if (!codec::IsValidUtf8(text)) return WrongKey(key, Cat("the key attribute ", attribute.name, " is not UTF-8"));
      value.set_s(std::string(text));
      return value;
  }
}

absl::StatusOr<Item> KeyFromTexts(const TargetKey& key, const std::vector<std::string>& texts) {
  if (texts.size() == 1 && texts.front().starts_with('{')) return KeyFromJson(key, texts.front());
  const bool are_named = !texts.empty() && std::all_of(texts.begin(), texts.end(), [&](const std::string& text) {
    return NamedBy(key, text) != nullptr;
  });
  if (texts.size() != key.attributes.size()) {
    return WrongKey(key, Cat(texts.size(), texts.size() == 1 ? " value" : " values", " for a key of ",
                             key.attributes.size(), key.attributes.size() == 1 ? " attribute" : " attributes"));
  }
  Item item;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string_view text = texts[i];
    const KeyAttribute* attribute = &key.attributes[i];
    if (are_named) {
      attribute = NamedBy(key, text);
      text.remove_prefix(attribute->name.size() + 1);
    }
    if (item.attributes().contains(attribute->name)) return WrongKey(key, Cat(attribute->name, " is given twice"));
    ARM_ASSIGN_OR_RETURN((*item.mutable_attributes())[attribute->name], KeyValueFromText(key, *attribute, text));
  }
  return item;
}

std::string ShowKey(const TargetKey& key, const Item& item) {
  std::string text;
  for (const KeyAttribute& attribute : key.attributes) {
    const auto found = item.attributes().find(attribute.name);
    if (found == item.attributes().end()) continue;
    text += Cat(text.empty() ? "" : ", ", attribute.name, " = ", CellText(found->second));
  }
  return Cat(text, " in ", key.name);
}

}  // namespace armature::cli
