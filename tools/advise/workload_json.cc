#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "tools/advise/workload.h"

namespace armature::advise {
namespace {

// Far above the numbers of any table. Sums and products of such numbers stay finite.
constexpr double kNumberMax = 1e15;
constexpr auto kItemBytesMax = static_cast<double>(model::kItemSizeMaxBytes);

std::string Quoted(std::string_view text) { return Cat("\"", text, "\""); }

// Reads the members of one JSON object by name. All readers of a file share one status: it keeps the first error, and
// after an error the values read do not matter.
class Members {
 public:
  Members(const Json& json, std::string path, absl::Status* error)
      : json_(json), path_(std::move(path)), error_(*error) {
    if (!json.is_object()) Wrong(path_.empty() ? "the file" : path_, "must be an object");
  }

  std::string Path(std::string_view name) const { return path_.empty() ? std::string(name) : Cat(path_, ".", name); }

  void Wrong(std::string_view path, std::string_view message) {
    if (error_.ok()) error_ = absl::InvalidArgumentError(Av(Cat(path, ": ", message)));
  }
  void WrongMember(std::string_view name, std::string_view message) { Wrong(Path(name), message); }

  // The member, or null.
  const Json* Find(const std::string& name) {
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.push_back(name);
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }

  // The members of another object of the file.
  Members Of(const Json& json, std::string path) { return {json, std::move(path), &error_}; }

  // The members of the object `name`, which is required.
  Members Object(const std::string& name) {
    static const Json kEmpty = Json::object();
    const Json* const member = Find(name);
    if (member == nullptr) WrongMember(name, "is required");
    return Of(member == nullptr ? kEmpty : *member, Path(name));
  }

  // Calls `read` with the members of each object in the list `name`.
  template <class Read>
  void ForEach(const std::string& name, Read read) {
    const Json* const list = Find(name);
    if (list == nullptr) return;
    if (!list->is_array()) return WrongMember(name, "must be a list");
    for (size_t i = 0; i < list->size(); ++i) read(Of((*list)[i], Cat(Path(name), "[", i, "]")));
  }

  // The functions below leave `value` unchanged if there is no such member.
  void Text(const std::string& name, std::string* value) {
    if (const Json* const member = Find(name)) {
      const auto* const text = member->get_ptr<const std::string*>();
      if (text == nullptr || text->empty()) return WrongMember(name, "must be a text that is not empty");
      *value = *text;
    }
  }

  void Flag(const std::string& name, bool* value) {
    if (const Json* const member = Find(name)) {
      if (!member->is_boolean()) return WrongMember(name, "must be true or false");
      *value = member->get<bool>();
    }
  }

  // Value: double or std::optional<double>.
  template <class Value>
  void Number(const std::string& name, double min, double max, Value* value) {
    if (const Json* const member = Find(name)) {
      if (!member->is_number()) return WrongMember(name, "must be a number");
      const auto number = member->get<double>();
      if (!(number >= min && number <= max)) return WrongMember(name, Cat("must be from ", min, " to ", max));
      *value = number;
    }
  }

  // The position of the member's text in `choices`. 0 if there is no such member. `other`: another legal form of the
  // member, for the error.
  size_t Choice(const std::string& name, const std::vector<std::string_view>& choices, const std::string& other = "") {
    const Json* const member = Find(name);
    if (member == nullptr) return 0;
    const auto* const chosen = member->get_ptr<const std::string*>();
    std::vector<std::string> legal;
    for (size_t i = 0; i < choices.size(); ++i) {
      if (chosen != nullptr && *chosen == choices[i]) return i;
      legal.push_back(Quoted(choices[i]));
    }
    if (!other.empty()) legal.push_back(other);
    WrongMember(name, Cat("must be ", Listed(legal, "or")));
    return 0;
  }

  // The choice of a member that may also be a list of attributes: choices.size() for a list.
  size_t ChoiceOrAttributes(const Table& table, const std::string& name, const std::vector<std::string_view>& choices,
                            AttributeList* list) {
    const Json* const member = Find(name);
    if (member == nullptr || !member->is_array()) return Choice(name, choices, "a list of attributes");
    Attributes(table, name, list);
    return choices.size();
  }

  // The position of the attribute that `json` names.
  std::optional<AttributeId> AttributeName(const Table& table, const Json& json, std::string_view path) {
    const auto* const name = json.get_ptr<const std::string*>();
    const std::optional<AttributeId> id = name == nullptr ? std::nullopt : FindAttribute(table, *name);
    if (!id) {
      Wrong(path,
            name == nullptr ? "must be the name of an attribute" : Cat(Quoted(*name), " is not in table.attributes"));
    }
    return id;
  }

