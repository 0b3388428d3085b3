#include "tests/unit/engine/random_tables.h"

#include <algorithm>
#include <utility>

namespace armature::engine {
namespace {

constexpr size_t kManyValues = 40;
// Mostly below a few write units, sometimes several read units.
constexpr size_t kFillMax = 2'000;
constexpr size_t kLongFillMax = 12'000;

// Number of different values of an attribute: few where items must share partitions.
size_t ValuesOf(const std::string& name) {
  static const std::map<std::string, size_t> kFew = {{"pk", 6}, {"p1", 2}, {"p2", 3}, {"p3", 2},
                                                     {"p4", 1}, {"r1", 6}, {"r2", 4}, {"r3", 8}};
  const auto found = kFew.find(name);
  return found == kFew.end() ? kManyValues : found->second;
}

ModelKeyspace KeyspaceOf(std::optional<std::string> name, std::vector<std::string> partition,
                         std::vector<std::string> sort, std::map<std::string, char> types) {
  ModelKeyspace keyspace;
  keyspace.index_name = std::move(name);
  keyspace.partition = std::move(partition);
  keyspace.sort = std::move(sort);
  keyspace.types = std::move(types);
  return keyspace;
}

// `index` with a projection of the keys and `included`.
ModelKeyspace Projected(ModelKeyspace index, const std::vector<std::string>& table_key,
                        std::set<std::string> included) {
  for (const auto& [name, type] : index.types) included.insert(name);
  included.insert(table_key.begin(), table_key.end());
  index.projected = std::move(included);
  return index;
}

ModelKeyspace Global(ModelKeyspace index) {
  index.global = true;
  return index;
}

}  // namespace

const std::vector<std::string>& AttributeNames() {
  static const std::vector<std::string> kNames = {"l1", "l2", "p1", "p2", "p3", "p4", "r1", "r2", "r3", "r4", "x", "y"};
  return kNames;
}

RandomTables::RandomTables(RandomValues* values)
    : values_(values),
      usual_types_({{"l1", 'S'},
                    {"l2", 'B'},
                    {"p1", 'S'},
                    {"p2", 'N'},
                    {"p3", 'B'},
                    {"p4", 'S'},
                    {"r1", 'N'},
                    {"r2", 'S'},
                    {"r3", 'B'},
                    {"r4", 'N'},
                    {"x", 'N'}}) {}

ModelTable RandomTables::WithSortKey(const std::string& name) {
  const std::vector<std::string> key = {"pk", "sk"};
  const std::map<std::string, char> wide = {{"p1", 'S'}, {"p2", 'N'}, {"p3", 'B'}, {"p4", 'S'},
                                            {"r1", 'N'}, {"r2", 'S'}, {"r3", 'B'}, {"r4", 'N'}};
  return ModelTable(
      name, {KeyspaceOf(std::nullopt, {"pk"}, {"sk"}, {{"pk", 'S'}, {"sk", 'N'}}),
             KeyspaceOf("local_all", {"pk"}, {"l1"}, {{"pk", 'S'}, {"l1", 'S'}}),
             Projected(KeyspaceOf("local_include", {"pk"}, {"l2"}, {{"pk", 'S'}, {"l2", 'B'}}), key, {"x"}),
             Global(KeyspaceOf("wide", {"p1", "p2", "p3", "p4"}, {"r1", "r2", "r3", "r4"}, wide)),
             Global(Projected(KeyspaceOf("keys_only", {"p2"}, {}, {{"p2", 'N'}}), key, {})),
             Global(Projected(KeyspaceOf("include", {"p1"}, {"r1"}, {{"p1", 'S'}, {"r1", 'N'}}), key, {"x", "y"}))});
}

ModelTable RandomTables::WithoutSortKey(const std::string& name) {
  const char type = values_->Pick(std::vector<char>({'S', 'N', 'B'}));
  ModelTable table(name, {KeyspaceOf(std::nullopt, {"id"}, {}, {{"id", type}})});
  for (size_t left = values_->Below(4); left > 0; --left) {
    table.AddIndex(Index(table, "first_" + std::to_string(left)));
  }
  return table;
}

// `size` of `names`, one of them sometimes replaced by an odd one.
std::vector<std::string> RandomTables::KeyPart(std::vector<std::string> names, size_t size,
                                               std::vector<std::string>* odd_ones) {
  values_->Shuffle(&names);
  names.resize(size);
  if (size > 0 && values_->OneIn(3)) {
    values_->Shuffle(odd_ones);
    names[values_->Below(size)] = odd_ones->back();
    odd_ones->pop_back();
  }
  return names;
}

ModelKeyspace RandomTables::Index(const ModelTable& table, const std::string& name) {
  const std::vector<std::string> table_key = table.KeyNames();
  std::vector<std::string> odd_ones = table_key;
  odd_ones.insert(odd_ones.end(), {"l1", "x"});
  const size_t partition_size = values_->OneIn(4) ? 4 : 1 + values_->Below(3);
  const size_t sort_size = values_->OneIn(4) ? 4 : values_->Below(4);
  ModelKeyspace index = KeyspaceOf(name, KeyPart({"p1", "p2", "p3", "p4"}, partition_size, &odd_ones), {}, {});
  index.sort = KeyPart({"r1", "r2", "r3", "r4"}, sort_size, &odd_ones);
  const std::map<std::string, char> taken = table.KeyTypes();
  for (const std::vector<std::string>* const part : {&index.partition, &index.sort}) {
    for (const std::string& attribute : *part) {
      const auto found = taken.find(attribute);
      if (found == taken.end() && values_->OneIn(4)) {
        usual_types_[attribute] = values_->Pick(std::vector<char>({'S', 'N', 'B'}));
      }
      index.types[attribute] = found == taken.end() ? usual_types_.at(attribute) : found->second;
    }
  }
  index.global = true;
  const size_t projection = values_->Below(3);
  if (projection == 0) return index;
  std::set<std::string> included;
  for (const char* const attribute : {"x", "y", "copy", "count", "l1", "r4"}) {
    if (projection == 1 && values_->OneIn(2)) included.insert(attribute);
  }
  return Projected(std::move(index), table_key, std::move(included));
}

ModelItem RandomTables::Key(const ModelTable& table) {
  const std::map<std::string, char> types = table.KeyTypes();
  ModelItem key;
  for (const std::string& name : table.KeyNames()) {
    const char type = types.at(name);
    key[name] = name == "id" ? values_->LongValue(type) : values_->Value(type, ValuesOf(name));
  }
  return key;
}

Scalar RandomTables::AttributeValue(const std::map<std::string, char>& key_types, const std::string& name) {
  if (name == "y") return {'S', std::string(values_->Below(values_->OneIn(6) ? kLongFillMax : kFillMax), 'y')};
  const auto taken = key_types.find(name);
  const bool in_key = taken != key_types.end();
  const char type = in_key ? taken->second : usual_types_.at(name);
  if (values_->OneIn(in_key ? 80 : 20)) return values_->Unfit(type);
  const bool any_type = name == "x" && !in_key && values_->OneIn(2);
  return values_->Value(any_type ? 'S' : type, ValuesOf(name));
}

ModelItem RandomTables::Item(const ModelTable& table) {
  ModelItem item = Key(table);
  const std::map<std::string, char> key_types = table.KeyTypes();
  for (const std::string& name : AttributeNames()) {
    if (name == "y" ? values_->OneIn(3) : !values_->OneIn(8)) item[name] = AttributeValue(key_types, name);
  }
  return item;
}

}  // namespace armature::engine
