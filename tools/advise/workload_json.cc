#include "tools/advise/workload_json.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "tools/advise/arithmetic.h"

namespace armature::advise {
namespace {

// Far beyond all tables; sums and products of such numbers stay finite.
constexpr double kNumberMax = 1e15;

absl::Status Wrong(std::string_view path, std::string_view message) {
  return absl::InvalidArgumentError(Av(Cat(path, ": ", message)));
}

std::string Quoted(std::string_view text) { return Cat("\"", text, "\""); }

// The members of one object, each asked for by name; what nobody asks for is refused by Finish().
class Members {
 public:
  static absl::StatusOr<Members> Of(const Json& json, std::string path) {
    if (!json.is_object()) return Wrong(path.empty() ? "the file" : path, "must be an object");
    return Members(json, std::move(path));
  }

  std::string Path(std::string_view name) const { return path_.empty() ? std::string(name) : Cat(path_, ".", name); }
  const std::string& path() const { return path_; }

  // The member, or null.
  const Json* Find(const std::string& name) {
    known_.push_back(name);
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }

  // Each leaves `value` as it is if there is no such member.
  absl::Status Text(const std::string& name, std::string* value) {
    const Json* const member = Find(name);
    if (member == nullptr) return absl::OkStatus();
    const auto* const text = member->get_ptr<const std::string*>();
    if (text == nullptr || text->empty()) return Wrong(Path(name), "must be a text that is not empty");
    *value = *text;
    return absl::OkStatus();
  }

  absl::Status Flag(const std::string& name, bool* value) {
    const Json* const member = Find(name);
    if (member == nullptr) return absl::OkStatus();
    if (!member->is_boolean()) return Wrong(Path(name), "must be true or false");
    *value = *member->get_ptr<const bool*>();
    return absl::OkStatus();
  }

  absl::Status Number(const std::string& name, double min, double max, std::optional<double>* value) {
    const Json* const member = Find(name);
    if (member == nullptr) return absl::OkStatus();
    if (!member->is_number()) return Wrong(Path(name), "must be a number");
    const auto number = member->get<double>();
    if (!(number >= min && number <= max)) {
      return Wrong(Path(name), Cat("must be from ", min, " to ", max));
    }
    *value = number;
    return absl::OkStatus();
  }

  absl::Status Number(const std::string& name, double min, double max, double* value) {
    std::optional<double> number;
    ARM_RETURN_IF_ERROR(Number(name, min, max, &number));
    if (number) *value = *number;
    return absl::OkStatus();
  }