  // A list of different attributes. A single name counts as a list of one attribute.
  void Attributes(const Table& table, const std::string& name, AttributeList* list) {
    const Json* const member = Find(name);
    if (member == nullptr) return;
    if (member->is_string()) {
      if (const auto id = AttributeName(table, *member, Path(name))) list->push_back(*id);
      return;
    }
    if (!member->is_array()) return WrongMember(name, "must be a list of names of attributes");
    for (size_t i = 0; i < member->size(); ++i) {
      const std::string place = Cat(Path(name), "[", i, "]");
      const std::optional<AttributeId> id = AttributeName(table, (*member)[i], place);
      if (!id) return;
      if (Contains(*list, *id)) return Wrong(place, Cat(Quoted(table.attributes[*id].name), " occurs twice"));
      list->push_back(*id);
    }
  }

  // Refuses members that were not read.
  void Finish() {
    for (const auto& member : json_.items()) {
      if (std::find(known_.begin(), known_.end(), member.key()) != known_.end()) continue;
      WrongMember(member.key(), Cat("is not known here; known are ", Sv(absl::StrJoin(known_, ", "))));
    }
  }

 private:
  const Json& json_;
  std::string path_;
  absl::Status& error_;
  std::vector<std::string> known_;
};

Attribute ReadAttribute(const std::string& name, Members members) {
  static const std::vector<std::string_view> kTypes = {"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"};
  constexpr size_t kKeyTypes = 3;  // the first ones
  Attribute attribute;
  attribute.name = name;
  const size_t type = members.Choice("type", kTypes);
  attribute.type = type < kKeyTypes ? static_cast<AttributeType>(type) : AttributeType::kOther;
  const bool one_byte = kTypes[type] == "BOOL" || kTypes[type] == "NULL";
  attribute.value_bytes = one_byte ? 1 : DefaultValueBytes(attribute.type);
  constexpr double kShareMin = 1e-12;
  members.Number("bytes", 0, kItemBytesMax, &attribute.value_bytes);
  members.Number("distinct", 1, kNumberMax, &attribute.distinct);
  members.Number("hot_share", kShareMin, 1, &attribute.hot_share);
  members.Number("share", kShareMin, 1, &attribute.share);
  members.Number("share_new", 0, 1, &attribute.share_new);
  members.Finish();
  constexpr double kRounding = 0.99;  // accepts 0.33 for three values
  if (attribute.hot_share && attribute.distinct && *attribute.hot_share < kRounding / *attribute.distinct) {
    members.WrongMember("hot_share", "the most frequent value has at least the average share, 1 / distinct");
  }
  return attribute;
}

void ReadAttributes(Members* owner, Table* table) {
  const Json* const json = owner->Find("attributes");
  if (json == nullptr) return owner->WrongMember("attributes", "is required");
  if (!json->is_object()) return owner->WrongMember("attributes", "must be an object");
  if (json->empty() || json->size() > kAttributesMax) {
    return owner->WrongMember("attributes", Cat("must have 1 to ", kAttributesMax, " members"));
  }
  for (const auto& member : json->items()) {
    const std::string& name = member.key();
    const std::string path = owner->Path(Cat("attributes.", name));
    if (name.empty() || name.size() > model::kKeyAttributeNameMaxBytes) {
      owner->Wrong(path, Cat("a name has 1 to ", model::kKeyAttributeNameMaxBytes, " bytes"));
    }
    table->attributes.push_back(ReadAttribute(name, owner->Of(member.value(), path)));
  }
}

// `path`: the place of the key in the file.
Key ReadKey(const Table& table, std::string_view path, size_t attributes_max, Members members) {
  Key key;
  members.Attributes(table, "partition", &key.partition);
  members.Attributes(table, "sort", &key.sort);
  members.Finish();
  if (key.partition.empty()) members.WrongMember("partition", "is required");
  if (key.partition.size() > attributes_max || key.sort.size() > attributes_max) {
    members.Wrong(path, Cat("at most ", attributes_max, " attributes each in partition and sort"));
  }
  for (const AttributeId id : key.sort) {
    if (Contains(key.partition, id)) members.WrongMember("sort", "repeats a partition attribute");
  }
  for (const AttributeId id : key.All()) {
    const Attribute& attribute = table.attributes[id];
    if (!attribute.CanBeKey()) {
      members.Wrong(path, Cat(attribute.name, " cannot be a key attribute: its type must be S, N or B"));
    }
  }
  return key;
}

Update ReadUpdate(const Table& table, Members members) {
  Update update;
  members.Attributes(table, "attributes", &update.attributes);
  members.Number("per_second", 0, kNumberMax, &update.per_second);
  update.kind = static_cast<UpdateKind>(members.Choice("kind", {"change", "set", "remove"}));
  members.Finish();
  if (update.attributes.empty()) members.WrongMember("attributes", "is required");
  return update;
}

void ReadWrites(Members members, Table* table) {
  members.Number("puts_per_second", 0, kNumberMax, &table->puts_per_second);
  members.Number("deletes_per_second", 0, kNumberMax, &table->deletes_per_second);
  members.ForEach("updates",
                  [table](Members update) { table->updates.push_back(ReadUpdate(*table, std::move(update))); });
  members.Finish();
}

ExistingIndex ReadIndex(const Table& table, Members members) {
  ExistingIndex index;
  members.Text("name", &index.name);
  members.Flag("local", &index.local);
  if (index.name.empty()) members.WrongMember("name", "is required");
  const size_t attributes_max = index.local ? 1 : model::kGlobalKeyAttributesMax;
  index.key = ReadKey(table, members.Path("key"), attributes_max, members.Object("key"));
  constexpr ProjectionKind kKinds[] = {ProjectionKind::kAll, ProjectionKind::kKeysOnly, ProjectionKind::kInclude};
  index.projection.kind =
      kKinds[members.ChoiceOrAttributes(table, "projection", {"ALL", "KEYS_ONLY"}, &index.projection.non_key)];
  members.Finish();
  return index;
}

Table ReadTable(Members members) {
  Table table;
  members.Text("name", &table.name);
  ReadAttributes(&members, &table);
  if (members.Find("key") != nullptr) table.key = ReadKey(table, "table.key", 1, members.Object("key"));
  members.Attributes(table, "identity", &table.identity);
  if (members.Find("identity") != nullptr && table.key) {
    members.WrongMember("identity", "says what table.key says already: give one of them");
  }
  members.Number("items", 0, kNumberMax, &table.items);
  members.Number("item_bytes", 1, kItemBytesMax, &table.item_bytes);
  if (members.Find("writes") != nullptr) ReadWrites(members.Object("writes"), &table);
  members.ForEach("indexes", [&table](Members index) { table.indexes.push_back(ReadIndex(table, std::move(index))); });
  table.created = !table.indexes.empty();
  members.Flag("created", &table.created);
  if (!table.created && !table.indexes.empty()) members.WrongMember("created", "a table with indexes is created");
  members.Finish();
  return table;
}

void ReadRange(const Table& table, Members members, Pattern* pattern) {
  const Json* const json = members.Find("attribute");
  if (json == nullptr) return members.WrongMember("attribute", "is required");
  const std::optional<AttributeId> attribute = members.AttributeName(table, *json, members.Path("attribute"));
  const auto kind = static_cast<RangeKind>(members.Choice("kind", {"range", "begins_with"}));
  members.Finish();
  if (!attribute) return;
  const Attribute& ranged = table.attributes[*attribute];
  if (kind == RangeKind::kBeginsWith && ranged.type == AttributeType::kNumber) {
    members.WrongMember("kind", Cat("begins_with needs type S or B, and ", ranged.name, " has N"));
  }
  if (Contains(pattern->equality, *attribute)) {
    members.WrongMember("attribute", Cat(ranged.name, " is given by equality already"));
  }
  pattern->range = {*attribute, kind};
}

Pattern ReadPattern(const Table& table, size_t position, Members members) {
  Pattern pattern;
  pattern.name = Cat("pattern ", position + 1);
  members.Text("name", &pattern.name);
  members.Attributes(table, "equality", &pattern.equality);
  if (members.Find("range") != nullptr) ReadRange(table, members.Object("range"), &pattern);
  members.Attributes(table, "order", &pattern.order);
  members.Flag("descending", &pattern.descending);
  members.Attributes(table, "has", &pattern.has);
  pattern.returns_all = members.ChoiceOrAttributes(table, "returns", {"all", "keys"}, &pattern.returns) == 0;
  members.Number("per_second", 0, kNumberMax, &pattern.per_second);
  pattern.strong = members.Choice("consistency", {"eventual", "strong"}) == 1;
  members.Number("rows", 0, kNumberMax, &pattern.rows);
  members.Finish();
  return pattern;
}

}  // namespace

absl::StatusOr<Workload> WorkloadFromJson(const Json& json) {
  absl::Status error;
  Members members(json, "", &error);
  Workload workload;
  workload.table = ReadTable(members.Object("table"));
  const Json* const patterns = members.Find("patterns");
  if (patterns == nullptr) members.WrongMember("patterns", "is required");
  if (patterns != nullptr && patterns->is_array() && (patterns->empty() || patterns->size() > kPatternsMax)) {
    members.WrongMember("patterns", Cat("must have 1 to ", kPatternsMax, " members"));
  }
  members.ForEach("patterns", [&workload](Members pattern) {
    Pattern read = ReadPattern(workload.table, workload.patterns.size(), pattern);
    for (const Pattern& other : workload.patterns) {
      if (other.name == read.name) pattern.WrongMember("name", Cat(Quoted(read.name), " occurs twice"));
    }
    workload.patterns.push_back(std::move(read));
  });
  members.Finish();
  if (!error.ok()) return error;
  return workload;
}

}  // namespace armature::advise
