#include "client/src/hints.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "armature/api/v1/items.pb.h"
#include "armature/client/errors.h"

namespace armature::client {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr size_t kKeysMax = 1000;
constexpr int kItemBytesMax = 409'600;
constexpr size_t kDigitsMax = 38;

using Values = std::map<std::string, const api::v1::AttributeValue*>;

// A field of a message; null if it has none of this name and type.
const FieldDescriptor* FieldOf(const Message& message, const char* name, FieldDescriptor::CppType type) {
  const FieldDescriptor* const field = message.GetDescriptor()->FindFieldByName(name);
  return field != nullptr && field->cpp_type() == type ? field : nullptr;
}

std::string TextOf(const Message& message, const char* name) {
  const FieldDescriptor* const field = FieldOf(message, name, FieldDescriptor::CPPTYPE_STRING);
  if (field == nullptr || field->is_repeated()) return "";
  return message.GetReflection()->GetString(message, field);
}

const api::v1::Item* ItemOf(const Message& message, const char* name) {
  const FieldDescriptor* const field = FieldOf(message, name, FieldDescriptor::CPPTYPE_MESSAGE);
  if (field == nullptr || field->is_repeated()) return nullptr;
  return dynamic_cast<const api::v1::Item*>(&message.GetReflection()->GetMessage(message, field));
}

// The values of a map, by name in order.
template <class Map>
Values InOrder(const Map& map) {
  Values values;
  for (const auto& [name, value] : map) values.emplace(name, &value);
  return values;
}

// Calls fn for each element of a repeated field of messages. Entries of maps are messages, too.
template <class Fn>
void ForEach(const Message& message, const char* name, const Fn& fn) {
  const FieldDescriptor* const field = FieldOf(message, name, FieldDescriptor::CPPTYPE_MESSAGE);
  if (field == nullptr || !field->is_repeated()) return;
  for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
    fn(message.GetReflection()->GetRepeatedMessage(message, field, i));
  }
}

std::set<std::string> TablesOf(const Message& request) {
  std::set<std::string> tables = {TextOf(request, "table_name")};
  ForEach(request, "request_items", [&](const Message& entry) { tables.insert(TextOf(entry, "key")); });
  ForEach(request, "transact_items", [&](const Message& action) {
    std::vector<const FieldDescriptor*> parts;
    action.GetReflection()->ListFields(action, &parts);
    for (const FieldDescriptor* const part : parts) {
      tables.insert(TextOf(action.GetReflection()->GetMessage(action, part), "table_name"));
    }
  });
  tables.erase("");
  return tables;
}

std::string TypeOf(const api::v1::AttributeValue& value) {
  const auto* const oneof = value.GetDescriptor()->FindOneofByName("value");
  const FieldDescriptor* const field = value.GetReflection()->GetOneofFieldDescriptor(value, oneof);
  return field == nullptr ? "?" : absl::AsciiStrToUpper(field->name());
}

std::string KeyHint(const Message& request) {
  const api::v1::Item* const key = ItemOf(request, "key");
  if (key == nullptr || key->attributes().empty()) return "";
  std::vector<std::string> names;
  for (const auto& [name, value] : InOrder(key->attributes())) names.push_back(Cat(name, " (", TypeOf(*value), ")"));
  return Cat("the given key is ", absl::StrJoin(names, ", "));
}

bool IsWordByte(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '#' || c == ':';
}

// The attributes that a key condition names.
std::string ConditionHint(const api::v1::QueryRequest& query) {
  const std::string& text = query.key_condition_expression();
  std::vector<std::string> names;
  for (auto at = text.begin(); at != text.end();) {
    at = std::find_if(at, text.end(), IsWordByte);
    const auto end = std::find_if_not(at, text.end(), IsWordByte);
    std::string word(at, end);
    at = end;
    const auto next = std::find_if_not(end, text.end(), [](unsigned char c) { return absl::ascii_isspace(c); });
    const bool is_call = next != text.end() && *next == '(';
    if (word.empty() || is_call || word[0] == ':' || absl::ascii_isdigit(static_cast<unsigned char>(word[0])) ||
        absl::EqualsIgnoreCase(word, "and") || absl::EqualsIgnoreCase(word, "between")) {
      continue;
    }
    const auto named = query.expression_attribute_names().find(word);
    if (named != query.expression_attribute_names().end()) word = named->second;
    if (std::find(names.begin(), names.end(), word) == names.end()) names.push_back(word);
  }
  return names.empty() ? "" : Cat("the key condition names ", absl::StrJoin(names, ", "));
}

std::string SizeHint(const Message& request) {
  std::string hint = Cat("an item has at most ", kItemBytesMax, " bytes, with the names of its attributes");
  const api::v1::Item* const item = ItemOf(request, "item");
  if (item == nullptr || item->attributes().empty()) return hint;
  const auto by_size = [](const auto& a, const auto& b) { return a.second.ByteSizeLong() < b.second.ByteSizeLong(); };
  const auto largest = std::max_element(item->attributes().begin(), item->attributes().end(), by_size);
  return Cat(hint, "; the largest attribute is ", largest->first, " with ", largest->second.ByteSizeLong(), " bytes");
}

bool HasManyDigits(const std::string& number) {
  std::string digits;
  for (const char c : number) {
    if (c == 'e' || c == 'E') break;
    if (absl::ascii_isdigit(static_cast<unsigned char>(c))) digits += c;
  }
  const size_t first = digits.find_first_not_of('0');
  return first != digits.npos && digits.find_last_not_of('0') - first + 1 > kDigitsMax;
}

std::optional<std::string> PlaceIn(const Values& values);