  // One of the texts; `value` is its position.
  absl::Status Choice(const std::string& name, const std::vector<std::string_view>& choices, size_t* value) {
    const Json* const member = Find(name);
    if (member == nullptr) return absl::OkStatus();
    const auto* const chosen = member->get_ptr<const std::string*>();
    std::string all;
    for (size_t i = 0; i < choices.size(); ++i) {
      if (chosen != nullptr && *chosen == choices[i]) {
        *value = i;
        return absl::OkStatus();
      }
      all += Cat(i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ", Quoted(choices[i]));
    }
    return Wrong(Path(name), Cat("must be ", all));
  }

  absl::Status Finish() const {
    for (const auto& member : json_.items()) {
      bool known = false;
      std::string all;
      for (const std::string& name : known_) {
        known = known || name == member.key();
        all += Cat(all.empty() ? "" : ", ", name);
      }
      if (!known) return Wrong(Path(member.key()), Cat("is not known here; known are ", all));
    }
    return absl::OkStatus();
  }

 private:
  Members(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  const Json& json_;
  std::string path_;
  std::vector<std::string> known_;
};

absl::StatusOr<AttributeId> ReadAttributeName(const Table& table, const Json& json, std::string_view path) {
  const auto* const name = json.get_ptr<const std::string*>();
  if (name == nullptr) return Wrong(path, "must be the name of an attribute");
  const std::optional<AttributeId> id = FindAttribute(table, *name);
  if (!id) return Wrong(path, Cat(Quoted(*name), " is not in table.attributes"));
  return *id;
}

// A list of different attributes. A single name is a list of one.
absl::Status ReadAttributeList(const Table& table, const Json* json, const std::string& path, AttributeList* list) {
  if (json == nullptr) return absl::OkStatus();
  if (json->is_string()) {
    ARM_ASSIGN_OR_RETURN(const AttributeId id, ReadAttributeName(table, *json, path));
    list->push_back(id);
    return absl::OkStatus();
  }
  if (!json->is_array()) return Wrong(path, "must be a list of names of attributes");
  for (size_t i = 0; i < json->size(); ++i) {
    const std::string place = Cat(path, "[", i, "]");
    ARM_ASSIGN_OR_RETURN(const AttributeId id, ReadAttributeName(table, (*json)[i], place));
    if (Contains(*list, id)) return Wrong(place, Cat(Quoted(table.attributes[id].name), " occurs twice"));
    list->push_back(id);
  }
  return absl::OkStatus();
}

absl::Status ReadAttribute(const std::string& name, const Json& json, Table* table) {
  const std::string path = Cat("table.attributes.", name);
  if (name.empty() || name.size() > model::kKeyAttributeNameMaxBytes) {
    return Wrong(path, Cat("a name has 1 to ", model::kKeyAttributeNameMaxBytes, " bytes"));
  }
  ARM_ASSIGN_OR_RETURN(Members members, Members::Of(json, path));
  static const std::vector<std::string_view> kTypes = {"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"};
  constexpr size_t kKeyTypes = 3;  // The first ones.
  Attribute attribute;
  attribute.name = name;
  size_t type = 0;
  ARM_RETURN_IF_ERROR(members.Choice("type", kTypes, &type));
  attribute.type = type < kKeyTypes ? static_cast<AttributeType>(type) : AttributeType::kOther;
  const bool one_byte = kTypes[type] == "BOOL" || kTypes[type] == "NULL";
  attribute.value_bytes = one_byte ? 1 : DefaultValueBytes(attribute.type);
  constexpr double kShareMin = 1e-12;
  constexpr auto kBytesMax = static_cast<double>(model::kItemSizeMaxBytes);
  ARM_RETURN_IF_ERROR(members.Number("bytes", 0, kBytesMax, &attribute.value_bytes));
  ARM_RETURN_IF_ERROR(members.Number("distinct", 1, kNumberMax, &attribute.distinct));
  ARM_RETURN_IF_ERROR(members.Number("hot_share", kShareMin, 1, &attribute.hot_share));
  ARM_RETURN_IF_ERROR(members.Number("share", kShareMin, 1, &attribute.share));
  ARM_RETURN_IF_ERROR(members.Number("share_new", 0, 1, &attribute.share_new));
  ARM_RETURN_IF_ERROR(members.Finish());
  constexpr double kRounding = 0.99;  // 0.33 for three values is meant well.
  if (attribute.hot_share && attribute.distinct && *attribute.hot_share < kRounding / *attribute.distinct) {
    return Wrong(Cat(path, ".hot_share"), "the most frequent value has at least the average share, 1 / distinct");
  }
  table->attributes.push_back(std::move(attribute));
  return absl::OkStatus();
}

absl::Status ReadAttributes(const Json* json, Table* table) {
  if (json == nullptr) return Wrong("table.attributes", "is required");
  if (!json->is_object()) return Wrong("table.attributes", "must be an object");
  if (json->empty() || json->size() > kAttributesMax) {
    return Wrong("table.attributes", Cat("must have 1 to ", kAttributesMax, " members"));
  }
  for (const auto& member : json->items()) ARM_RETURN_IF_ERROR(ReadAttribute(member.key(), member.value(), table));
  return absl::OkStatus();
}

absl::Status ReadKey(const Table& table, const Json& json, const std::string& path, size_t attributes_max, Key* key) {
  ARM_ASSIGN_OR_RETURN(Members members, Members::Of(json, path));
  ARM_RETURN_IF_ERROR(ReadAttributeList(table, members.Find("partition"), members.Path("partition"), &key->partition));
  ARM_RETURN_IF_ERROR(ReadAttributeList(table, members.Find("sort"), members.Path("sort"), &key->sort));
  ARM_RETURN_IF_ERROR(members.Finish());
  if (key->partition.empty()) return Wrong(members.Path("partition"), "is required");
  if (key->partition.size() > attributes_max || key->sort.size() > attributes_max) {
    return Wrong(path, Cat("at most ", attributes_max, " attributes each in partition and sort"));
  }
  for (const AttributeId id : key->sort) {
    if (Contains(key->partition, id)) return Wrong(members.Path("sort"), "repeats a partition attribute");
  }
  for (const AttributeId id : key->All()) {
    const Attribute& attribute = table.attributes[id];
    if (!attribute.CanBeKey()) {
      return Wrong(path, Cat(attribute.name, " cannot be a key attribute: its type must be S, N or B"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadUpdate(const Table& table, const Json& json, const std::string& path, Update* update) {
  ARM_ASSIGN_OR_RETURN(Members members, Members::Of(json, path));
  ARM_RETURN_IF_ERROR(
      ReadAttributeList(table, members.Find("attributes"), members.Path("attributes"), &update->attributes));
  ARM_RETURN_IF_ERROR(members.Number("per_second", 0, kNumberMax, &update->per_second));
  auto kind = static_cast<size_t>(update->kind);
  ARM_RETURN_IF_ERROR(members.Choice("kind", {"change", "set", "remove"}, &kind));
  update->kind = static_cast<UpdateKind>(kind);
  ARM_RETURN_IF_ERROR(members.Finish());
  if (update->attributes.empty()) return Wrong(members.Path("attributes"), "is required");
  return absl::OkStatus();
}

absl::Status ReadWrites(const Json* json, Table* table) {
  if (json == nullptr) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(Members members, Members::Of(*json, "table.writes"));
  ARM_RETURN_IF_ERROR(members.Number("puts_per_second", 0, kNumberMax, &table->puts_per_second));
  ARM_RETURN_IF_ERROR(members.Number("deletes_per_second", 0, kNumberMax, &table->deletes_per_second));
  const Json* const updates = members.Find("updates");
  ARM_RETURN_IF_ERROR(members.Finish());
  if (updates == nullptr) return absl::OkStatus();
  if (!updates->is_array()) return Wrong("table.writes.updates", "must be a list");
  for (size_t i = 0; i < updates->size(); ++i) {
    Update update;
    ARM_RETURN_IF_ERROR(ReadUpdate(*table, (*updates)[i], Cat("table.writes.updates[", i, "]"), &update));
    table->updates.push_back(std::move(update));
  }
  return absl::OkStatus();
}

// "ALL", "KEYS_ONLY" or a list of attributes.
absl::Status ReadProjection(const Table& table, const Json* json, const std::string& path, Projection* projection) {
  const auto* const text = json == nullptr ? nullptr : json->get_ptr<const std::string*>();
  if (json == nullptr || (text != nullptr && *text == "ALL")) {
    projection->kind = ProjectionKind::kAll;
    return absl::OkStatus();
  }
  if (text != nullptr && *text == "KEYS_ONLY") {
    projection->kind = ProjectionKind::kKeysOnly;
    return absl::OkStatus();
  }
  if (!json->is_array()) return Wrong(path, R"(must be "ALL", "KEYS_ONLY" or a list of attributes)");
  projection->kind = ProjectionKind::kInclude;
  return ReadAttributeList(table, json, path, &projection->non_key);
}

absl::Status ReadIndexes(const Json* json, Table* table) {
  if (json == nullptr) return absl::OkStatus();
  if (!json->is_array()) return Wrong("table.indexes", "must be a list");
  for (size_t i = 0; i < json->size(); ++i) {
    ARM_ASSIGN_OR_RETURN(Members members, Members::Of((*json)[i], Cat("table.indexes[", i, "]")));
    ExistingIndex index;
    ARM_RETURN_IF_ERROR(members.Text("name", &index.name));
    ARM_RETURN_IF_ERROR(members.Flag("local", &index.local));
    const Json* const key = members.Find("key");
    const Json* const projection = members.Find("projection");
    ARM_RETURN_IF_ERROR(members.Finish());
    if (index.name.empty()) return Wrong(members.Path("name"), "is required");
    if (key == nullptr) return Wrong(members.Path("key"), "is required");
    const size_t attributes_max = index.local ? 1 : model::kGlobalKeyAttributesMax;
    ARM_RETURN_IF_ERROR(ReadKey(*table, *key, members.Path("key"), attributes_max, &index.key));
    ARM_RETURN_IF_ERROR(ReadProjection(*table, projection, members.Path("projection"), &index.projection));
    table->indexes.push_back(std::move(index));
  }
  return absl::OkStatus();
}

absl::Status ReadTable(const Json* json, Table* table) {
  if (json == nullptr) return Wrong("table", "is required");
  ARM_ASSIGN_OR_RETURN(Members members, Members::Of(*json, "table"));
  ARM_RETURN_IF_ERROR(members.Text("name", &table->name));
  ARM_RETURN_IF_ERROR(ReadAttributes(members.Find("attributes"), table));
  if (const Json* const key = members.Find("key")) {
    table->key.emplace();
    ARM_RETURN_IF_ERROR(ReadKey(*table, *key, "table.key", 1, &*table->key));
  }
  const Json* const identity = members.Find("identity");
  ARM_RETURN_IF_ERROR(ReadAttributeList(*table, identity, "table.identity", &table->identity));
  if (identity != nullptr && table->key)
    return Wrong("table.identity", "says what table.key says already: give one of them");
  ARM_RETURN_IF_ERROR(members.Number("items", 0, kNumberMax, &table->items));
  constexpr auto kItemBytesMax = static_cast<double>(model::kItemSizeMaxBytes);
  ARM_RETURN_IF_ERROR(members.Number("item_bytes", 1, kItemBytesMax, &table->item_bytes));
  ARM_RETURN_IF_ERROR(ReadWrites(members.Find("writes"), table));
  ARM_RETURN_IF_ERROR(ReadIndexes(members.Find("indexes"), table));
  table->created = !table->indexes.empty();
  ARM_RETURN_IF_ERROR(members.Flag("created", &table->created));
  if (!table->created && !table->indexes.empty()) return Wrong("table.created", "a table with indexes is created");
  return members.Finish();
}

absl::Status ReadRange(const Table& table, const Json* json, const std::string& path, Pattern* pattern) {
  if (json == nullptr) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(Members members, Members::Of(*json, path));
  RangeCondition range;
  const Json* const attribute = members.Find("attribute");
  if (attribute == nullptr) return Wrong(members.Path("attribute"), "is required");
  ARM_ASSIGN_OR_RETURN(range.attribute, ReadAttributeName(table, *attribute, members.Path("attribute")));
  size_t kind = 0;
  ARM_RETURN_IF_ERROR(members.Choice("kind", {"range", "begins_with"}, &kind));
  range.kind = static_cast<RangeKind>(kind);
  ARM_RETURN_IF_ERROR(members.Finish());
  const Attribute& ranged = table.attributes[range.attribute];
  if (range.kind == RangeKind::kBeginsWith && ranged.type == AttributeType::kNumber) {
    return Wrong(members.Path("kind"), Cat("begins_with needs type S or B, and ", ranged.name, " has N"));
  }
  if (Contains(pattern->equality, range.attribute)) {
    return Wrong(members.Path("attribute"), Cat(ranged.name, " is given by equality already"));
  }
  pattern->range = range;
  return absl::OkStatus();
}

// "all", "keys" or a list.
absl::Status ReadReturns(const Table& table, const Json* json, const std::string& path, Pattern* pattern) {
  if (json == nullptr) return absl::OkStatus();
  const auto* const text = json->get_ptr<const std::string*>();
  pattern->returns_all = text != nullptr && *text == "all";
  if (text != nullptr && (*text == "all" || *text == "keys")) return absl::OkStatus();
  if (!json->is_array()) return Wrong(path, R"(must be "all", "keys" or a list of attributes)");
  return ReadAttributeList(table, json, path, &pattern->returns);
}

absl::StatusOr<Pattern> ReadPattern(const Table& table, const Json& json, size_t position) {
  ARM_ASSIGN_OR_RETURN(Members members, Members::Of(json, Cat("patterns[", position, "]")));
  const auto list = [&](const char* name, AttributeList* attributes) {
    return ReadAttributeList(table, members.Find(name), members.Path(name), attributes);
  };
  Pattern pattern;
  pattern.name = Cat("pattern ", position + 1);
  ARM_RETURN_IF_ERROR(members.Text("name", &pattern.name));
  ARM_RETURN_IF_ERROR(list("equality", &pattern.equality));
  ARM_RETURN_IF_ERROR(ReadRange(table, members.Find("range"), members.Path("range"), &pattern));
  ARM_RETURN_IF_ERROR(list("order", &pattern.order));
  ARM_RETURN_IF_ERROR(members.Flag("descending", &pattern.descending));
  ARM_RETURN_IF_ERROR(list("has", &pattern.has));
  ARM_RETURN_IF_ERROR(ReadReturns(table, members.Find("returns"), members.Path("returns"), &pattern));
  ARM_RETURN_IF_ERROR(members.Number("per_second", 0, kNumberMax, &pattern.per_second));
  size_t consistency = 0;
  ARM_RETURN_IF_ERROR(members.Choice("consistency", {"eventual", "strong"}, &consistency));
  pattern.strong = consistency == 1;
  ARM_RETURN_IF_ERROR(members.Number("rows", 0, kNumberMax, &pattern.rows));
  ARM_RETURN_IF_ERROR(members.Finish());
  return pattern;
}

absl::Status ReadPatterns(const Json* json, Workload* workload) {
  if (json == nullptr) return Wrong("patterns", "is required");
  if (!json->is_array()) return Wrong("patterns", "must be a list");
  if (json->empty() || json->size() > kPatternsMax)
    return Wrong("patterns", Cat("must have 1 to ", kPatternsMax, " members"));
  for (size_t i = 0; i < json->size(); ++i) {
    ARM_ASSIGN_OR_RETURN(Pattern pattern, ReadPattern(workload->table, (*json)[i], i));
    for (const Pattern& other : workload->patterns) {
      if (other.name == pattern.name) {
        return Wrong(Cat("patterns[", i, "].name"), Cat(Quoted(pattern.name), " occurs twice"));
      }
    }
    workload->patterns.push_back(std::move(pattern));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Workload> WorkloadFromJson(const Json& json) {
  ARM_ASSIGN_OR_RETURN(Members members, Members::Of(json, ""));
  Workload workload;
  const Json* const table = members.Find("table");
  const Json* const patterns = members.Find("patterns");
  ARM_RETURN_IF_ERROR(members.Finish());
  ARM_RETURN_IF_ERROR(ReadTable(table, &workload.table));
  ARM_RETURN_IF_ERROR(ReadPatterns(patterns, &workload));
  return workload;
}

}  // namespace armature::advise