// The path behind the name of an attribute, to a number with too many digits.
std::optional<std::string> PlaceInValue(const api::v1::AttributeValue& value) {
  const auto& set = value.ns().values();
  if (HasManyDigits(value.n()) || std::any_of(set.begin(), set.end(), HasManyDigits)) return "";
  if (const auto place = PlaceIn(InOrder(value.m().entries()))) return Cat(".", *place);
  for (int i = 0; i < value.l().values_size(); ++i) {
    if (const auto place = PlaceInValue(value.l().values(i))) return Cat("[", i, "]", *place);
  }
  return std::nullopt;
}

std::optional<std::string> PlaceIn(const Values& values) {
  for (const auto& [name, value] : values) {
    if (const auto place = PlaceInValue(*value)) return Cat(name, *place);
  }
  return std::nullopt;
}

std::string DigitsHint(const Message& request) {
  if (const api::v1::Item* const item = ItemOf(request, "item")) {
    if (const auto place = PlaceIn(InOrder(item->attributes()))) return Cat("the number is in the attribute ", *place);
  }
  Values values;
  ForEach(request, "expression_attribute_values", [&](const Message& entry) {
    const FieldDescriptor* const value = FieldOf(entry, "value", FieldDescriptor::CPPTYPE_MESSAGE);
    const Message& found = entry.GetReflection()->GetMessage(entry, value);
    values.emplace(TextOf(entry, "key"), dynamic_cast<const api::v1::AttributeValue*>(&found));
  });
  const auto place = PlaceIn(values);
  return place.has_value() ? Cat("the number is in the value ", *place) : "";
}

std::string ReservedHint(std::string_view message, size_t at) {
  const std::string_view rest = message.substr(at);
  const std::string word(rest.begin(), std::find_if_not(rest.begin(), rest.end(), IsWordByte));
  return Cat("in an expression, #", word, " stands for the attribute ", word, " if expression_attribute_names has it");
}

}  // namespace

void Hints::Learn(const Message& response) {
  if (const auto* const described = dynamic_cast<const api::v1::DescribeTableResponse*>(&response)) {
    LearnTable(described->table());
  } else if (const auto* const created = dynamic_cast<const api::v1::CreateTableResponse*>(&response)) {
    LearnTable(created->table_description());
  } else if (const auto* const updated = dynamic_cast<const api::v1::UpdateTableResponse*>(&response)) {
    LearnTable(updated->table_description());
  }
}

void Hints::LearnTable(const api::v1::TableDescription& table) {
  std::map<std::string, std::string> types;
  for (const auto& attribute : table.attribute_definitions()) {
    const std::string type = api::v1::ScalarAttributeType_Name(attribute.attribute_type());
    types[attribute.attribute_name()] = type.substr(type.rfind('_') + 1);
  }
  std::map<std::string, std::string> keys;
  const auto learn = [&](const std::string& name, const auto& schema) {
    std::vector<std::string> key;
    for (const auto& part : schema) key.push_back(Cat(part.attribute_name(), " (", types[part.attribute_name()], ")"));
    keys[name] = absl::StrJoin(key, ", ");
  };
  learn(table.table_name(), table.key_schema());
  for (const auto& index : table.global_secondary_indexes()) {
    learn(Cat(table.table_name(), "/", index.index_name()), index.key_schema());
  }
  for (const auto& index : table.local_secondary_indexes()) {
    learn(Cat(table.table_name(), "/", index.index_name()), index.key_schema());
  }
  const absl::MutexLock lock(&mutex_);
  for (auto& [name, key] : keys) {
    if (keys_.size() < kKeysMax || keys_.contains(name)) keys_[name] = std::move(key);
  }
}

std::string Hints::KeyOf(std::string_view name) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = keys_.find(name);
  return found == keys_.end() ? "" : Cat("the key of ", name, " is ", found->second);
}

std::string Hints::Make(std::string_view message, const Message& request) const {
  std::vector<std::string> parts;
  const std::set<std::string> tables = TablesOf(request);
  if (tables.size() > 1) {
    parts.push_back(Cat("tables ", absl::StrJoin(tables, ", ")));
  } else if (tables.size() == 1 && !message.ends_with(*tables.begin())) {
    parts.push_back(Cat("table ", *tables.begin()));
  }
  const std::string index = TextOf(request, "index_name");
  if (!index.empty()) parts.push_back(Cat("index ", index));
  constexpr std::string_view kReserved = "reserved keyword: ";
  const auto* const query = dynamic_cast<const api::v1::QueryRequest*>(&request);
  const auto contains = [&](std::string_view part) { return message.find(part) != message.npos; };
  if (const size_t at = message.find(kReserved); at != message.npos) {
    parts.push_back(ReservedHint(message, at + kReserved.size()));
  } else if (contains("does not match the schema")) {
    parts.push_back(KeyHint(request));
    for (const std::string& table : tables) parts.push_back(KeyOf(table));
  } else if (query != nullptr && (contains("key schema element") || contains("key condition not supported"))) {
    parts.push_back(ConditionHint(*query));
    for (const std::string& table : tables) parts.push_back(KeyOf(index.empty() ? table : Cat(table, "/", index)));
  } else if (contains("Item size")) {
    parts.push_back(SizeHint(request));
  } else if (contains("significant digits")) {
    parts.push_back(DigitsHint(request));
  }
  std::erase(parts, "");
  return absl::StrJoin(parts, "; ");
}

absl::Status Hints::Add(absl::Status status, const Message& request) const {
  const std::string_view message = Sv(status.message());
  std::string hint;
  if (!ErrorName(status).empty()) {
    hint = Make(message, request);
  } else if (message.find("over TLS") != message.npos) {
    hint = "connect with TLS";
  }
  return hint.empty() ? status : WithHint(std::move(status), hint);
}

}  // namespace armature::client
